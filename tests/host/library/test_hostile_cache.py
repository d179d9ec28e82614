"""A cache of code that is damaged, or that other users can write to; compilers that misbehave."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

from microshrub_host.base import cache
from microshrub_host.library import c_kernels, library_files, loader
from microshrub_host.library.compiled_kernels import CompilerError
from microshrub_host.programs import merged_files, mpy

needs_compiler = pytest.mark.skipif(not c_kernels.works(), reason="there is no C compiler")
ENGINES = ["llvm", pytest.param("c", marks=needs_compiler)]
# A kernel that is compiled alone, without a package of the library
KERNEL = """
import micropython

@micropython.viper
def double(n: int) -> int:
    return n + n

class Doubled: ...
"""
USE = """
import sys
from microshrub_host.library import loader
print(loader.load(sys.argv[1]).doubled.double(6))
"""


def use(engine: str, folder: Path) -> None:
    """Call a kernel in a process with this cache."""
    file = folder / "doubled.py"
    file.write_text(KERNEL, encoding="utf-8")
    there = {
        library_files.COMPANIONS: f"{file}:Doubled",
        "MICROSHRUB_CACHE": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", USE, engine],
        env=os.environ | there, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "12\n", "")


def flip(data: bytes) -> bytes:
    place = len(data) // 2
    return data[:place] + bytes([data[place] ^ 64]) + data[place + 1 :]


def other_kernels(data: bytes) -> bytes:
    """Return valid JSON with the name of a kernel that the code lacks."""
    result = json.loads(data)
    result["kernels"][0]["name"] = "system"
    return json.dumps(result).encode()


DAMAGE: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("kernels.*o", lambda data: b""),
    ("kernels.*o", lambda data: data[: len(data) // 2]),
    ("kernels.*o", flip),
    ("kernels.json", lambda data: b""),
    ("kernels.json", lambda data: data[:-30]),
    ("kernels.json", lambda data: b"[]"),
    ("kernels.json", lambda data: b'{"sha256": "", "kernels": 7}'),
    ("kernels.json", lambda data: b"[" * 100_000),
    ("kernels.json", other_kernels),
    ("*.code", lambda data: b""),
    ("*.code", flip),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_damaged_code_is_compiled_again(engine: str, tmp_path: Path) -> None:
    """Any file of the cache may be damaged at any time,
    as after a power cut or on a full or bad disk.
    """
    use(engine, tmp_path)
    for pattern, damage in DAMAGE:
        before = {path: path.read_bytes() for path in tmp_path.glob(f"cache/*/{pattern}")}
        assert before
        for path, data in before.items():
            path.write_bytes(damage(data))
        use(engine, tmp_path)
        if pattern == "kernels.*o":
            assert {path: path.read_bytes() for path in before} == before


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def built() -> list[Path]:
    """Return files for flashing: of the library, and of a program with merged modules."""
    names = library_files.closure(["shrub.ensemble"])
    made = merged_files.compiled("armv6m", names, ["buffers", "fixed"])
    others = made.others()
    assert len(others) > 5
    return [*mpy.compiled("armv6m"), *made.imported, *others, made.errors]


@pytest.mark.usefixtures("home")
def test_damaged_files_for_boards_are_compiled_again() -> None:
    """A native module's files are cached in the same way, see base/cache.py."""
    before = {path: path.read_bytes() for path in built()}
    assert len(before) > 100
    damages = (lambda data: b"", lambda data: data[:-9], flip)
    for i, (path, data) in enumerate(sorted(before.items())):
        if i % 5 < 3:
            path.write_bytes(damages[i % 5](data))
    assert {path: path.read_bytes() for path in built()} == before


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_other_users_can_neither_read_nor_write_compiled_code(home: Path) -> None:
    before = os.umask(0)
    try:
        folder = cache.cache_folder("c-0123456789abcdef")
    finally:
        os.umask(before)
    assert (mode(home), mode(folder)) == (0o700, 0o700)


@pytest.mark.parametrize("wide", [0o777, 0o770, 0o775])
@pytest.mark.usefixtures("home")
def test_code_that_others_could_write_is_compiled_again(wide: int) -> None:
    folder = cache.cache_folder("llvm-0123456789abcdef")
    (folder / "kernels.o").write_bytes(b"of somebody else")
    folder.chmod(wide)
    assert cache.cache_folder(folder.name) == folder
    assert list(folder.iterdir()) == []
    assert mode(folder) == 0o700


def test_a_cache_that_others_can_write_to_is_not_used(home: Path) -> None:
    home.mkdir()
    home.chmod(0o777)
    messages: list[str] = []
    with cache.usable(messages.append):
        elsewhere = cache.cache_folder("c")
        assert not elsewhere.is_relative_to(home)
        assert mode(elsewhere) == 0o700
    (message,) = messages
    assert f"{home} cannot be used (others" in message
    assert list(home.iterdir()) == []
    assert mode(home) == 0o777


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_code_of_another_user_is_not_loaded(home: Path) -> None:
    folder = cache.cache_folder("c-0123456789abcdef")
    os.chown(folder, 65534, 65534)
    with pytest.raises(PermissionError, match="it belongs to another user"):
        cache.cache_folder(folder.name)
    os.chown(home, 65534, 65534)
    messages: list[str] = []
    with cache.usable(messages.append):
        assert not cache.cache_folder("c").is_relative_to(home)
    assert "it belongs to another user" in messages[0]


@pytest.mark.usefixtures("home")
def test_old_code_is_removed() -> None:
    def made(key: int, hours: float) -> Path:
        folder = cache.compiled_folder("c", key.to_bytes(32, "little"))
        (folder / "kernels.so").touch()
        moment = time.time() - 3600 * hours
        os.utime(folder, (moment, moment))
        return folder

    kept = cache.cache_folder("streams")
    other = cache.compiled_folder("merged", bytes(32))
    for folder in (kept, other):
        os.utime(folder, (0, 0))
    ancient = made(99, 24 * 40)
    few = [made(key, 24 + key) for key in range(10)]
    assert not ancient.exists()
    assert all(folder.exists() for folder in few)  # of versions that may still be in use
    assert cache.compiled_folder("c", bytes(32)) == few[0]
    many = [made(key, 1) for key in range(100, 130)]
    assert all(folder.exists() for folder in (*many, kept, other, few[0]))
    assert not any(folder.exists() for folder in few[1:])


def test_without_a_home_folder_the_cache_is_temporary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MICROSHRUB_CACHE", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: f"~/.cache/{name}")
    messages: list[str] = []
    with cache.usable(messages.append):
        assert cache.cache_folder("c").is_dir()
    assert "the user has no home" in messages[0]
    assert not Path("~").exists()


# Compilers

_Named = Callable[..., None]


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Named]:
    """A function that sets CC to a script with this text, followed by options."""
    known: list[Any] = [c_kernels.compiler, c_kernels.works]

    def named(text: str, options: str = "") -> None:
        script = tmp_path / "odd compiler"
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
        monkeypatch.setenv("CC", f"'{script}' {options}")
        for each in known:
            each.cache_clear()

    yield named
    monkeypatch.undo()
    for each in known:
        each.cache_clear()


def test_a_compiler_that_hangs_is_killed_with_its_processes(
    named: _Named,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """During the wait, a message says that the compiler is still running."""
    monkeypatch.setattr(c_kernels, "_TRIAL", 3.0)
    monkeypatch.setattr(c_kernels, "_LONGEST", 3.0)
    monkeypatch.setattr(c_kernels, "_SILENT", 1.0)
    child = tmp_path / "child"
    named(f"sleep 1000 & echo $! > '{child}'; wait")
    assert loader.fastest() == "llvm"
    with pytest.raises(CompilerError, match=r"not compiled .* within 3 seconds"):
        c_kernels.COMPILER.compile("int a;")
    err = capsys.readouterr().err
    assert err.count(": 2 of at most 3 seconds") == 2
    status = Path("/proc") / child.read_text().strip() / "stat"
    end = time.monotonic() + PATIENCE
    while status.exists() and status.read_text().split()[2] != "Z":
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"printf 'no \377\376 way' >&2; exit 1", "cannot compile the kernels: no .* way"),
        ("exit 0", "makes no file"),
        ("exit 3", "cannot compile the kernels"),
    ],
)
def test_a_broken_compiler_is_reported(named: _Named, text: str, words: str) -> None:
    named(text)
    assert loader.fastest() == "llvm"
    with pytest.raises(CompilerError, match=words):
        c_kernels.COMPILER.compile("int a;")


@needs_compiler
def test_cc_may_have_options(named: _Named) -> None:
    usual_command = c_kernels.compiler()
    assert usual_command
    named(f'[ "$1" = -O2 ] && exec {usual_command[0]} "$@"', "-O2 '-DA=\"two words\"'")
    assert c_kernels.works()
    command = c_kernels.compiler()
    assert command
    assert command[1:] == ("-O2", '-DA="two words"')
    named("exit 0", "'")  # a quote that does not end
    assert c_kernels.compiler() is None

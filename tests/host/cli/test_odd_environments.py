"""No home folder, a locale without umlauts, names that are not UTF-8, files with special modes."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

from microshrub_host.base import files

MODEL = ["--engine", "python", "--model", "shrub"]


def write(path: Path | bytes) -> None:
    """Write a CSV file with letters beyond ASCII."""
    rows = [f"{k * 37 % 101},{k % 7},{'Gehen' if k % 3 else 'Früh ↑'}\n" for k in range(300)]
    with open(path, "wb") as file:
        file.write(("größe,y,label\n" + "".join(rows)).encode())


def run(folder: Path, *words: str | bytes, **changes: str | None) -> tuple[int, bytes, bytes]:
    """Return exit code, output and errors of a command in this folder; None unsets a variable."""
    environment = {name: value for name, value in os.environ.items() if name not in changes}
    environment |= {name: value for name, value in changes.items() if value is not None}
    done = subprocess.run(
        [sys.executable, "-m", "microshrub_command", *words], cwd=folder, env=environment,
        capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "changes",
    [
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "cp1252"},  # on a Windows console
    ],
)
def test_letters_outside_the_locale_work(changes: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path / "schön.csv")
    made = ["--html", "o.html", "--save", "o.mshrub", "--json", "o.json", "--plot", "o.svg"]
    code, out, _ = run(tmp_path, "simulate", "schön.csv", *MODEL, *made, **changes)
    assert code == 0
    assert b"300 samples, 2 features, 2 classes" in out
    assert "schön.csv" in (tmp_path / "o.html").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    code, out, _ = run(tmp_path, "show", "o.mshrub", **changes)
    assert code == 0
    assert b"y" in out
    code, _, output = run(tmp_path, "simulate", "gibt es nicht ↑.csv", **changes)
    assert code == 2
    assert output.startswith(b"microshrub: There is no file gibt es nicht")


def test_names_that_are_not_utf_8_work(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    try:
        write(folder + b"/bad\xff\xfe.csv")
    except OSError:
        pytest.skip("this file system takes no such names")
    made = [b"--html", b"o\xff.html", b"--save", b"m\xff.mshrub", b"--plot", b"p\xff.png"]
    code, out, _ = run(tmp_path, "simulate", b"bad\xff\xfe.csv", *MODEL, *made)
    assert code == 0
    assert "bad��.csv" in out.decode()
    with open(folder + b"/o\xff.html", encoding="utf-8") as page:
        assert "bad��.csv" in page.read()
    for words in (
        ["show", b"m\xff.mshrub"],
        ["export", b"m\xff.mshrub", "--format", "c", "--output", b"e\xff.c"],
        ["simulate", b"bad\xff\xfe.csv", *MODEL, "--json", "-"],
    ):
        code, out, output = run(tmp_path, *words)
        assert code == 0, output
        assert out.decode() + output.decode()
    code, _, output = run(tmp_path, "simulate", b"none\xff.csv")
    assert code == 2
    assert re.match("microshrub: .* none�.csv", output.decode())


@pytest.mark.parametrize("home", [None, "", "/dev/null/at/all"])  # no folder can be made there
def test_commands_work_without_a_home_folder(home: str | None, tmp_path: Path) -> None:
    write(tmp_path / "a.csv")
    changes = {"HOME": home, "XDG_CACHE_HOME": None, "MICROSHRUB_CACHE": None}
    # the user has no entry in the password database either, as in many containers
    lost = "import pwd\ndef none(_): raise KeyError\npwd.getpwuid = none\n"
    (tmp_path / "sitecustomize.py").write_text(lost)
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    changes["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    code, out, output = run(tmp_path, "simulate", "a.csv", *MODEL, **changes)
    assert code == 0, output
    assert b"300 samples" in out
    made = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}  # of sitecustomize.py
    assert made == {"a.csv", "sitecustomize.py"}


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666, 0o755])
def test_a_replaced_file_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "model.mshrub"
    path.write_bytes(b"old")
    path.chmod(mode)
    files.replace(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_replaced_file_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "model.mshrub"
    path.write_bytes(b"old")
    os.chown(path, 65534, 65534)
    files.replace(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65534)


def test_a_new_file_has_the_mode_of_the_users_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.replace(tmp_path / "new", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640

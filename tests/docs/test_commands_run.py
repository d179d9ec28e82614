"""The commands in README, the tutorials and the examples, as a user would type them."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pages_support import PAGES, commands, plain, saved, shown
from patience import PATIENCE
from simulated_support import environment, simulated_board
from tests_support import ROOT

from microshrub_tools.cli.main import main, parser

Run = Callable[[str, Path], tuple[int, str]]
_NOT_HERE = ("python3 -m venv", "pip install", "make ", "git clone")  # already done for the tests


def missing_programs(page: Path) -> str:
    """Return the programs of a broker that the page calls and this machine lacks."""
    called = {words_of(command)[0] for command in commands(page)}
    return ", ".join(name for name in called if "mosquitto" in name and not shutil.which(name))


@contextlib.contextmanager
def served(command: str, folder: Path, output: Path) -> Iterator[None]:
    """Run a command that the page runs in another terminal; wait until it says that it runs."""
    words = words_of(command)
    with output.open("wb") as out:
        process = subprocess.Popen(words, cwd=folder, stdout=out, stderr=out)
    try:
        end = time.monotonic() + PATIENCE
        while "running" not in output.read_text():
            assert process.poll() is None, output.read_text()
            assert time.monotonic() < end, output.read_text()
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def words_of(command: str) -> list[str]:
    return shlex.split(command, comments=True)


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_exist_with_their_options_and_files(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of the page counts: an earlier command has to write each file that a
    command reads.
    """
    monkeypatch.chdir(tmp_path)  # where `init` writes the project file that the others read
    known = {name for name, _ in saved(ROOT / page)}
    lines = commands(ROOT / page)
    assert lines
    for command in lines:
        if command.startswith("make "):
            for target in re.findall(r"make (\w+)", command):
                assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        if not command.startswith("microshrub "):
            continue
        words = words_of(command)[1:]
        if words[0] == "init":
            assert main(words) == 0
            continue
        if words != ["--version"]:
            parser().parse_args(words)
        written = [words[k + 1] for k, word in enumerate(words) if word in ("-o", "--save")]
        if words[0] == "example":
            written.append(f"{words[1]}.csv")
        if words[0] == "demo":
            written.append("demo.svg")
        read = {w for w in words if re.fullmatch(r"\w+\.(csv|mshrub|py)", w)} - {*written}
        assert read <= known, command
        known |= {*written}


def typed(command: str, folder: Path) -> tuple[int, str]:
    """Return exit code and output of a command that a shell runs."""
    path = f"{Path(sys.executable).parent}:{environment(folder)['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, timeout=PATIENCE,
        env=environment(folder) | {"PATH": path}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> Run:
    """A function that runs our commands in this process, which has its libraries,
    and others in a shell.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def run(command: str, folder: Path) -> tuple[int, str]:
        words = words_of(command)
        if words[0] != "microshrub":
            return typed(command, folder)
        code = main(words[1:])
        return code, "".join(capfd.readouterr())

    return run


def printed_by(lines: list[str], folder: Path, run: Run = typed) -> set[str]:
    """Return the lines that the commands print, run one after the other in the folder."""
    with contextlib.ExitStack() as brokers, contextlib.ExitStack() as boards:
        printed: set[str] = set()
        for command in lines:
            if command.startswith(_NOT_HERE):
                continue
            if command.startswith("/usr/sbin/mosquitto "):
                brokers.enter_context(served(command, folder, folder / "broker.log"))
                continue
            if command.startswith("microshrub device"):
                boards.close()
                boards.enter_context(simulated_board(folder, *words_of(command)[2:]))
                continue
            code, output = run(command, folder)
            assert code == 0, command + "\n" + output
            assert "does not beat" not in output
            printed |= {plain(line) for line in output.splitlines()}
    return printed


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_the_commands_run_one_after_the_other(
    page: str, tmp_path: Path, here: Run, micropython_command: tuple[str, ...]
) -> None:
    """The folder is empty, like a fresh clone; `device` runs in the background.

    The commands of the first pages run in a shell; those of the examples run in this process.
    """
    missing = missing_programs(ROOT / page)
    if missing:
        pytest.skip(f"no {missing}: `make optional` installs it where it can be had")
    for name, program in saved(ROOT / page):
        (tmp_path / name).write_text(program)
    printed = printed_by(commands(ROOT / page), tmp_path, here if "examples" in page else typed)
    for line in shown(ROOT / page):
        assert any(line in one for one in printed), line


@pytest.mark.long
def test_the_example_also_works_for_an_esp32(
    tmp_path: Path, here: Run, micropython_command: tuple[str, ...]
) -> None:
    """The pins are the ESP32's; the thicket has at least 16 KB."""
    on_esp32 = {"rpi_pico": "esp32", "scl=1": "scl=22", "sda=0": "sda=21", "-pin 15": "-pin 13"}
    on_esp32 |= {"15=": "13="}
    lines = commands(ROOT / "examples" / "gestures" / "README.md")
    lines = lines[lines.index("microshrub example gestures") :]
    for old, new in on_esp32.items():
        assert any(old in command for command in lines), old
        lines = [command.replace(old, new) for command in lines]
    printed = printed_by(lines, tmp_path, here)
    assert any("for ESP32, in build/esp32" in line for line in printed)
    assert any(line.startswith("It fits: ") for line in printed)
    config = json.loads((tmp_path / "build" / "esp32" / "config.json").read_text())
    assert config["learner"] == "Thicket"
    assert config["parameters"]["bytes"] >= 16_384

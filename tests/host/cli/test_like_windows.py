"""A maker's commands run in a Python without the modules that Windows lacks;
other commands print a message.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import socket
import subprocess
import sys
import threading
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import PATIENCE
from simulated_support import environment, simulated_board
from tests_support import ROOT

from microshrub_tools.cli.main import main

LIKE_WINDOWS = ROOT / "tests" / "support" / "like_windows.py"
WINDOWS_OF_READINGS = ["--features", "window=64", "hop=16", "rate=100"]
SENSOR = ["--sensor", "mpu6050", "scl=1", "sda=0", "rate=100", "axes=3"]
GESTURES = "Gesten für Jürgen.csv"


def run(folder: Path, *words: str, code: int = 0) -> str:
    """Return the output of a command on a Windows console, with its errors."""
    changed = {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", LIKE_WINDOWS, *words],
        cwd=folder, env=environment(folder) | changed, capture_output=True, timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    text = (done.stdout + done.stderr).decode("cp1252")
    assert done.returncode == code, text
    assert "Traceback" not in text
    return text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a space and an umlaut in its name, and a recording in it."""
    made = tmp_path / "Eigene Dateien ö"
    made.mkdir()
    assert run(made, "example", "gestures", "-o", GESTURES).startswith(GESTURES)
    return made


def test_a_recording_becomes_a_program(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ["--save", "m.mshrub", "--json", "o.json", "--html", "o.html", "--plot", "o.svg"]
    words = [GESTURES, *WINDOWS_OF_READINGS, "--board", "rpi_pico"]
    build = ["build", "--model", "m.mshrub", "--board", "rpi_pico", *SENSOR]
    for _ in range(2):  # the second run replaces all files
        output = run(folder, "simulate", *words, *made, "--details")
        assert "It fits" in run(folder, *build)
    assert main(["simulate", str(folder / GESTURES), *words[1:], "--details"]) == 0
    state = re.search(r"state CRC32 +\S+ (\w{8})", capsys.readouterr().out)
    assert state
    assert state[1] in output
    assert (folder / "build" / "rpi_pico" / "config.json").exists()
    assert (
        main([*build[:2], str(folder / "m.mshrub"), *build[3:], "--output", str(tmp_path / "b")])
        == 0
    )
    built = {
        p.name: p.read_bytes() for p in (folder / "build" / "rpi_pico").rglob("*") if p.is_file()
    }
    assert built == {p.name: p.read_bytes() for p in (tmp_path / "b").rglob("*") if p.is_file()}
    assert "neighbours" in run(folder, "show", "m.mshrub")
    assert "written to m.h" in run(folder, "export", "m.mshrub", "--format", "c", "-o", "m.h")


def test_the_demo_and_the_list_of_boards_work(folder: Path) -> None:
    assert "Taught with a button" in run(folder, "demo")
    assert "Raspberry Pi Pico" in run(folder, "boards")
    budget = ["budget", "--board", "esp32", "--features", "3", "--classes", "2"]
    assert "It fits" in run(folder, *budget)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["monitor", "--port", "COM3"], "COM3 cannot be opened: there is no such port"),
        (["flash", "--board", "rpi_pico", "--port", "COM3"], "there is no build"),
        (["simulate", "C:\\Daten\\fehlt.csv"], r"no file C:\\Daten\\fehlt.csv"),
        (["device"], "a virtual board needs Linux"),
    ],
)
def test_unavailable_commands_are_refused_in_one_line(
    words: list[str], meant: str, tmp_path: Path
) -> None:
    output = run(tmp_path, *words, code=2)
    assert re.search(meant, output), output
    assert len(output.splitlines()) == 1


@contextlib.contextmanager
def over_tcp(port: str) -> Iterator[str]:
    """Yield a serial port that pyserial reaches over the network, which works on every system."""
    end = os.open(port, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(end)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def carry() -> None:
            with contextlib.suppress(OSError):
                while True:
                    line, _ = server.accept()
                    with line:
                        while True:
                            for ready in select.select([line, end], [], [])[0]:
                                if ready is end:
                                    line.sendall(os.read(end, 4096))
                                elif data := line.recv(4096):
                                    os.write(end, data)
                                else:
                                    raise OSError

        threading.Thread(target=carry, daemon=True).start()
        yield f"socket://127.0.0.1:{server.getsockname()[1]}"


def test_a_board_is_watched_and_recorded(folder: Path) -> None:
    words = [GESTURES, *WINDOWS_OF_READINGS, "--board", "rpi_pico", "--bytes", "8192"]
    buttons = ["--label-pin", "15", "pressed=shake", "released=rest"]
    run(folder, "build", *words, *SENSOR, *buttons)
    board = ["build/rpi_pico", "--sensor", GESTURES, "--press", "15=shake"]
    with simulated_board(folder, *board) as port, over_tcp(port) as address:
        output = run(folder, "monitor", "--port", address, "--seconds", "3")
        assert re.search(r"unsaved \d+ label", output)
    with simulated_board(folder, *board) as port, over_tcp(port) as address:
        run(folder, "record", "--port", address, "-o", "own.csv", "--limit", "5")
    lines = (folder / "own.csv").read_bytes().splitlines()
    assert lines[0].endswith(b",label")
    assert len(lines) == 6

"""report on a virtual board over a real pty, and its steps on an emulated Cortex-M0."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from board_file_support import GOOD, write
from board_support import UnixBoard
from emulated_support import OnLine
from program_support import x86
from script_support import run

from microshrub_host.boards import board_files, emulated_boards
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_tools.board import bench, flash
from microshrub_tools.board.report_facts import board_of, facts_of
from microshrub_tools.watch import board_report

MAIN = "print('mine')\n"


@pytest.fixture
def board(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[UnixBoard]:
    folder = tmp_path / "flash"
    folder.mkdir()
    (folder / "main.py").write_text(MAIN)
    with UnixBoard(micropython_command, folder, "1m") as board:
        yield board


def untouched(folder: Path) -> bool:
    return {path.name: path.read_text() for path in folder.iterdir()} == {"main.py": MAIN}


@pytest.mark.long
def test_a_board_is_measured_and_left_unchanged(
    board: UnixBoard,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bench, "CONFIGURATIONS", bench.CONFIGURATIONS[:1])
    x86(tmp_path)
    words = ["report", "--port", board.port, "--board", tmp_path / "x86.toml", "--seconds", 1]
    assert run(*words, "-o", tmp_path / "report.txt") == 0
    printed = capsys.readouterr().out
    assert printed.strip() == (tmp_path / "report.txt").read_text().strip()
    assert re.search(r"firmware +MicroPython 1\.\d+\.\d+", printed)
    assert re.search(r"CRC32 [0-9a-f]{8} after 200 samples", printed)
    assert "served       20 samples" in printed
    assert bench.CONFIGURATIONS[0][0] in printed
    section = printed[printed.index("[[report]]") :]
    filled = section.replace(board_files.REPORTER, "Ada")
    (report,) = board_files.load(write(tmp_path, GOOD + filled)).reports
    assert (report.served, report.source[:3]) == (20, "Ada")
    assert report.firmware.startswith("MicroPython 1.")
    assert untouched(tmp_path / "flash")


def test_report_names_each_obstacle_and_changes_nothing(
    board: UnixBoard,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run("report", "--port", board.port) == 2  # no board has a PC's firmware
    assert "--board" in capsys.readouterr().err
    assert run("report", "--port", board.port, "--board", "rpi_pcio") == 2
    assert "rpi_pico" in capsys.readouterr().err
    with contextlib.suppress(SystemExit):
        assert run("report", "--port", board.port, "--seconds", 0) == 2
    assert "--seconds" in capsys.readouterr().err

    def fails(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(flash, "selftest", fails)  # as if Ctrl-C was pressed with all files copied
    x86(tmp_path)
    assert run("report", "--port", board.port, "--board", tmp_path / "x86.toml") == 130
    assert untouched(tmp_path / "flash")


@pytest.mark.long
def test_the_steps_on_an_emulated_board() -> None:
    try:
        emulated_boards.find_or_build("cortex-m0")
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    pico = board_files.load("rpi_pico")
    with EmulatedBoard("cortex-m0") as emulated, board_report.TrialProgram(pico, 1) as program:
        device = OnLine(emulated)
        device.reset()
        facts = facts_of(device)
        assert facts.arch == "armv6m"
        assert facts.free > 100_000
        assert (facts.executable, facts.executable_bytes) == ((), 0)
        assert board_of(facts) is None
        tried = board_report.try_out(device, facts, program)
        assert tried.test.crc32 == flash.expected_crc32(program.files(device))
        assert tried.after.used > facts.used
        flash.leave_no_trace(device)
        assert not [name for name, _ in device.value("listing('.')") if "microshrub" in name]

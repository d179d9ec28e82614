"""bench on a real MicroPython, through mpremote over a real pty; boards.py reads the table."""

from __future__ import annotations

import os
import pty
from pathlib import Path

import pytest
from board_file_support import GOOD, write
from script_support import RAW_REPL, Device, run

from microshrub_host.boards import board_files, sample_time
from microshrub_host.library.learners import specification
from microshrub_tools.board.bench import CONFIGURATIONS


def test_the_device_is_measured(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("bench", "--port", device(RAW_REPL), "--board", "rpi_pico") == 0
    captured = capsys.readouterr()
    assert "boards/rpi_pico.toml" in captured.err
    board = board_files.load(write(tmp_path, GOOD + captured.out))
    assert board.measured
    assert "MicroPython 1." in board.measured.source
    assert [(r.model, r.features, r.classes) for r in board.measured.rows] == list(CONFIGURATIONS)
    for row in board.measured.rows:
        assert 0 < row.learn[0] <= row.learn[1] < 1_000_000
        assert 0 <= row.predict[0] <= row.learn[0]
    for model, features, classes in CONFIGURATIONS:
        name, parameters = specification(model)
        shape = {"features": features, "classes": classes}
        estimate = sample_time.sample_time(board, name, parameters | shape)
        assert estimate
        assert (estimate.basis, estimate.between) == (sample_time.MEASURED, ())


@pytest.mark.usefixtures("no_virtual_board")
def test_bench_reports_each_obstacle(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("bench") == 2
    assert "--port" in capsys.readouterr().err
    assert run("bench", "--port", tmp_path / "none") == 2
    assert "Is the board plugged in?" in capsys.readouterr().err
    assert run("bench", "--port", "x", "--board", "rpi_pcio") == 2
    assert "Did you mean rpi_pico?" in capsys.readouterr().err
    assert run("bench", "--port", device("import sys\nsys.path[:] = []\n" + RAW_REPL)) == 2
    assert "not on the device: flash it" in capsys.readouterr().err


def test_the_library_of_this_pc_is_mounted(
    device: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run("bench", "--mount", "--port", device("import sys\nsys.path[:] = ['']\n" + RAW_REPL))
        == 0
    )
    assert capsys.readouterr().out.count("[[measured.row]]") == len(CONFIGURATIONS)


@pytest.mark.usefixtures("impatient")
def test_a_board_without_micropython(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("microshrub_tools.board.bench._PATIENCE", 1.5)
    master, slave = pty.openpty()
    assert run("bench", "--port", os.ttyname(slave)) == 2
    assert "MicroPython does not answer" in capsys.readouterr().err
    os.close(master)
    os.close(slave)

"""A program from build to stream, with the real tools, on emulated boards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from emulated_support import START, OnLine, board_file, stands_still

from microshrub_host.boards import emulated_boards
from microshrub_host.boards.emulator import EmulatedBoard, EmulatedBoardError
from microshrub_host.evaluation import prequential
from microshrub_host.evaluation.regression import evaluate_numbers
from microshrub_host.library.learners import defaults, number_parameters
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_host.streams.open_stream import open_stream
from microshrub_tools.board import build, flash
from microshrub_tools.cli.main import main
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import STATUS, DeviceStatus
from microshrub_tools.link.serial_line import SerialLine

WARMUP = 64
SOURCE = ["synth:rbf_m", "--warmup", str(WARMUP)]
SAMPLES = 160
MODEL = {"window": 16, "trees": 4, "depth": 4}


@pytest.fixture(params=emulated_boards.COUNTED)
def emulator(request: pytest.FixtureRequest) -> emulated_boards.Emulator:
    try:
        return emulated_boards.find_or_build(request.param)
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))


@pytest.fixture
def board(emulator: emulated_boards.Emulator) -> Iterator[EmulatedBoard]:
    """An emulated board; while it runs, it keeps a core busy, even when it waits."""
    with EmulatedBoard(emulator) as board:
        yield board


def learned_on(board: EmulatedBoard) -> int:
    """Return the number of samples that the program reports as learned."""
    with HostLink(SerialLine(board.port)) as link:
        link.connect()
        status = link.ask(STATUS)
    assert isinstance(status, DeviceStatus)
    return status.samples


def free_in_one_piece(board: EmulatedBoard) -> float:
    """Return the largest free piece of the heap, as a share of all free bytes."""
    output = board.exec("import gc, micropython\ngc.collect()\nmicropython.mem_info()")
    free, largest = (re.search(name + r": (\d+)", output) for name in ("free", "max free sz"))
    assert free
    assert largest
    return int(largest[1]) * 16 / int(free[1])


@pytest.mark.parametrize("emulator", ["cortex-m0"], indirect=True)
def test_a_program_is_built_flashed_and_tested_and_learns(
    emulator: emulated_boards.Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "program"
    options = [word for name, value in MODEL.items() for word in (f"--{name}", str(value))]
    where = ["--board", str(board_file(tmp_path, emulator.board.arch))]
    whole = [*SOURCE, "--limit", str(SAMPLES), "--model", "shrub"]
    assert main(["build", *whole, *where, *options, "--output", str(folder)]) == 0
    with EmulatedBoard(emulator) as board:
        output = flash_and_stream(board, folder, capsys)
    data = open_stream(SOURCE[0], limit=SAMPLES)
    shape = {"features": data.values.shape[1], "classes": len(data.class_names)}
    wanted = prequential.evaluate(data, "shrub", shape | MODEL, warmup=WARMUP)
    assert f"{wanted.state_crc32:08x}" in output
    assert f"accuracy on the device      │ {wanted.accuracy:.2f} %" in output


def flash_and_stream(
    board: EmulatedBoard, folder: Path, capsys: pytest.CaptureFixture[str]
) -> str:
    """Stream in two parts; between them, the program is stopped and the board reset."""
    files = build.read(folder)
    tested = flash.flash(OnLine(board), files)
    assert tested.crc32 == flash.expected_crc32(files)
    assert 0 < tested.free_after < tested.free_before
    listed = board.exec("import os\nprint(sorted(os.listdir()))")
    assert listed == "['main.py', 'microshrub.0001']\n"

    for learned, samples in ((0, SAMPLES // 2), (SAMPLES // 2, SAMPLES)):
        board.reset()
        board.start(START)
        assert learned_on(board) == learned
        capsys.readouterr()
        driven = ["stream", *SOURCE, "--limit", str(samples), "--port", board.port]
        assert main([*driven, "--build", str(folder)]) == 0
        output = capsys.readouterr().out
        assert f"Device and simulator agree: {samples} samples" in output
        board.connect()  # mpremote's Ctrl-C stops the program, which saves a checkpoint
        assert free_in_one_piece(board) > 0.6
    return output


@pytest.mark.long
@pytest.mark.parametrize("emulator", ["cortex-m3"], indirect=True)
def test_a_board_forecasts_from_build_to_stream(
    emulator: emulated_boards.Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole way from build to stream works for regression with a horizon."""
    folder = tmp_path / "program"
    task = ["--horizon", "5", "--lags", "3", "--interval", "90"]
    data = ["river:WaterFlow", "--target", "target"]
    where = ["--board", str(board_file(tmp_path, emulator.board.arch))]
    model = ["--model", "thicket", "--bytes", "3000"]
    build_it = ["build", *data, "--limit", "260", *task, *where, *model]
    assert main([*build_it, "--output", str(folder)]) == 0
    with EmulatedBoard(emulator) as board:
        output = flash_and_forecast(board, folder, data, capsys)
    stream = open_numbers("river:WaterFlow", horizon=5, lags=3, limit=260)
    shape = number_parameters("thicket-regressor", stream.features, stream.late)
    parameters = defaults("thicket-regressor") | {"bytes": 3000} | shape
    wanted = evaluate_numbers(stream, "thicket-regressor", parameters, interval=90)
    assert f"{wanted.state_crc32:08x}" in output
    assert f"{wanted.errors.mae:.5g}" in output


def flash_and_forecast(
    board: EmulatedBoard, folder: Path, data: list[str], capsys: pytest.CaptureFixture[str]
) -> str:
    """Stream in two parts; samples that wait for their target survive the reset."""
    files = build.read(folder)
    assert flash.flash(OnLine(board), files).crc32 == flash.expected_crc32(files)
    for samples in (130, 260):
        board.reset()
        board.start(START)
        driven = ["stream", *data, "--limit", str(samples), "--port", board.port]
        capsys.readouterr()
        assert main([*driven, "--build", str(folder)]) == 0
        output = capsys.readouterr().out
        assert f"Device and simulator agree: {samples} samples" in output
        board.connect()
    return output


def test_a_connected_board_stands_still_between_commands(board: EmulatedBoard) -> None:
    """Otherwise, it would take a core from other work."""
    assert stands_still(board)
    assert board.exec("print(6 * 7)") == "42\n"
    assert stands_still(board)
    with pytest.raises(EmulatedBoardError, match="ZeroDivisionError"):
        board.exec("1 // 0")
    assert stands_still(board)
    board.reset()
    assert stands_still(board)
    board.disconnect()
    assert not stands_still(board, seconds=0.2)
    board.connect()
    assert board.exec("print(6 * 7)") == "42\n"


def test_files_survive_a_reset(board: EmulatedBoard) -> None:
    board.put(bytes(range(256)) * 20, "/a")
    for line in ("one\n", "two\n"):
        board.exec(f"with open('/b', 'a') as file:\n    file.write({line!r})\nleft = 1")
        board.reset()
        assert board.exec("print(globals().get('left'))") == "None\n"
    assert board.exec("print(open('/b').read(), end='')") == "one\ntwo\n"
    assert board.exec("print(open('/a', 'rb').read() == bytes(range(256)) * 20)") == "True\n"
    board.exec("open('/empty', 'w').close()\nopen('/a', 'w').write('new')")
    board.reset()
    output = board.exec("import os\nprint(sorted(os.listdir()), open('/a').read())")
    assert output == "['a', 'b', 'empty'] new\n"


def test_arrays_can_be_written_and_read(board: EmulatedBoard) -> None:
    output = board.exec(
        "from array import array\n"
        "numbers = array('i', range(-5, 5))\n"
        "with open('/a', 'wb') as file: print(file.write(numbers))\n"
        "found = array('i', [0] * 10)\n"
        "with open('/a', 'rb') as file: print(file.readinto(found), found == numbers)\n"
    )
    assert output == "40\n40 True\n"


def test_every_byte_passes_in_both_directions(board: EmulatedBoard) -> None:
    """A carriage return arrives unchanged, and Ctrl-C is a byte, not a signal."""
    board.start(
        "import sys\nb = bytearray(256)\n"
        "while True:\n    sys.stdout.buffer.write(b, sys.stdin.buffer.readinto(b))"
    )
    line = SerialLine(board.port)
    sent = bytes(reversed(range(256)))
    line.write(sent)
    came = b""
    while len(came) < 256 and (more := line.read(5)):
        came += more
    line.close()
    assert came == sent

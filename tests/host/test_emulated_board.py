"""A program from build to stream, by the real tools, on emulated boards: the whole way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from microshrub_host import emulated_boards, simulate
from microshrub_host.emulator import EmulatedBoard
from microshrub_host.streams import open_stream
from microshrub_tools import build, flash
from microshrub_tools.cli import main

ROOT = Path(__file__).parents[2]
SOURCE = "synth:agrawal_a"
SAMPLES = 300
MODEL = {"window": 16, "trees": 4, "depth": 4}
START = "exec(open('main.py').read())"  # as MicroPython does it after a reset


class OnLine:
    """What `flash` asks of a board, of an emulated one."""

    def __init__(self, board: EmulatedBoard) -> None:
        self._board = board

    def reset(self) -> None:
        self._board.reset()

    def run(self, code: str, seconds: float = 30) -> str:
        return self._board.exec(code, seconds)

    def value(self, expression: str, seconds: float = 30) -> Any:
        return ast.literal_eval(self.run(f"print(repr({expression}))", seconds).strip())


@pytest.fixture(params=list(emulated_boards.BOARDS))
def board(request: pytest.FixtureRequest) -> Iterator[EmulatedBoard]:
    try:
        emulated_boards.find_or_build(request.param)
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    with EmulatedBoard(request.param) as board:
        yield board


def board_file(folder: Path, arch: str) -> Path:
    """The emulated board for `build`: it has the heap of a Raspberry Pi Pico."""
    text = (ROOT / "boards" / "rpi_pico.toml").read_text()
    path = folder / f"emulated-{arch}.toml"
    path.write_text(text.replace("armv6m", arch))
    return path


def test_build_flash_selftest_stream(
    board: EmulatedBoard, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = ["--limit", str(SAMPLES)]
    folder = tmp_path / "program"
    options = [word for name, value in MODEL.items() for word in (f"--{name}", str(value))]
    where = ["--board", str(board_file(tmp_path, board.emulator.board.arch))]
    assert main(["build", SOURCE, *stream, *where, *options, "--output", str(folder)]) == 0
    files = build.read(folder)

    tested = flash.flash(OnLine(board), files)
    assert tested.crc32 == flash.expected_crc32(files)
    assert 0 < tested.free_after < tested.free_before

    board.reset()
    board.start(START)
    capsys.readouterr()
    assert main(["stream", SOURCE, *stream, "--port", board.port, "--build", str(folder)]) == 0
    said = capsys.readouterr().out
    data = open_stream(SOURCE, limit=SAMPLES)
    shape = {"features": data.values.shape[1], "classes": len(data.class_names)}
    wanted = simulate.simulate(data, "shrub", shape | MODEL)
    assert f"{wanted.state_crc32:08x}" in said
    assert f"Device and simulator agree: {SAMPLES} samples" in said

"""The start of the program of `build`, counted on an emulated Cortex-M0 with a Pico's heap."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from emulated_support import UNTIL_STARTED, board_file
from patience import PATIENCE

from microshrub_host.boards import emulated_boards
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_host.boards.instruction_counts import TICKS
from microshrub_tools.board import build
from microshrub_tools.cli.main import main

BOARD = "cortex-m0"
BEFORE = 2048  # bytes between two collections at the program's start, in an earlier version
ON_BOARD = (
    UNTIL_STARTED
    + """
from machine import mem32

mem32[0x40008508], mem32[0x40008510], mem32[0x40008000] = 3, 9, 1  # 32 bits, every 512th tick

def now():
    mem32[0x40008040] = 1
    return mem32[0x40008540]

def started():
    print("ticks", now() - began)

class Collector:
    def __getattr__(self, name):
        return getattr(real_gc, name)

    def threshold(self, bytes):
        real_gc.threshold(COLLECT or bytes)

real_gc = gc
sys.modules["gc"] = Collector()
gc.collect()
began = now()
exec(open("main.py").read())
"""
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "most"),
    [
        ("--bytes 36864", 220e6),
        ("--model shrub --window 16 --trees 4 --depth 4 --step 8", 80e6),
    ],
)
def test_a_start_takes_less_than_half_of_the_earlier_time(
    options: str, most: float, tmp_path: Path
) -> None:
    """Most of a start was garbage collection."""
    try:
        emulator = emulated_boards.find_or_build(BOARD)
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    recording, folder = tmp_path / "recording.csv", tmp_path / "program"
    rows = [f"{k % 97},{k % 89},{'rest' if k // 50 % 2 else 'move'}" for k in range(300)]
    recording.write_text("\n".join(["a,b,label", *rows]))
    where = ["--board", str(board_file(tmp_path, emulator.board.arch)), "--output", str(folder)]
    assert main(["build", str(recording), *options.split(), *where]) == 0
    files = {f"/{path}": data for path, data in build.read(folder).items()}

    def instructions(collect: int) -> float:
        with EmulatedBoard(emulator, files) as board:
            output = board.exec(f"COLLECT = {collect}\n{ON_BOARD}", PATIENCE)
        match = re.search(r"ticks (\d+)", output)
        assert match, output
        return int(match[1]) * 512 / TICKS[BOARD]

    now = instructions(0)
    assert now < most
    assert now < instructions(BEFORE) / 2

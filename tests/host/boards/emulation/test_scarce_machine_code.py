"""A program with some kernels as bytecode, on an emulated RISC-V like an ESP32-C3's.

It learns the simulator's bits, and the estimate of its time is about right.
"""

from __future__ import annotations

import dataclasses
from array import array
from pathlib import Path
from typing import Any

import pytest

from microshrub_host.boards import board_files, emits, emulated_boards
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_host.boards.program import usual_program
from microshrub_host.boards.program_library import ProgramLibrary
from microshrub_host.library import loader
from microshrub_host.library.learners import defaults
from microshrub_host.programs import mpy

SAMPLES = 90
PARAMETERS = {"features": 8, "classes": 4, "bytes": 8192}
CLOCK = """
import micropython

@micropython.viper
def ticks(into: ptr32):
    timer = ptr32(0x0200BFF8)
    into[0] = timer[0]
"""
# the state of a thicket, and the time of the later two thirds of the samples
LEARN = """
from array import array
def learned(model, ticks):
    x = array("H", [0] * 8)
    now, took = array("i", [0]), 0
    for k in range(90):
        for f in range(8):
            x[f] = ((k & 3) * (7919 + 631 * f) + k * k * (37 + 6 * f) % 8192) % 65536
        ticks(now)
        before = now[0]
        model.predict(x)
        model.learn(x, k & 3)
        ticks(now)
        took += (now[0] - before) & 0x3FFFFFFF if k >= 30 else 0  # the timer wraps around
    return model.state_crc32(), took
"""
RUN = """
import gc
gc.collect()
gc.threshold(16384)
from microshrub import Thicket
from clock import ticks
gc.collect()
gc.threshold(-1)
print(*learned(Thicket(features=8, classes=4, bytes=8192), ticks))
"""


def on_board(library: ProgramLibrary, clock: Path) -> tuple[int, int]:
    files = {f"/{name.removeprefix('lib/')}": data for name, data in library.files().items()}
    files["/clock.mpy"] = mpy.compiled_program(clock, "rv32imc").read_bytes()
    with EmulatedBoard("rv32", files) as board:
        crc, took = map(int, board.exec(LEARN + RUN, 120).split())
    return crc, took


@pytest.mark.long
def test_it_learns_the_same_in_about_the_estimated_time(tmp_path: Path) -> None:
    try:
        emulated_boards.find_or_build("rv32")
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    clock = tmp_path / "clock.py"
    clock.write_text(CLOCK)
    there: dict[str, Any] = {}
    exec(LEARN, there)
    model = loader.load("python").Thicket(**PARAMETERS)
    crc = there["learned"](model, lambda into: array("i", [0]))[0]
    board = board_files.load("esp32c3")
    program = usual_program(Deployment({**defaults("thicket"), **PARAMETERS}, board, "Thicket"))
    times = []
    for room in (None, board.executable_bytes, 39_805):
        scarce = dataclasses.replace(board, executable_bytes=room)
        library = ProgramLibrary(program, scarce, emits.VIPER)
        board_crc, took = on_board(library, clock)
        assert board_crc == crc
        times.append(took)
        slower = library.kernels.slower
        assert slower / 1.4 < took / times[0] < slower * 1.4
    assert slower > 2

"""The time of a sample while ranges grow: at 50 readings per second, none is late.

It is counted on an emulated Cortex-M0, with a sensor whose values spread twice as far after every
thirtieth sample, so ranges also grow when there are trees.
"""

from __future__ import annotations

import pytest
from patience import PATIENCE

from microshrub_host.boards import board_files, emulated_boards
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_host.boards.instruction_counts import TICKS
from microshrub_host.programs import mpy

SAMPLES = 130
LONGEST_MS = 25.0  # from one reading to the next
GROWTH_MS = 12.0
PROGRAM_MS = 4.2  # the program's time with up to 8 features, see reliability.md
ON_BOARD = """
import gc
gc.threshold(2048)
from array import array
from machine import mem32
from microshrub.growing_ranges import GrowingQuantizer
from microshrub.thicket.thicket import Thicket

mem32[0x40008508], mem32[0x40008510], mem32[0x40008000] = 3, 0, 1  # 32 bits, every tick
gc.collect()
model = Thicket(features=FEATURES, classes=3, bytes=BYTES)
quantizer = GrowingQuantizer(FEATURES, (model,))
raw, x = array("i", [0] * FEATURES), array("H", [0] * FEATURES)
coded, took = array("i", [0] * SAMPLES), array("i", [0] * SAMPLES)

def count():
    mem32[0x40008040] = 1
    return mem32[0x40008540]

def live(k, state):
    for f in range(FEATURES):
        state = state * 997 % 1048573
        raw[f] = (state % 2000 - 1000 + 900 * (k // 20 % 3)) << (k // 30)
    began = count()
    quantizer.encode(raw, x)
    coded[k] = count() - began
    model.learn(x, k // 20 % 3)
    took[k] = count() - began
    return state

state = 1
gc.collect()
gc.threshold(-1)
for k in range(SAMPLES):
    if k % 30 == 0:  # what count() left: where it filled the heap, that would be counted, too
        gc.collect()
    state = live(k, state)
print(max(took), max(coded), quantizer.range_of(0)[1])
"""


@pytest.mark.long
@pytest.mark.parametrize(("most_bytes", "features"), [(28672, 2), (28672, 6), (16384, 14)])
def test_no_reading_is_late(most_bytes: int, features: int) -> None:
    try:
        emulator = emulated_boards.find_or_build("cortex-m0")
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    pico = board_files.load("rpi_pico")
    assert pico.cost
    tick_ms = pico.cost.cycles * 1e3 / pico.clock_hz / TICKS[emulator.board.name]
    files = {f"/{mpy.in_library(path)}": path.read_bytes() for path in mpy.compiled("armv6m")}
    names = f"SAMPLES, FEATURES, BYTES = {SAMPLES}, {features}, {most_bytes}\n"
    with EmulatedBoard(emulator, files) as board:
        most, coded, bits = map(int, board.exec(names + ON_BOARD, PATIENCE).split()[-3:])
    assert bits > 12  # the ranges have grown
    assert coded * tick_ms <= GROWTH_MS
    if features > 2:  # two features with overlapping classes take longer to learn
        assert most * tick_ms + PROGRAM_MS <= LONGEST_MS

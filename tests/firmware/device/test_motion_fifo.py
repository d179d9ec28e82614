"""An accelerometer's FIFO, after its data sheet: no reading is lost while a model learns.

The clock advances only with transfers on the bus and with the time that samples take.
"""

from __future__ import annotations

import itertools
import re
from array import array
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mpu6050_chip import Chip, Clock

from microshrub_host.library import loader
from microshrub_host.simulation.feature_extraction import Extractor
from microshrub_host.simulation.feature_options import FeatureOptions

LIBRARY = loader.load(loader.fastest())
AXES = ("ax", "ay", "az", "gx", "gy", "gz")
SENSOR = {
    "kind": "mpu6050", "scl": 1, "sda": 0, "i2c": 0, "address": 104, "rate": 1000, "axes": 6,
    "fifo": True,
}  # fmt: skip
POLL = 200  # microseconds of the loop around the sensor


def reading(n: int) -> tuple[int, ...]:
    """Return a reading that differs in all axes; the temperature is in the middle."""
    return (n % 30000, -n % 32768 - 32768, n * n % 4000, 777, n // 30000, 5, -(n % 7))


class Board:
    """A board with that chip, and a model that takes time."""

    def __init__(self, room: int = 1024) -> None:
        self.clock = Clock()
        self.chip = Chip(self.clock, reading, room)

    def microseconds(self) -> int:
        return self.clock()

    def i2c(self, *_: int) -> Chip:
        return self.chip

    def adc(self, _: int) -> Any:
        count = itertools.count(1)
        return SimpleNamespace(read_u16=lambda: next(count))


class Run:
    """A sensor on the board, read for a given time."""

    def __init__(
        self,
        axes: int = 6,
        rate: int = 1000,
        extraction: Any = None,
        room: int = 1024,
        **more: Any,
    ):
        self.board = Board(room)
        self.messages: list[str] = []
        sensor = SENSOR | {"rate": rate, "axes": axes}
        start = LIBRARY.device.sensor_start
        self.fifo = start.sensor_of(sensor | more, self.board, self.messages.append)
        self.first = self.board.chip.taken  # the number of the first reading in the FIFO
        self.sensor, features = self.fifo, axes
        if extraction:
            self.sensor = LIBRARY.device.feature_extractor.ExtractingFifo(
                self.fifo, extraction, self.fifo
            )
            features = self.sensor.features
        self.values = array("i", [0] * features)

    def samples(self, seconds: float, learning: int) -> list[list[int]]:
        """Return the samples; each one takes `learning` microseconds."""
        results = []
        clock = self.board.clock
        end = clock.now + int(1_000_000 * seconds)
        while clock.now < end:
            clock.now += POLL
            if self.sensor.pace.due() and self.sensor.read(self.values):
                results.append(self.values.tolist())
                clock.now += learning
        return results


def rows(axes: int, count: int) -> list[list[int]]:
    six = [[*reading(n)[:3], *reading(n)[4:]] for n in range(count)]
    return [row[:axes] for row in six]


@pytest.mark.parametrize(("axes", "rate"), [(6, 1000), (3, 1000), (6, 200), (3, 4)])
def test_all_readings_arrive_in_order(axes: int, rate: int) -> None:
    run = Run(axes, rate)
    made = run.samples(400 / rate, 0)
    assert len(made) >= 385
    assert made == rows(axes, run.first + len(made))[run.first :]


@pytest.mark.parametrize(
    ("axes", "learning", "room"), [(6, 70_000, 1024), (3, 150_000, 1024), (3, 65_000, 512)]
)
def test_no_reading_is_lost_while_a_model_learns(axes: int, learning: int, room: int) -> None:
    """In four seconds at 1 kHz, each sample takes most of the time that the FIFO bridges."""
    options = FeatureOptions.of(["window=64", "hop=200", "bands=100-200", "low-pass=300"])
    extraction = options.extraction(AXES[:axes], 1000)
    run = Run(axes, 1000, extraction.options, room)
    made = run.samples(4, learning)
    assert (run.fifo.overruns, run.messages, run.board.chip.lost) == (0, [], 0)
    extractor = Extractor(extraction)
    expected = [s for row in rows(axes, 4100)[run.first :] if (s := extractor.take(row))]
    assert len(made) >= 18
    assert made == expected[: len(made)]


def test_another_sensor_is_read_with_the_fifo() -> None:
    run = Run(3, 1000)
    both = {"kind": "several", "sensors": [SENSOR, {"kind": "adc", "pins": [26], "rate": 250}]}
    sensor = LIBRARY.device.sensor_start.sensor_of(both, run.board, print)
    values = array("i", [0] * 7)
    results = []
    while len(results) < 40:
        run.board.clock.now += POLL
        if sensor.pace.due() and sensor.read(values):
            results.append(values.tolist())
    first = results[0][0]
    assert [row[0] for row in results] == list(range(first, first + 40))
    assert [row[6] for row in results] == [k // 4 + 1 for k in range(40)]


def test_an_overrun_is_counted_reported_and_in_no_window() -> None:
    extraction = FeatureOptions.of(["window=50", "hop=50", "statistics=min,max"])
    run = Run(6, 1000, extraction.extraction(AXES).options)
    rows = run.samples(3, 300_000)
    assert run.board.chip.lost > 0
    assert run.fifo.overruns >= 4
    assert re.search("FIFO overran: .* 85 ms", run.messages[0])
    assert "overran 2 times:" in run.messages[1]
    assert len(run.messages) == int(np.log2(run.fifo.overruns)) + 1
    for sample in rows:
        assert sample[1] - sample[0] == 49


def test_a_smaller_fifo_overruns_earlier() -> None:
    run = Run(6, 1000, room=512)
    run.samples(2, 60_000)
    assert "42 ms" in run.messages[0]


def test_an_interrupted_transfer_leaves_no_half_reading() -> None:
    run = Run(6, 1000)
    run.board.chip.breaks = range(30, 300, 7)
    rows = run.samples(1, 0)
    assert run.fifo.failures >= 2
    assert [row for row in rows if row[1] != -row[0] % 32768 - 32768] == []
    steps = np.diff([row[0] for row in rows])
    assert sum(steps != 1) == run.fifo.failures
    assert len(rows) > 700


def test_the_chip_filters_frequencies_above_half_the_rate() -> None:
    for rate, bandwidth in ((1000, 184), (250, 94), (100, 44), (50, 21), (20, 10), (10, 5)):
        registers = Run(6, rate).board.chip.registers
        assert {1: 184, 2: 94, 3: 44, 4: 21, 5: 10, 6: 5}[registers[0x1A]] == bandwidth
        assert registers[0x19] == 1000 // rate - 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rate": 300}, "with a FIFO, rate has to divide 1000 and be above 3, not 300"),
        ({"rate": 2}, "be above 3, not 2"),
        ({"rate": 2000}, "rate .* 1..1000"),
        ({"axes": 4}, "axes .* 3, 6, not 4"),
        ({"fifo": 1}, "fifo has to be True or False, not 1"),
        ({"address": 105}, "no sensor answers at I2C address 105: check the wiring"),
    ],
)
def test_invalid_options_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Run(**wrong)


ON_A_BOARD = """
import micropython
from array import array
from microshrub.device.feature_extractor import ExtractingFifo
from microshrub.device.motion_fifo import MotionFifo

class Bus:
    def writeto_mem(self, address, register, data):
        pass
    def readfrom_mem_into(self, address, register, buffer):
        for k in range(len(buffer)):
            buffer[k] = k if register == 0x74 else 0
        if register == 0x72:
            buffer[1] = 121 if self.more else 3
            self.more = not self.more

class Board:
    def i2c(self, number, scl, sda):
        return bus
    def microseconds(self):
        return 5

bus = Bus()
bus.more = False
fifo = MotionFifo(OPTIONS, Board(), print)
sensor = ExtractingFifo(fifo, EXTRACTION, fifo)
values = array("i", [0] * sensor.features)
sensor.read(values)
micropython.heap_lock()
samples = 0
for _ in range(100):
    samples += int(sensor.read(values))
micropython.heap_unlock()
print(samples, fifo.overruns)
"""


def test_nothing_is_allocated_on_a_board(run_micropython: Callable[[str], str]) -> None:
    options = {"i2c": 0, "scl": 1, "sda": 0, "address": 104, "rate": 1000, "axes": 6}
    extraction = FeatureOptions.of(["window=32", "hop=30", "bands=50-100", "high-pass=5"])
    given = f"OPTIONS = {options}\nEXTRACTION = {extraction.extraction(AXES, 1000).options}\n"
    output = run_micropython(given + ON_A_BOARD)
    assert output == "25 0\n"

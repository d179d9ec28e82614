"""A sensor of the user's own, and several sensors at once, in the real program."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from device_support import configuration, put_device
from recorded_board import BOARD, READINGS, observe, put_held_clock, recorded

from microshrub_tools.link.client import HostLink
from microshrub_tools.link.serial_line import SerialLine

ABSENT = -(2**29)
COUNTER = """
class Counter:
    names = ("n", "square", "far")

    def __init__(self, board, first=0, fails=0):
        self.n, self.fails = first, fails
        if first < 0:
            raise OSError(5)

    def read(self, values):
        self.n += 1
        if self.fails and self.n % self.fails == 0:
            raise OSError(110)
        values[0] = self.n
        values[1] = self.n * self.n
        values[2] = 0x7FFFFFFF
        return self.n % 5 != 0
"""
FILES = {"counter.py": COUNTER}


def counter(rate: int = 200, values: int = 3, **options: int) -> dict[str, Any]:
    return {
        "kind": "own", "module": "counter", "class": "Counter", "values": values, "rate": rate,
        "options": options,
    }  # fmt: skip


def program(sensor: dict[str, Any], features: int, **fields: Any) -> dict[str, Any]:
    parameters = {"features": features, "classes": 2, "window": 8, "trees": 2}
    return configuration("ShrubEnsemble", parameters, sensor=sensor, warmup=4) | fields


def observed(device: Any, count: int) -> list[tuple[int, ...]]:
    with HostLink(SerialLine(device.port)) as link:
        link.connect()
        return [one.values for one in observe(link, count)]


def test_a_sensor_of_the_users_own(start: Any) -> None:
    seen = observed(start(program(counter(first=1000, fails=7), 3), files=FILES), 40)
    numbers = [n for n in range(seen[0][0], seen[-1][0] + 1) if n % 5 and n % 7]
    assert [n for n, _, _ in seen] == numbers
    assert all((square, far) == (n * n, 2**29 - 1) for n, square, far in seen)


def test_several_sensors_make_one_reading(start: Any) -> None:
    """The chip sets the pace; the pin is read with it, the counter with every fourth reading."""
    motion = {
        "kind": "mpu6050", "scl": 1, "sda": 0, "i2c": 0, "address": 104, "rate": 400, "axes": 6,
        "fifo": False,
    }  # fmt: skip
    pin = {"kind": "adc", "pins": [26], "rate": 400}
    sensors = [motion, pin, counter(rate=100)]
    config = program({"kind": "several", "sensors": sensors}, 10)
    seen = observed(start(config, recorded(), FILES), 60)
    rows = [tuple(row[k] for k in (0, 1, 2, 4, 5, 6)) for row in recorded()]
    first = rows.index(seen[0][:6])
    for k, values in enumerate(seen, first):
        assert values[:6] == rows[k % READINGS]
        assert values[6] == 100 * (k + 1) + 26
        count = k // 4 + 1  # the counter; every fifth call gives nothing new
        assert values[7] in (count, count - 1)
    steps = [later[7] - earlier[7] for earlier, later in pairwise(seen)]
    assert set(steps) <= {0, 1, 2}


def test_features_of_several_sensors(start: Any) -> None:
    pin = {"kind": "adc", "pins": [26], "rate": 500}
    extraction = {
        "window": 10, "hop": 10, "zero": [0, 0, 0, 32768], "filters": [], "statistics": [2, 3],
        "bands": [], "plain": [1, 2],
    }  # fmt: skip
    config = program(
        {"kind": "several", "sensors": [counter(rate=500), pin]}, 6, extraction=extraction
    )
    for low, high, square, far, _, pin_high in observed(start(config, files=FILES), 5):
        assert high - low in (11, 12)  # two or three of 12 or 13 calls gave nothing
        assert (square, far) == (high * high, 2**29 - 1)
        assert pin_high % 100 == (26 - 32768) % 100


@pytest.mark.parametrize(
    ("sensor", "features", "words"),
    [
        (counter(first=-1), 3, "the sensor of counter.py: [Errno 5] EIO"),
        (counter(gain=2), 3, "the sensor of counter.py: unexpected keyword argument 'gain'"),
        (counter() | {"class": "Meter"}, 3, "has no attribute 'Meter'"),
        (counter() | {"module": "missing"}, 3,
         "the sensor of missing.py: no module named 'missing'"),
        (counter(values=2), 3, "has 3 values, and the program is for 2: build it again"),
        (counter(rate=0), 3, "rate has to be a whole number of 1..1000"),
        ({"kind": "several", "sensors": []}, 3, "the sensors have to be a list"),
        ({"kind": "several", "sensors": [{"kind": "serial"}]}, 3, "kind of the sensor has to be"),
        ({"kind": "several", "sensors": [counter(), {"kind": "adc", "pins": [1], "rate": 0}]}, 4,
         "rate has to be a whole number of 1..1000"),
        ({"kind": "several", "sensors": [counter(), counter()]}, 4,
         "gives 6 features, the learner"),
    ],
)  # fmt: skip
def test_an_invalid_sensor_is_named(
    sensor: dict[str, Any], features: int, words: str, refused: Callable[..., str]
) -> None:
    assert words in refused(program(sensor, features), FILES)


def test_readings_are_recorded_before_there_is_a_model(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_device(tmp_path, b"{}")
    put_held_clock(tmp_path)
    board = BOARD.replace(
        "main(Recorded())", "from microshrub.device.sensor_start import print_readings"
    )
    pins = {"kind": "adc", "pins": [26, 27], "rate": 1000}
    call = (
        f"print_readings([{pins}, {counter(rate=500)}], 'left right n square far', Recorded())\n"
    )
    (tmp_path / "main.py").write_text(board + call)
    (tmp_path / "recorded.json").write_text("[]")
    (tmp_path / "counter.py").write_text(COUNTER)
    command = [*micropython_command, "main.py"]
    environment = {"MICROPYPATH": "lib:."}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        lines = [process.stdout.readline().strip() for _ in range(4)]
        process.kill()
    assert lines[0] == "left:126 right:127 n:1 square:1 far:536870911"
    assert lines[3] == "left:426 right:427 n:2 square:4 far:536870911"

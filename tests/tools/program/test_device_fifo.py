"""The real program with an accelerometer's FIFO at 1 kHz, learning all the time.

The chip follows its data sheet. Its clock advances with transfers, with each read of the clock,
and with each label, by the time that learning takes.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import mpu6050_chip
import pytest
from device_support import configuration, put_device
from recorded_board import AXES, observe

from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_tools.cli.main import main
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import STATUS, DeviceStatus
from microshrub_tools.link.serial_line import SerialLine

BOARD = """
from microshrub.device.hardware import Hardware
from microshrub.device.program import main
from mpu6050_chip import Chip, Clock

clock = Clock()
chip = Chip(clock, lambda n: (n % 30000, -n % 30000, 0, 777, n // 30000, 5, 6))

class Learning:
    def value(self):
        clock.now += LEARNING
        return clock.now // 1000000 % 2

class Board(Hardware):
    def i2c(self, number, scl, sda):
        return chip
    def microseconds(self):
        clock.now += 1000
        return clock()
    def button(self, pin):
        return Learning()

main(Board())
"""
SENSOR = {
    "kind": "mpu6050", "scl": 1, "sda": 0, "i2c": 0, "address": 104, "rate": 1000, "axes": 6,
    "fifo": True,
}  # fmt: skip
WORDS = ["window=100", "hop=100", "statistics=min,max"]


def put(folder: Path, learning: int) -> None:
    extraction = FeatureOptions.of(WORDS).extraction(AXES, 1000).options
    parameters = {"features": 12, "classes": 2, "window": 16, "trees": 4}
    button = {"pin": 15, "pressed": 1, "released": 0}
    config: dict[str, Any] = configuration(
        "ShrubEnsemble", parameters, sensor=SENSOR, extraction=extraction, warmup=4,
        label_pin=button,
    )  # fmt: skip
    put_device(folder, config)
    (folder / "main.py").write_text(f"LEARNING = {learning}\n{BOARD}")
    chip = Path(mpu6050_chip.__file__).read_bytes()
    (folder / "lib" / "mpu6050_chip.py").write_bytes(chip)


def test_no_reading_is_lost_at_1_khz(start_main: Any, tmp_path: Path) -> None:
    put(tmp_path, 50_000)
    with HostLink(SerialLine(start_main().port)) as link:
        link.connect()
        seen = [one.values for one in observe(link, 16)]
        status = link.ask(STATUS)
    assert isinstance(status, DeviceStatus)
    assert status.samples > 8
    for before, after in pairwise(seen):
        assert after[0] == (before[1] + 1) % 30000
        assert after[1] - after[0] == 99


def test_an_overrun_is_reported_and_in_no_window(
    start_main: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, 250_000)
    text: list[bytes] = []
    port = start_main().port
    with HostLink(SerialLine(port), on_text=text.append) as link:
        link.connect()
        seen = [one.values for one in observe(link, 6)]
    output = b"".join(text).decode()
    assert "FIFO overran 4 times" in output
    assert "overran 3 times" not in output
    assert {one[1] - one[0] for one in seen} == {99}
    shown = ""
    for _ in range(8):  # reported after 8, 16, 32 overruns and so on, however fast this machine is
        assert main(["monitor", "--port", port, "--seconds", "1.5"]) == 0
        shown += capsys.readouterr().out
        if "board said the sensor's FIFO" in shown:
            break
    assert "board said the sensor's FIFO" in shown

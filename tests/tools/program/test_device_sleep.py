"""A program that sleeps between its readings, in a real MicroPython with a simulated `machine`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import Device, run_device
from sleeping_support import SENSOR, USUAL, live, put_sleeper

from microshrub_host.boards import board_files, energy
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import STATUS, DeviceStatus
from microshrub_tools.link.serial_line import SerialLine

Start = Callable[..., Device]


@pytest.fixture
def start(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Start]:
    devices: list[Device] = []

    def start(sleep: dict[str, Any] | None, heap: str = "192k", **board: Any) -> Device:
        more = board.pop("more", {})
        put_sleeper(tmp_path, sleep, board, **more)
        devices.append(Device(micropython_command, tmp_path, heap))
        return devices[-1]

    yield start
    for device in devices:
        device.close()


def test_the_board_sleeps_between_readings_and_counts_its_sleep(
    start: Start, tmp_path: Path
) -> None:
    """It is awake 10 s at the start, 2 s in each of ten minutes, 10 ms for each of 600 samples."""
    status, board = live(start(USUAL), tmp_path)
    assert board["seconds"] == 600
    assert board["asleep"] - 1 <= status.asleep <= board["asleep"]
    assert 600 - 50 <= board["asleep"] <= 600 - 30
    assert status.missed == 0
    assert status.uptime >= 600


@pytest.mark.long
def test_hours_on_a_battery(start: Start, tmp_path: Path) -> None:
    """The program's own count gives the power that `build` estimates."""
    hours = 5 * 3600
    status, board = live(start(USUAL, seconds=hours), tmp_path)
    assert abs(status.asleep - board["asleep"]) <= 10
    assert status.missed == 0
    currents = board_files.load("rpi_pico").currents
    assert currents
    assert currents.sleep_ma
    estimated = energy.estimate(currents, 0, 0, 10_000, 1.0, listening=2 / 60).asleep
    awake = hours - status.asleep
    counted = (
        currents.volts * (awake * currents.awake_ma + status.asleep * currents.sleep_ma) / hours
    )
    assert counted == pytest.approx(estimated, rel=0.03)


def test_without_the_option_the_board_never_sleeps(start: Start, tmp_path: Path) -> None:
    status, board = live(start(None, seconds=60), tmp_path)
    assert (status.asleep, board["asleep"]) == (0, 0)


@pytest.mark.parametrize("rate", [40, 150])
def test_between_fast_readings_it_sleeps_only_where_the_estimate_allows_it(
    rate: int, start: Start, tmp_path: Path
) -> None:
    more = {"sensor": SENSOR | {"rate": rate}}
    _, board = live(start(USUAL, seconds=60, more=more), tmp_path)
    assert (board["asleep"] > 10) == energy.sleeps(rate, 5_000) == (rate == 40)


@pytest.mark.parametrize("fault", ["at once", "short", "stopped"])
def test_a_sleep_that_fails_is_not_counted_and_no_sample_is_missed(
    fault: str, start: Start, tmp_path: Path
) -> None:
    status, _ = live(start(USUAL, seconds=200, lightsleep=fault), tmp_path)
    assert status.asleep == 0
    assert status.missed == 0
    assert status.uptime >= 200


def test_a_pressed_button_keeps_the_board_awake(start: Start, tmp_path: Path) -> None:
    sleep = USUAL | {"pin": 15, "window": 0}
    status, board = live(start(sleep, pressed=[[100, 200]]), tmp_path)
    assert 600 - 10 - 100 - 10 - 15 <= board["asleep"] <= 600 - 10 - 100 - 9
    assert board["asleep"] - 1 <= status.asleep <= board["asleep"]


def test_the_watchdog_is_fed_during_sleep(start: Start, tmp_path: Path) -> None:
    status, _ = live(start(USUAL, seconds=120, more={"watchdog": 5000}), tmp_path)
    assert status.asleep > 60


def test_a_pc_reaches_the_board_within_a_minute_and_keeps_it_awake(start: Start) -> None:
    """Input during sleep is lost: a hello arrives in one of the windows."""
    device = start(USUAL | {"hold": 1, "window": 5}, seconds=40_000_000)
    with HostLink(SerialLine(device.port)) as link:
        link.connect()
        first = link.ask(STATUS)
        again = link.ask(STATUS)
    assert isinstance(first, DeviceStatus)
    assert isinstance(again, DeviceStatus)
    assert again.uptime >= first.uptime


LOCKED = """
import sys
sys.path.insert(0, {folder!r})
import micropython
from microshrub.device.sleep import Sleep

class Board:
    now = 0
    def milliseconds(self):
        self.now = self.now + 1 & 0x3FFFFFFF
        return self.now
    def of_machine(self, name):
        return self.doze
    def doze(self, milliseconds):
        self.now = self.now + milliseconds & 0x3FFFFFFF

board = Board()
sleep = Sleep({{"every": 60, "window": 2, "hold": 5}}, board, 0)
sleep.rest(900)

def live():
    n = 50000
    while n:
        sleep.rest(900)
        n -= 1

micropython.heap_lock()
live()
micropython.heap_unlock()
print(sleep.seconds)
"""


def test_sleep_allocates_nothing(run_micropython: Callable[[str], str], tmp_path: Path) -> None:
    put_sleeper(tmp_path, USUAL, {})
    asleep = int(run_micropython(LOCKED.format(folder=str(tmp_path / "lib"))))
    assert 1200 < asleep < 1500  # a call in a window takes a millisecond


@pytest.mark.parametrize(
    ("sleep", "message"),
    [
        ({"every": 60, "window": 2}, "sleep has no hold"),
        (USUAL | {"every": 0}, "sleep's every has to be a whole number of 1..86400"),
        (USUAL | {"window": -1}, "sleep's window has to be a whole number"),
        (USUAL | {"hold": "x"}, "sleep's hold has to be a whole number"),
        (USUAL | {"often": 1}, "sleep has no option often"),
        (7, "sleep has to be an object"),
    ],
)
def test_an_invalid_sleep_is_refused_in_a_line(
    sleep: Any, message: str, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_sleeper(tmp_path, sleep, {})
    shown = run_device(micropython_command, tmp_path, heap="192k")
    assert "Traceback" not in shown
    assert message in shown


def test_a_board_without_lightsleep_reports_it(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_sleeper(tmp_path, USUAL, {})
    fake = tmp_path / "lib" / "machine.py"
    fake.write_text(fake.read_text().replace("def lightsleep", "def doze"))
    shown = run_device(micropython_command, tmp_path, heap="192k")
    assert "has no machine.lightsleep" in shown


def test_sleep_needs_a_sensor_of_the_board(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_sleeper(tmp_path, USUAL, {}, sensor={"kind": "serial"})
    shown = run_device(micropython_command, tmp_path, heap="192k")
    assert "sleep is for a sensor" in shown

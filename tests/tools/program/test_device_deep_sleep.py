"""A program that sleeps deeply between its samples, in a real MicroPython with a simulated board.

A deep sleep ends MicroPython, as a chip loses its RAM; the test starts it again.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import Device, connected, run_device
from patience import PATIENCE
from sleeping_support import SENSOR, USUAL, live, put_sleeper, waking

from microshrub_tools.link.messages import FINGERPRINT, STATUS, DeviceStatus, Fingerprint

Start = Callable[..., Device]
DEEP = USUAL | {"window": 1, "hold": 5, "deep": 20}
CHECKPOINT = {"path": "checkpoint", "seconds": 240}
LABELS = {"pin": 14, "pressed": 1, "released": 0}
PARTS = ("window", "hop", "zero", "filters", "statistics", "bands", "plain")
RARE = SENSOR | {"rate": "1/60"}
MORE = {"sensor": RARE, "checkpoint": CHECKPOINT, "label_pin": LABELS}
BOARD = {"seconds": 920, "pressed": [[300, 450], [600, 700]]}


@pytest.fixture
def start(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Start]:
    devices: list[Device] = []

    def start(sleep: dict[str, Any], board: dict[str, Any], **more: Any) -> Device:
        folder = tmp_path / str(len(devices))
        folder.mkdir(exist_ok=True)
        put_sleeper(folder, sleep, board, **MORE | more)
        devices.append(Device(micropython_command, folder, "192k"))
        return devices[-1]

    yield start
    for device in devices:
        device.close()


def crc(device: Device) -> int:
    with connected(device) as link:
        answer = link.ask(FINGERPRINT)
    assert isinstance(answer, Fingerprint)
    return answer.crc32


def test_it_learns_the_same_as_a_board_that_keeps_its_ram(start: Start, tmp_path: Path) -> None:
    """The states are equal to the bit; the board sleeps nearly always, and counts its sleep."""
    deep = start(DEEP, BOARD)
    status, board = slept(deep, tmp_path / "0")
    light = start(USUAL, BOARD)
    expected, _ = live(light, tmp_path / "1")
    assert crc(deep) == crc(light)
    fields = ("samples", "right", "accuracy", "kappa", "pending", "missed")
    assert [getattr(status, name) for name in fields] == [
        getattr(expected, name) for name in fields
    ]
    assert status.samples == 12  # the first four are only observed, before anything is saved
    assert status.checkpoint == 13
    assert status.asleep == pytest.approx(board["asleep"], abs=60)  # the last sleep is not over
    assert 920 - 11 * 4 - 30 < board["asleep"] < 920 - 11 * 3
    assert status.uptime == pytest.approx(board["seconds"], abs=60)


def slept(device: Device, folder: Path) -> tuple[DeviceStatus, dict[str, int]]:
    """Return the same as live(), for a board that may sleep deeply."""
    with waking(device, folder):
        return live(device, folder)


def test_where_samples_come_too_often_the_board_keeps_its_ram(
    start: Start, tmp_path: Path
) -> None:
    """Fewer than `deep` seconds are left until the next sample."""
    status, board = slept(start(DEEP | {"deep": 90}, BOARD), tmp_path / "0")
    assert not (tmp_path / "0" / "asleep.json").exists()
    assert status.samples == 12
    assert status.asleep == pytest.approx(board["asleep"], abs=2)


def test_where_nothing_can_be_saved_the_board_keeps_its_ram_and_reports_it(
    start: Start, tmp_path: Path
) -> None:
    """It reports twice per sample, after its label and before its sleep, not once a second."""
    device = start(DEEP, BOARD, checkpoint=CHECKPOINT | {"path": "nowhere/checkpoint"})
    output, failed = b"", b"was not saved to nowhere/checkpoint"
    end = time.monotonic() + PATIENCE
    with waking(device, tmp_path / "0"):
        port = os.open(device.port, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        # A terminal delivers output some time later
        while not (tmp_path / "0" / "ended.json").exists() or output.count(failed) < 10:
            assert time.monotonic() < end, output
            with contextlib.suppress(BlockingIOError):
                output += os.read(port, 4096)
        os.close(port)
        status, _ = live(device, tmp_path / "0")
    assert not (tmp_path / "0" / "asleep.json").exists()
    assert (status.samples, status.missed) == (12, 0)
    assert output.count(failed) <= 30


def test_a_button_wakes_the_board_and_keeps_it_awake(start: Start, tmp_path: Path) -> None:
    """A press ends a deep sleep, which is not counted; the usual seconds awake follow."""
    sleep = DEEP | {"pin": 15, "hold": 40}
    board = {"seconds": 500, "pressed": [[330, 335]], "port": "esp32"}
    status, ended = slept(start(sleep, board, label_pin=None), tmp_path / "0")
    assert status.pending > 4
    asleep = ended["asleep"] - status.asleep
    assert 60 - 40 < asleep < 90  # the interrupted sleep, and the current one
    untouched, other = slept(start(sleep, board | {"pressed": []}, label_pin=None), tmp_path / "1")
    assert other["asleep"] - ended["asleep"] > 35
    assert untouched.pending in (status.pending, status.pending - 1)


def test_a_pc_is_heard_after_each_sleep_and_keeps_the_board_awake(
    start: Start, tmp_path: Path
) -> None:
    sleep = DEEP | {"window": 5, "hold": 3600}  # seconds pass at once
    device = start(sleep, {"seconds": 40_000_000}, sensor=SENSOR | {"rate": "1/30"})
    with waking(device, tmp_path / "0"):
        while not (tmp_path / "0" / "asleep.json").exists():
            time.sleep(0.05)
        with connected(device) as link:
            first, again = link.ask(STATUS), link.ask(STATUS)
    assert isinstance(first, DeviceStatus)
    assert isinstance(again, DeviceStatus)
    assert first.asleep > 0
    assert again.uptime >= first.uptime


def test_without_power_only_the_checkpoint_remains(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "0"
    device = start(DEEP, {"seconds": 400})
    before, _ = slept(device, folder)
    device.kill()
    for name in ("asleep.json", "ended.json"):
        (folder / name).unlink()
    device.start()
    after, board = slept(device, folder)
    assert after.samples > before.samples > 0
    assert after.uptime <= board["seconds"] + 2


NOT_AT_ONCE = """
class Late:
    names = ("a", "b")

    def __init__(self, board):
        self._asked = 0

    def read(self, values):
        self._asked += 1
        values[0] = values[1] = self._asked
        return self._asked % 4 == 0
"""


def test_a_sensor_that_is_not_ready_at_once_is_read_again(start: Start, tmp_path: Path) -> None:
    """An example is a sensor that needs five seconds after its start."""
    sensor = {"kind": "own", "module": "late", "class": "Late", "values": 2, "rate": "1/60"}
    lib = tmp_path / "0" / "lib"
    lib.mkdir(parents=True)
    (lib / "late.py").write_text(NOT_AT_ONCE)
    status, _ = slept(start(DEEP, BOARD, sensor=sensor | {"options": {}}), tmp_path / "0")
    assert (tmp_path / "0" / "asleep.json").exists()
    assert status.samples >= 9


@pytest.mark.parametrize(
    ("sleep", "more", "message"),
    [
        (DEEP | {"deep": 0}, {}, "sleep's deep has to be a whole number of 1..86400"),
        (DEEP, {"checkpoint": None}, "sleep's deep needs a checkpoint"),
        (DEEP, {"extraction": dict.fromkeys(PARTS, 1)}, "and no extraction"),
    ],
)
def test_an_impossible_sleep_is_refused_in_a_line(
    sleep: dict[str, Any],
    more: dict[str, Any],
    message: str,
    micropython_command: tuple[str, ...],
    tmp_path: Path,
) -> None:
    put_sleeper(tmp_path, sleep, {}, **MORE | more)
    shown = run_device(micropython_command, tmp_path, heap="192k")
    assert "Traceback" not in shown
    assert message in shown


def test_a_board_without_deep_sleep_reports_it(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_sleeper(tmp_path, DEEP, {}, **MORE)
    fake = tmp_path / "lib" / "machine.py"
    fake.write_text(fake.read_text().replace("def deepsleep", "def doze"))
    shown = run_device(micropython_command, tmp_path, heap="192k")
    assert "has no machine.deepsleep" in shown

"""A device in the real 32-bit MicroPython with a simulated `machine`, `time` and `select`."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from device_support import Device, configuration, put_device
from patience import PATIENCE

from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import STATUS, DeviceStatus
from microshrub_tools.link.serial_line import SerialLine

BOARD = Path(__file__).with_name("sleeping_board")  # modules that replace MicroPython's
SHAPE = {"features": 2, "classes": 2, "window": 8, "trees": 2, "depth": 2}
SENSOR = {"kind": "adc", "pins": [26, 27], "rate": 1}
USUAL = {"every": 60, "window": 2, "hold": 10}


def put_sleeper(
    folder: Path, sleep: dict[str, Any] | None, board: dict[str, Any], **more: Any
) -> None:
    fields = {"sensor": SENSOR, "warmup": 4, "sleep": sleep} | more
    put_device(folder, configuration("ShrubEnsemble", SHAPE, **fields))
    for source in BOARD.glob("*.py"):
        shutil.copy(source, folder / "lib")
    usual = {"seconds": 600, "sample_us": 5000, "pressed": [], "lightsleep": "sleeps",
        "wake_ms": 700, "start_ms": 1600, "port": "rp2"}  # fmt: skip
    (folder / "board.json").write_text(json.dumps(usual | board))


@contextmanager
def waking(device: Device, folder: Path) -> Iterator[None]:
    """Start the device again each time that it has gone to deep sleep."""
    over = threading.Event()

    def wake() -> None:
        while not over.is_set():
            try:
                device.process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
            if not over.is_set() and (folder / "asleep.json").exists():
                device.start()

    thread = threading.Thread(target=wake)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def live(device: Device, folder: Path) -> tuple[DeviceStatus, dict[str, int]]:
    """Return the program's status at the end of the simulated time, and the board's own counts."""
    ended = folder / "ended.json"
    end = time.monotonic() + PATIENCE
    while not ended.exists():
        asleep = (folder / "asleep.json").exists()
        assert asleep or device.process.poll() is None, "the program has ended"
        assert time.monotonic() < end, "the board's time did not pass"
        time.sleep(0.02)
    with HostLink(SerialLine(device.port)) as link:
        link.connect()
        status = link.ask(STATUS)
    assert isinstance(status, DeviceStatus)
    return status, json.loads(ended.read_text())

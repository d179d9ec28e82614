"""A board on a cable, for the page; its MPU-6050 makes the gesture that a test wants.

The board is a real 32-bit MicroPython with the device's program, behind the bridge.
"""

from __future__ import annotations

import contextlib
import json
import math
import threading
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from browser_support import Browser
from device_support import configuration, put_device
from line_support import Cable, Ends
from playground_support import choose
from recorded_board import observe
from teach_support import begin, name, press

from microshrub_tools.board.pc_board import PcBoard
from microshrub_tools.board.simulated_board import write_sensors
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.web.bridge import Bridge, of_port

AXES = ("ax", "ay", "az", "gx", "gy", "gz")
RATE = 50  # readings a second
MOTION = {
    "kind": "mpu6050", "scl": 1, "sda": 0, "i2c": 0, "address": 104,
    "rate": RATE, "axes": 6, "fifo": False,
}  # fmt: skip
STATUS = "document.querySelector('#learn-me-status')"
GRAVITY = 16384
WINDOWS = 600  # bytes of readings: more than one window
# Runs before the page, and counts the bytes of readings that arrive
COUNTED = """
window.came = 0;
window.Worker = class extends Worker {
  postMessage(order) {
    if (order.name === "readings") came += order.payload.data.length;
    super.postMessage(order);
  }
};
"""


def readings(gesture: str) -> list[list[int]]:
    """Return a second of a gesture; each reading ends with a label that is not used."""
    wide, high = {"across": (9000, 500), "up": (500, 9000), "rest": (0, 0)}[gesture]
    rows = []
    for i in range(RATE):
        turn = 2 * math.pi * 3 * i / RATE
        x, y = wide * math.cos(turn), high * math.sin(turn)
        rows.append([*map(round, (x, y, GRAVITY + 40 * (i % 3), y / 9, x / 9, 0)), i % 2])
    return rows


class Gesturing:
    """The board. Its sensor reads each row from the file, so a test can change the gesture."""

    def __init__(self, command: tuple[str, ...], folder: Path) -> None:
        """Prepare the board with the files in folder/flash."""
        self.flash = folder / "flash"
        recording = folder / "gestures.csv"
        rows = [",".join(map(str, row)) for row in readings("rest")]
        recording.write_text("\n".join([",".join([*AXES, "label"]), *rows, ""]))
        sensors = write_sensors(folder, recording, RATE, {})
        self._rows = Path(json.loads(sensors.read_text())["rows"])
        self.board = PcBoard(command, self.flash, "1m", sensors=sensors)
        self.port = self.board.port

    def play(self, gesture: str) -> None:
        """Make this gesture from now on."""
        with self._rows.open("r+b") as file:
            file.write(array("i", [value for row in readings(gesture) for value in row]).tobytes())


def motion_program(**fields: Any) -> dict[str, Any]:
    """Return the config.json of a program that sends and prints the readings of its MPU-6050."""
    names = fields.pop("feature_names", list(AXES))
    shape = {"features": len(names), "classes": 2, "bytes": 8192, "seed": 0}
    given = {"feature_names": names, "sensor": MOTION, "warmup": None, "text": True}
    return configuration("Thicket", shape, **given | fields)


@contextlib.contextmanager
def gesturing(
    command: tuple[str, ...],
    folder: Path,
    config: dict[str, Any] | None = None,
    files: dict[str, bytes] | None = None,
) -> Iterator[Gesturing]:
    """The board with a program of that configuration, or with these files."""
    flash = folder / "flash"
    flash.mkdir(parents=True)
    put_device(flash, files["config.json"] if files else config or motion_program())
    for path, data in (files or {}).items():
        (flash / path).write_bytes(data)
    device = Gesturing(command, folder)
    with device.board:
        yield device


@contextlib.contextmanager
def bridged(port: str) -> Iterator[Bridge]:
    """A bridge to the port; the bridge serves the page."""
    bridge = of_port(port, 115200, 0)
    thread = threading.Thread(target=bridge.run, daemon=True)
    thread.start()
    try:
        yield bridge
    finally:
        bridge.stop()
        thread.join()


@contextlib.contextmanager
def pulled_cable(folder: Path, port: str) -> Iterator[tuple[Cable, Bridge]]:
    """A cable to the port that a test can pull, and the bridge at its other end."""
    other = folder / "port"
    with Cable(other, Ends(port)) as cable, bridged(str(other)) as bridge:
        yield cable, bridge


def open_page(page: Browser, address: str) -> None:
    """Open the page again, with the board as the sensor."""
    page.open("about:blank")
    with page.before_pages(COUNTED):
        page.open(address)
        page.wait("!!document.querySelector('#start')")
    choose(page, "source", "board")


def begun(page: Browser, address: str, names: str = "across, up") -> None:
    """Open the page again, and start reading the board's sensor."""
    open_page(page, address)
    name(page, names)
    begin(page)


def make(page: Browser, board: Gesturing, text: str) -> None:
    """Make the board play a gesture until a window holds nothing else."""
    board.play(text)
    page.wait(f"came >= {page.run('came') + WINDOWS}")


def samples_of(text: str) -> str:
    """Return a JavaScript expression for the number of samples taught of a class."""
    return (
        "+[...document.querySelectorAll('.hand button')].find((each) => "
        f"each.firstChild.textContent === '{text}').querySelector('.count').textContent"
    )


def teach(page: Browser, board: Gesturing, text: str, samples: int = 24) -> None:
    """Teach one gesture until at least `samples` more samples are learned."""
    press(page, "only predict")
    make(page, board, text)
    before = page.run(samples_of(text))
    press(page, text)
    page.wait(f"{samples_of(text)} >= {before + samples}")


SAMPLED = """
(async () => {
  const texts = [];
  for (let i = 0; i < 15; i++) {
    await new Promise((resolve) => setTimeout(resolve, 160));
    texts.push(document.querySelector("#said").textContent);
  }
  return texts;
})()
"""


def recognised(page: Browser, board: Gesturing, text: str) -> list[str]:
    """Return the classes that the page recognises in a gesture."""
    make(page, board, text)
    return list(page.run(SAMPLED))


def put(page: Browser, button: str) -> None:
    """Put a program on the board with the button of that name."""
    page.run(f"document.querySelector('#{button}').click()")
    status = f"document.querySelector('#{button}-status')"
    page.wait(f"!!{status}.className")
    assert page.run(f"{status}.className") == "good", page.run(f"{status}.textContent")


def check_alone(board: Gesturing, *names: str) -> None:
    """Check that the board's program recognises these gestures; the names are in class order."""
    with HostLink(SerialLine(board.port)) as link:
        link.connect()
        for label, text in enumerate(names):
            board.play(text)
            observe(link, 8)  # until a window holds nothing else
            seen = observe(link, 12)
            assert sum(each.prediction.label == label for each in seen) >= 10

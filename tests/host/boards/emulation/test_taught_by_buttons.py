"""A Cortex-M0 without a model, trained class after class by buttons, then left alone.

The processor and its pins are QEMU's. The sensor is a file of readings; the loop is that of a
user's own program, as in docs/how-to/use-in-your-own-program.md, with a button for each class.
"""

from __future__ import annotations

import json
from array import array
from binascii import unhexlify
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_support import configuration
from emulated_support import ON_PINS, PressedBoard
from patience import PATIENCE

from microshrub_host.boards import emulated_boards
from microshrub_host.library import loader
from microshrub_host.programs import mpy

FEATURES, CLASSES = 3, 3
EACH, LOST, ASKED, AT_ONCE = 25, 40, 500, 5
PIECE = 512
PINS = (17, 26, 20)  # the first two are the buttons of a micro:bit
ON_BOARD = f"""
import gc
gc.threshold(2048)  # so that what comes and goes does not spread over the heap
from binascii import hexlify
from os import listdir
from microshrub.device.config import Configuration
from microshrub.device.application import Application
{ON_PINS}
with open("/config.json") as file:
    app = Application(Configuration(file.read().encode()), "/")
print(app.begin())
buttons = [Board().button(pin) for pin in {PINS}]
rows = open("/rows", "rb")

def tell():
    print(str(hexlify(told.read({PIECE})), "ascii"))

gc.collect()

said = bytearray(2 * {AT_ONCE})  # the heap has no room for more

def button_label():
    for c in range({CLASSES}):
        if not buttons[c].value():
            return c
    return -1

def live(samples):
    for i in range(samples):
        k = i % {AT_ONCE}
        rows.readinto(app.values)
        said[2 * k] = app.sample(button_label())
        said[2 * k + 1] = app.confidence
        if k == {AT_ONCE} - 1:
            print(str(hexlify(said), "ascii"))
"""


def readings(rng: Any, labels: list[int]) -> Any:
    """Return readings in which each class lies outside the ranges of the others."""
    centre = np.array([(1000, 0, 50), (-400, 9000, 60), (200, -300, -70000)])
    return np.rint(rng.normal(centre[labels], (80, 70, 90))).astype(np.int32)


class Twin:
    """The same program in the simulator, with a folder as its flash."""

    def __init__(self, folder: Path, config: bytes) -> None:
        device: Any = loader.load(loader.fastest()).device
        made = device.config.Configuration(config)
        self.app = device.application.Application(made, f"{folder}/")
        self.app.begin()

    def live(self, rows: Any, label: int = -1) -> bytes:
        written = bytearray()
        for row in rows.tolist():
            self.app.values[:] = array("i", row)
            written += bytes((self.app.sample(label), self.app.confidence))
        return bytes(written)


def files_of(board: PressedBoard) -> dict[str, bytes]:
    """Return the checkpoints on the board's disk."""
    names = board.exec("print(*[name for name in listdir('/') if 'checkpoint' in name])").split()
    return {f"/{name}": read(board, f"/{name}") for name in names}


def read(board: PressedBoard, path: str) -> bytes:
    """Return a file of the board's disk, read in pieces that fit the serial line's buffer."""
    board.exec(f"told = open({path!r}, 'rb')")
    data = b""
    while piece := unhexlify(board.exec("tell()", PATIENCE).strip()):
        data += piece
    return data


@pytest.mark.long
def test_it_predicts_as_the_simulator_also_after_a_power_cut(tmp_path: Path) -> None:
    try:
        emulator = emulated_boards.find_or_build("cortex-m0")
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    parameters = {"features": FEATURES, "classes": CLASSES, "bytes": 5120}
    checkpoint = {"path": "checkpoint", "seconds": 240}
    content = configuration("Thicket", parameters, warmup=None, checkpoint=checkpoint)
    config = json.dumps(content).encode()
    rng = np.random.default_rng(4)
    labels = rng.integers(0, CLASSES, 2 * ASKED).tolist()
    taught = [readings(rng, [c] * EACH) for c in range(CLASSES)]
    lost = readings(rng, [0] * LOST)
    later = readings(rng, labels)
    library = {f"/{mpy.in_library(path)}": path.read_bytes() for path in mpy.compiled("armv6m")}
    files = {**library, "/config.json": config}

    def live(board: PressedBoard, samples: int) -> bytes:
        return unhexlify("".join(board.exec(f"live({samples})", 300).split()))

    twin = Twin(tmp_path, config)
    before = np.concatenate([*taught, later[:ASKED], lost])
    with PressedBoard(emulator, {**files, "/rows": before.tobytes()}) as board:
        assert "missing" in board.exec(ON_BOARD, 300)
        for c, pin in enumerate(PINS):
            board.press(pin)
            assert live(board, EACH) == twin.live(taught[c], c)
            board.press(pin, False)
        first = live(board, ASKED)
        assert first == twin.live(later[:ASKED])
        board.exec("app.checkpoint()", 60)
        twin.app.checkpoint()
        flash = files_of(board)
        board.press(PINS[2])  # a wrong label, without effect: the power is cut before it is saved
        assert live(board, LOST) == twin.live(lost, 2)
    twin = Twin(tmp_path, config)
    with PressedBoard(emulator, {**files, **flash, "/rows": later[ASKED:].tobytes()}) as board:
        assert "checkpoint 1 restored" in board.exec(ON_BOARD, 300)
        second = live(board, ASKED)
        assert second == twin.live(later[ASKED:])
        crc = int(board.exec("print(app.state_crc32() & 0xFFFFFFFF)"))
    assert crc == twin.app.state_crc32() & 0xFFFFFFFF
    assert np.mean(np.frombuffer(first + second, np.uint8)[::2] == labels) > 0.95

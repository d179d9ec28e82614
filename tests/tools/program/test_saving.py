"""Checkpoints of a board with a sensor, which works between the operations of its flash.

The flash is littlefs in RAM that takes time on the board's clock, as a Pico's does: 45 ms to erase
a sector, 0.4 ms to write a page. Only these waits advance the clock.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from device_support import configuration

Run = Callable[[str], str]

SENSOR: dict[str, Any] = {"kind": "own", "module": "mine", "class": "Mine", "values": 3}
SENSOR |= {"rate": 50, "options": {}}
THICKET = {"features": 3, "classes": 2, "bytes": 46_500}
CHECKPOINT = {"path": "checkpoint", "seconds": 240}
PIN = {"pin": 5, "pressed": 1, "released": 0}
FIELDS: dict[str, Any] = {
    "sensor": SENSOR,
    "checkpoint": CHECKPOINT,
    "label_pin": PIN,
    "warmup": 9,
}
BOARD = """
import json, os, sys
from microshrub.device.service import Service

class Clock:
    now = 1000
    def milliseconds(self):
        return self.now // 1000
    def microseconds(self):
        return self.now

class Board(Clock):
    def button(self, pin):
        return self
    def value(self):
        return self.now // 300000 % 2

board = Board()

class Flash:
    erases = []
    def __init__(self):
        self.data = bytearray(200 * 4096)
    def readblocks(self, block, buffer, offset=0):
        at = block * 4096 + offset
        memoryview(buffer)[:] = memoryview(self.data)[at : at + len(buffer)]
    def writeblocks(self, block, buffer, offset=0):
        at = block * 4096 + offset
        memoryview(self.data)[at : at + len(buffer)] = buffer
        board.now += 400 * (len(buffer) // 256)
    def ioctl(self, what, block):
        if what == 6:
            at = block * 4096
            memoryview(self.data)[at : at + 4096] = b"\\xff" * 4096
            board.now += 45000
            self.erases.append(board.now)
        return {4: 200, 5: 4096}.get(what, 0)

flash = Flash()
os.VfsLfs2.mkfs(flash, progsize=256)
os.mount(os.VfsLfs2(flash, progsize=256), "/flash")
with open("/flash/config.json", "w") as file:
    file.write(json.dumps(CONFIG))

class Mine:
    names = ("x", "y", "z")
    read_at = []
    def __init__(self, board):
        self.random = 1
    def read(self, values):
        for k in range(3):
            self.random = self.random * 1103 % 1048573
            values[k] = self.random % 1000 + 300 * (board.now // 300000 % 2)
        self.read_at.append(board.now)
        return True


class Module:
    pass
mine = Module()
mine.Mine = Mine
sys.modules["mine"] = mine

class Inputs:
    tens = 0
    def take(self, link, milliseconds):
        board.now += max(milliseconds, 0) * 1000 + 300
        if board.now // 10000000 > self.tens:  # labels never pause: have it save each 10 seconds
            self.tens += 1
            self.store._age = 45000
        if len(Mine.read_at) >= READINGS:
            raise KeyboardInterrupt

def serve():
    Mine.read_at.clear()
    flash.erases.clear()
    inputs = Inputs()
    inputs.tens = board.now // 10000000
    service = Service(board, "/flash/", inputs, print)
    inputs.store = service._app.store
    try:
        service.serve()
    except KeyboardInterrupt:
        pass
    return service._app

def gaps():
    at = Mine.read_at
    return [at[k + 1] - at[k] for k in range(len(at) - 1)]
"""


def board(run: Run, config: dict[str, Any], readings: int, code: str) -> list[str]:
    """Return the output of the code on a board with this configuration."""
    text = json.dumps(config)
    head = f"import json\nCONFIG, READINGS = json.loads({text!r}), {readings}\n"
    return run(head + BOARD + code).splitlines()


def test_readings_continue_while_a_checkpoint_is_saved(run_micropython: Run) -> None:
    code = """
app = serve()
lengths = gaps()
print("GAPS:", max(lengths), len(flash.erases), app.pace.missed, app.store.number())
print("LEARNED:", app.metrics.samples, app.pending.waiting, app.saving.held)
words = [0] * 18
app.status(words)
print("STATUS:", words[14])
"""
    lines = board(run_micropython, configuration("Thicket", THICKET, **FIELDS), 1100, code)
    words = {line.partition(":")[0]: line.partition(":")[2].split() for line in lines}
    figures = {name: [int(word) for word in words[name]] for name in ("GAPS", "LEARNED", "STATUS")}
    longest, erases, missed, number = figures["GAPS"]
    assert number == 2
    assert erases >= 20
    assert longest < 150_000  # in one go, it takes 0.6 s
    assert missed <= 3 * erases
    assert figures["STATUS"] == [missed]
    learned, _, held = figures["LEARNED"]
    assert (learned, held) == (1100 - 9, 0)


def test_a_checkpoint_has_the_state_of_its_beginning(run_micropython: Run) -> None:
    """After a power cut, the board continues with a learner that all of its samples have made."""
    code = """
from array import array
from microshrub.device.saving import Saving
states = []
begin, step = Saving.begin, Saving._step
row = array("H", [1, 2, 3])
def state(app):
    app.learner.predict(row)  # the votes are those of the last prediction
    return app.learner.state_crc32(), app.metrics.samples
def noted(saving):
    begin(saving)
    states.append(state(saving._app))
Saving.begin = noted
app = serve()
READINGS = 0
again = serve()
print("SAME", again.store.number(), states[-1] == state(again))
"""
    config = configuration("ShrubEnsemble", {"features": 3, "classes": 2}, **FIELDS)
    lines = board(run_micropython, config, 1600, code)
    assert "SAME 3 True" in lines, lines[-3:]


def test_late_labels_and_resets_during_a_save_keep_a_valid_state(run_micropython: Run) -> None:
    """A reset, a late label and a requested checkpoint each come in the middle of a save."""
    code = """
from microshrub.device.saving import Saving
step = Saving._step
acts = []
def stepped(saving):
    message = step(saving)
    app = saving._app
    if saving._steps and app.store.number() == len(acts):
        acts.append(saving.held)
        if len(acts) == 1:
            app.checkpoint()
        elif len(acts) == 2:
            app.label(app.pending.add(app._codes, 0), 1)
        else:
            app.reset()
    return message
Saving._step = stepped
app = serve()
print("ACTS", len(acts), app.metrics.samples < 1600, app.saving.held)
"""
    config = configuration("ShrubEnsemble", {"features": 3, "classes": 2}, **FIELDS)
    lines = board(run_micropython, config, 1600, code)
    assert not [line for line in lines if "Traceback" in line]
    assert any(line.startswith("ACTS") and line.endswith(" 0") for line in lines)


def test_without_room_for_pending_labels_no_label_is_lost(run_micropython: Run) -> None:
    code = """
app = serve()
print("LEARNED", app.metrics.samples, app.store.number())
"""
    config = configuration("Thicket", THICKET, pending=3, **FIELDS)
    assert "LEARNED 1091 2" in board(run_micropython, config, 1100, code)

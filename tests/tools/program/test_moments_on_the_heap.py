"""What the program puts on the heap, even for a moment: nothing, once it serves.

A function of MicroPython with more than eleven words of state has its frame on the heap, and looks
for room there with each call: 0.3 ms on a Pico whose heap is nearly full. micropython.mem_total()
counts all bytes that were ever asked for. Ranges that freeze are not here: Quantizer.encode() has
such a frame.
"""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import configuration, put_device

from microshrub_tools.link.frames import Frame, pack
from microshrub_tools.link.messages import (
    HELLO,
    STATUS,
    Request,
    confusion,
    late_label,
    sample,
)

FEATURES, CLASSES = 3, 2
SHAPE: dict[str, Any] = {"features": FEATURES, "classes": CLASSES}
THICKET = ("Thicket", SHAPE | {"bytes": 6000})
PROGRAMS: dict[str, tuple[tuple[str, dict[str, Any]], dict[str, Any]]] = {
    "thicket": (THICKET, {"warmup": None}),
    "thicket, alarm": (THICKET, {"warmup": None, "alarm": {"detector": "adwin"}}),
    "thicket, text": (THICKET, {"warmup": None, "text": True}),
    "switches": (THICKET, {"warmup": None, "switches": [[1], [2, 3]]}),
}
SAMPLES = 200
SERVED = """
import gc, sys
sys.path.insert(0, "lib")
from binascii import unhexlify
from micropython import mem_total
from microshrub.device.config import Configuration
from microshrub.device.device_model import Application
from microshrub.device.link import Link

class Light:
    def value(self, high):
        pass

class Board:
    def light(self, pin):
        return Light()

class Written:
    def write(self, data, n):
        pass

class Output:
    buffer = Written()

class System:
    stdout = Output()

with open("config.json") as file:
    app = Application(Configuration(file.read().encode()), "")
if app.configuration.switches:
    from microshrub.device.switches import follow
    follow(app, Board())
if app.configuration.text:
    from microshrub.device import plotter
    plotter.sys = System
    app.plotter = plotter.Plotter(app.configuration.feature_names)
app.begin()
link = Link(app, lambda data, n: None)
with open("frames") as file:
    rounds = [[bytearray(unhexlify(frame)) for frame in line.split()] for line in file]
gc.collect()
for k in range(len(rounds)):
    most = 0
    for frame in rounds[k]:
        before = mem_total()
        link.feed(frame, len(frame))
        most = max(most, mem_total() - before)
    for label in (-1, 0, 1):
        before = mem_total()
        link.observe(app.sample(label), label)
        app.tick(20 * k)
        most = max(most, mem_total() - before)
    print(most)
"""


def rounds() -> Iterator[list[Request]]:
    """The first makes all that lasts; the others are one kind of request each."""
    rows = [[37 * k % 1000, 41 * k % 900, k % 7] for k in range(SAMPLES)]
    labelled = [sample(row, k % CLASSES) for k, row in enumerate(rows)]
    status = [STATUS, *(confusion(c) for c in range(CLASSES))] * 5
    ids = itertools.count(1)

    def late() -> list[Request]:
        pairs = [(sample(row), late_label(next(ids), k % CLASSES)) for k, row in enumerate(rows)]
        return [request for pair in pairs for request in pair]

    yield [*labelled, *late(), *status]
    for kind in (labelled, late, status):
        next(ids)  # that of the board's own sample without a label
        yield kind() if callable(kind) else kind


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_put_on_the_heap(
    name: str, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    model, fields = PROGRAMS[name]
    put_device(tmp_path, configuration(*model, **fields), compiled=False)
    sequence = itertools.count(1)
    lines = [
        [pack(Frame(each.kind, 77, next(sequence), each.payload)).hex() for each in requests]
        for requests in rounds()
    ]
    lines[0].insert(0, pack(Frame(HELLO, 77, 0, b"")).hex())
    (tmp_path / "frames").write_text("\n".join(map(" ".join, lines)))
    (tmp_path / "served.py").write_text(SERVED)
    run = (*micropython_command, "served.py")
    said = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not said.stderr
    assert [int(line) for line in said.stdout.split()][1:] == [0, 0, 0]

"""A program that serves allocates nothing on the heap, not even for a moment.

A MicroPython function with more than eleven words of state has its frame on the heap, and
searches for room there with each call: 0.3 ms on a Pico whose heap is nearly full.
micropython.mem_total() counts all bytes that were ever allocated.
"""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from device_support import configuration, put_device

from microshrub_host.library import loader
from microshrub_host.simulation.guarantee import Guarantee
from microshrub_tools.link.class_messages import tell
from microshrub_tools.link.frames import Frame, pack
from microshrub_tools.link.messages import (
    HELLO,
    QUERIES,
    STATUS,
    Request,
    anomaly,
    classes,
    companion_words,
    confusion,
    late_label,
    regression,
    sample,
)

FEATURES, CLASSES = 3, 2
SHAPE: dict[str, Any] = {"features": FEATURES, "classes": CLASSES}
THICKET = ("Thicket", SHAPE | {"bytes": 6000})
SHRUB = ("ShrubEnsemble", SHAPE | {"window": 8, "trees": 2, "depth": 2})
SPARE = ("Thicket", SHAPE | {"classes": 4, "bytes": 6000})
SPARE_CLASSES = {"classes": 2, "room": 16, "collect": 3}
GUARANTEE = Guarantee(80)


@dataclass(frozen=True)
class Program:
    """A learner, further fields of config.json, and a monitor's further requests each second."""

    model: tuple[str, dict[str, Any]]
    fields: dict[str, Any]
    asked: tuple[Request, ...] = ()
    growth: int = 1  # factor between the values of a round and of the round before


def forecasting(horizon: int) -> Program:
    """Return a program that forecasts the second value of its samples, `horizon` samples ahead."""
    columns = {"columns": FEATURES, "column": 1, "ends": [-500, 1500]}
    options = {"horizon": horizon, "lags": 2 if horizon else 1, "interval": 90}
    shape = {"features": 4 if horizon else 2, "late": max(horizon - 1, 0), "bytes": 3000}
    fields: dict[str, Any] = {
        "parameters": shape,
        "regression": columns | options,
        "quantizer": "quantizer.state",
    }
    fields["class_names"] = None
    return Program(("ThicketRegressor", SHAPE), fields, (regression(predictions=True),))


PROGRAMS = {
    "thicket": Program(THICKET, {"warmup": None}),
    "ranges that grow": Program(THICKET, {"warmup": None}, growth=20),
    "thicket, alarm": Program(THICKET, {"warmup": None, "alarm": {"detector": "adwin"}}),
    "thicket, text": Program(THICKET, {"warmup": None, "text": True}),
    "switches": Program(THICKET, {"warmup": None, "switches": [[1], [2, 3]]}),
    "ranges that freeze": Program(THICKET, {"warmup": 50}),
    "shrub": Program(SHRUB, {"warmup": 50}),
    "Hoeffding tree": Program(
        ("HoeffdingTree", SHAPE | {"nodes": 31, "leaves": 8}), {"warmup": 50}
    ),
    "anomaly": Program(
        SHRUB,
        {"warmup": 50, "text": True, "anomaly": {"period": 100, "window": 32, "reach": 4}},
        (anomaly(scores=True),),
    ),
    "queries": Program(
        THICKET, {"warmup": None, "text": True, "queries": {"labels": 1, "samples": 5}}, (QUERIES,)
    ),
    "guarantee": Program(
        SHRUB, {"warmup": 50, "watchers": {GUARANTEE.name: GUARANTEE.row}}, (companion_words(0),)
    ),
    "spare classes": Program(
        SPARE,
        {"warmup": 50, "spare_classes": SPARE_CLASSES, "class_names": list("abcd")},
        tuple(classes(tell(c)) for c in range(CLASSES)),
    ),
    "forecast": forecasting(horizon=7),
    "a number of now": forecasting(horizon=0),
}
SAMPLES = 200
UNLABELLED = 20  # own samples of the board with each label, after each kind of request
SERVED = """
import gc, sys
sys.path.insert(0, "lib")
from binascii import unhexlify
from micropython import mem_total
from microshrub.device.config import Configuration
from microshrub.device.application import Application
from microshrub.device.link import Link
from array import array

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
    configuration = Configuration(file.read().encode())
if configuration.regression:
    from microshrub.device.regression_app import RegressionApp as Application
app = Application(configuration, "")
if configuration.switches:
    from microshrub.device.companions import make_for_board

    class Service:
        _app = app

    make_for_board(Service(), Board(), "")
if app.configuration.text:
    from microshrub.device import service
    service.sys = System
    app.plotter = service.Plotter(app.configuration.feature_names)
for companion in app.companions:
    if hasattr(companion, "attach"):
        companion.attach(Board(), None, None)
app.begin()
link = Link(app, lambda data, n: None)
with open("frames") as file:
    rounds = [[bytearray(unhexlify(frame)) for frame in line.split()] for line in file]
labels = array("i", (-1,) if app.configuration.regression else (-1, 0, 1) * 20)
gc.collect()
for k in range(len(rounds)):
    most = 0
    for frame in rounds[k]:
        before = mem_total()
        link.feed(frame, len(frame))
        most = max(most, mem_total() - before)
    for label in labels:
        before = mem_total()
        link.observe(app.sample(label), label)
        if app.sample_id:
            app.label(app.sample_id, 1)
        app.tick(20 * k)
        most = max(most, mem_total() - before)
    print(most)
"""


def known_ranges(program: Program) -> bytes:
    """Return the saved state of a quantizer with known ranges."""
    features = program.fields["parameters"]["features"]
    saved: bytes = loader.load("python").Quantizer(features, [(-500, 1500)] * features).save()
    return saved


def rounds(program: Program) -> Iterator[list[Request]]:
    """Yield requests: the first round makes all lasting objects, each other one has one kind."""
    features = program.model[1]["features"]
    rows = [[(37 + f) * k % 1000 for f in range(features)] for k in range(SAMPLES)]
    larger = [[program.growth * value for value in row] for row in rows]
    largest = [[program.growth * value for value in row] for row in larger]
    plain = [sample(row) for row in largest]
    first = [sample(row, k % CLASSES) for k, row in enumerate(rows)]
    labelled = [sample(row, k % CLASSES) for k, row in enumerate(larger)]
    matrix = [confusion(c) for c in range(CLASSES)]
    if "regression" in program.fields:
        first, labelled, matrix = plain, plain, []
    status = [STATUS, *matrix, *program.asked] * 5
    ids = itertools.count(1)
    known = "regression" in program.fields or "queries" in program.fields

    def late() -> list[Request]:
        if known:  # the ids are known to the board alone, which has the labels
            return plain
        pairs = [(each, late_label(next(ids), k % CLASSES)) for k, each in enumerate(plain)]
        return [request for pair in pairs for request in pair]

    if program.growth == 1:
        yield [*first, *late(), *status]
    else:  # the other rounds have new values
        yield [*first, *status]
    for requests in (labelled, late, status):
        for _ in range(UNLABELLED):
            next(ids)  # the ids of the board's own samples without a label
        yield requests() if callable(requests) else requests


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_allocated(
    name: str, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    program = PROGRAMS[name]
    config = configuration(*program.model) | program.fields
    put_device(tmp_path, config, compiled=False)
    if program.fields.get("quantizer"):
        (tmp_path / "quantizer.state").write_bytes(known_ranges(program))
    sequence = itertools.count(1)
    lines = [
        [pack(Frame(each.kind, 77, next(sequence), each.payload)).hex() for each in requests]
        for requests in rounds(program)
    ]
    lines[0].insert(0, pack(Frame(HELLO, 77, 0, b"")).hex())
    (tmp_path / "frames").write_text("\n".join(map(" ".join, lines)))
    (tmp_path / "served.py").write_text(SERVED)
    run = (*micropython_command, "-X", "heapsize=512k", "served.py")
    result = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not result.stderr
    assert [int(line) for line in result.stdout.split()][1:] == [0, 0, 0]

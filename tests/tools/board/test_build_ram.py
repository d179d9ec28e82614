"""`build` counts the whole heap use of a program, as a running program reports it."""

from __future__ import annotations

import dataclasses
import subprocess
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import program_support
import pytest
from device_support import Device
from mqtt_support import free_port
from program_support import PROGRAM_FIELDS, blobs, number_program, program, x86

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files, import_heap, ram_budget
from microshrub_host.boards.heap_sizes import heap_bytes
from microshrub_host.boards.program_budget import budget_of, fitting
from microshrub_host.boards.program_library import ProgramLibrary
from microshrub_host.programs import mpy
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.simulation.pipeline import pipeline
from microshrub_host.streams.stream import Stream
from microshrub_tools.board import build, program_config
from microshrub_tools.board.program_mqtt import MqttSettings
from microshrub_tools.board.program_network import NetworkSettings, TcpSettings, WifiSettings
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import CHECKPOINT, STATUS, DeviceStatus
from microshrub_tools.link.serial_line import SerialLine

# Records the heap use before the program; its pins replace a board's
MAIN = """
import gc
import time

class Board:
    def milliseconds(self):
        return time.ticks_ms()
    def microseconds(self):
        return time.ticks_us()
    def adc(self, pin):
        return self
    def i2c(self, number, scl, sda):
        return self
    def writeto_mem(self, address, register, data):
        pass
    def readfrom_mem_into(self, address, register, buffer):
        buffer[-1] = 0
    def button(self, pin):
        return self
    def light(self, pin):
        return self
    def station(self):
        return None
    def of_machine(self, name):
        return 1 if name.endswith("RESET") else self.clock if name == "RTC" else self.milliseconds
    def clock(self):
        return self
    def memory(self):
        return b""
    def wake_by(self, button, deeper=None):
        pass
    def read_u16(self):
        return 7
    def value(self, level=None):
        return 1

board = Board()
gc.collect()
before = str(gc.mem_alloc())
with open("before", "w") as file:
    file.write(before)
del before, file
gc.collect()
from microshrub import main
main(board)
"""
CHECKPOINTS = {"path": "checkpoint", "seconds": 240}
ALARM = {"detector": "page_hinkley", "hook": "forget"}
SENSOR = {
    "sensor": {"kind": "adc", "pins": [26, 27], "rate": 50},
    "extraction": FeatureOptions.of(["window=32", "statistics=none", "bands=1-9", "low-pass=9"])
    .extraction(("a", "b"), 50)
    .options,
    "label_pin": {"pin": 15, "pressed": 1, "released": 0},
    "text": True,
}
SHRUB = ("shrub", {"window": 16, "trees": 4, "depth": 3})
HOEFFDING = ("hoeffding", {"nodes": 31, "leaves": 8})
BROKER = MqttSettings("127.0.0.1", "kitchen", 1, "x" * 16, "x" * 16)
WIFI = WifiSettings("x" * 16, "x" * 16)
CASES: dict[str, tuple[tuple[str, dict[str, Any]], dict[str, Any]]] = {
    "shrub": (SHRUB, {}),
    "shrub, all but a sensor": (
        SHRUB,
        {"checkpoint": CHECKPOINTS, "alarm": ALARM, "pending": 1000, "text": True},
    ),
    "shrub, a sensor": (SHRUB, {"alarm": ALARM | {"detector": "adwin"}, **SENSOR}),
    "shrub, deep sleep": (
        SHRUB,
        {
            "checkpoint": CHECKPOINTS,
            "sensor": SENSOR["sensor"] | {"rate": "1/600"},
            "sleep": {"every": 60, "window": 2, "hold": 60, "pin": 15, "deep": 63},
        },
    ),
    "shrub, anomalies": (
        SHRUB,
        {"checkpoint": CHECKPOINTS, "anomaly": {"period": 1000, "window": 300, "reach": 4}},
    ),
    "shrub, spare classes, queries": (
        SHRUB,
        {
            "checkpoint": CHECKPOINTS,
            "spare_classes": {"classes": 4, "room": 16, "window": 300, "pin": 15, "led": 25},
            "queries": {"labels": 1, "samples": 10},
            **SENSOR,
            "label_pin": None,
        },
    ),
    "shrub, queries": (SHRUB, {"queries": {"labels": 1, "samples": 10, "led": 25}}),
    "shrub, a guarantee": (
        SHRUB,
        {
            "checkpoint": CHECKPOINTS,
            "watchers": {"guarantee": ["prediction_sets", "Guarantee", {}]},
        },
    ),
    "shrub, a broker that is away": (SHRUB, {"mqtt": BROKER.config(("no", "yes"))}),
    "shrub, the link over TCP": (SHRUB, {"tcp": {"port": 0}}),
    "hoeffding": (HOEFFDING, {"checkpoint": CHECKPOINTS, "pending": 200}),
    "hoeffding, adaptive": (
        ("hoeffding", {"nodes": 31, "leaves": 8, "adaptive": True}),
        {"checkpoint": CHECKPOINTS},
    ),
    "thicket": (
        ("thicket", {"bytes": 12000}),
        {"checkpoint": CHECKPOINTS, "alarm": ALARM, "pending": 32},
    ),
}
_NAMES_OF_MAIN = 30  # at most
_REGION = 16  # bytes of the heap that the PC's port takes for each function of machine code
_TOO_LONG = ("shrub, a sensor", "shrub, spare classes, queries")


def on_heap(command: tuple[str, ...], folder: Path, fields: dict[str, Any]) -> int:
    """Return the heap use of the running program, with a restored state if it has checkpoints."""
    (folder / "main.py").write_text(MAIN)
    with Device(command, folder, "400k") as device, HostLink(SerialLine(device.port)) as link:
        link.connect()
        if fields.get("checkpoint"):
            link.ask(CHECKPOINT)
            device.kill()
            device.start()
            link.connect()
        used = []
        for _ in range(5):
            status = link.ask(STATUS)
            assert isinstance(status, DeviceStatus)
            used.append(status.heap_used)
    return min(used) - int((folder / "before").read_text())


def of_names(library: ProgramLibrary) -> set[int]:
    """Return the possible heap use of pools of names, relative to the counted pools.

    MAIN has a few names of its own, and a program whose broker is away does not load
    the modules that it imports only for a while.
    """
    imported, counted = (
        len(import_heap._new_names(map(mpy.read, files), "/lib"))
        for files in (library.imported, [*library.imported, *library._forgotten])
    )
    total = sum(import_heap._pools(counted))
    return {
        sum(import_heap._pools(names)) - total
        for names in (imported, counted, imported + _NAMES_OF_MAIN, counted + _NAMES_OF_MAIN)
    }


def check(
    wanted: program_config.Program,
    fields: dict[str, Any],
    folder: Path,
    command: tuple[str, ...],
    room: int | None = None,
    heap: int | None = None,
) -> None:
    """Check that a running program takes the counted bytes.

    room is the separate memory for machine code, or heap is the heap of a board that has machine
    code there. If either is given, the kernels are viper's: native ones would fit.
    """
    # machine code is not on the heap, as on the PC's own MicroPython
    board = dataclasses.replace(x86(folder), native=False, executable_bytes=room)
    if heap:
        board = dataclasses.replace(x86(folder), heap_free_bytes=heap)
    emit = "viper" if room or heap else ""
    made = build.make(wanted, board, folder / "out", emit)
    library = fitting(ProgramLibrary(wanted, board, emit))
    assert bool(library.kernels.plain) == bool(room or heap)
    on_heap_there = sum(module.native for module in library.heap().modules) if heap else 0
    regions = _REGION * sum(module.functions for module in library.heap().modules) - on_heap_there
    measured = on_heap(command, made.folder, fields)
    counted = made.budget.ram_bytes + regions
    # an attempt to connect to a broker is garbage until the next collection
    within = pytest.approx(measured, rel=0.03 if "mqtt" in fields else 0.02)
    assert any(within == counted + more for more in of_names(library))


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.long if c in _TOO_LONG else ()) for c in CASES]
)
def test_a_running_program_takes_the_counted_ram(
    case: str,
    tmp_path: Path,
    micropython_command: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, fields = CASES[case]
    monkeypatch.setitem(program_support.MODELS, case, model)
    if "tcp" in fields:
        fields = fields | {"tcp": {"port": free_port()}}
    wanted = program(case, **fields)
    if "mqtt" in fields:
        wanted = NetworkSettings(BROKER, None, WIFI).furnish(wanted)
    if "tcp" in fields:
        tcp = TcpSettings(tmp_path / "key", fields["tcp"]["port"])
        wanted = NetworkSettings(None, tcp, WIFI).furnish(wanted)
    check(wanted, fields, tmp_path, micropython_command)


@pytest.mark.parametrize(
    ("case", "room", "heap"),
    [("thicket", 45_000, None), ("hoeffding", 20_000, None), ("thicket", None, 150_000)],
)
def test_a_program_with_bytecode_kernels_takes_the_counted_ram(
    case: str, room: int | None, heap: int | None, tmp_path: Path,
    micropython_command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    model, fields = CASES[case]
    monkeypatch.setitem(program_support.MODELS, case, model)
    check(program(case, **fields), fields, tmp_path, micropython_command, room, heap)


@pytest.mark.parametrize(
    ("model", "horizon", "interval", "fields"),
    [
        ("linear-regressor", 0, None, {}),
        ("shrub-regressor", 200, 80, {"checkpoint": CHECKPOINTS}),
        ("thicket-regressor", 5, 90, SENSOR | {"label_pin": None}),
    ],
)
def test_a_program_of_numbers_takes_the_counted_ram(
    model: str,
    horizon: int,
    interval: float | None,
    fields: dict[str, Any],
    tmp_path: Path,
    micropython_command: tuple[str, ...],
) -> None:
    wanted = number_program(model, horizon, interval, **fields)
    check(wanted, fields, tmp_path, micropython_command)


def test_several_sensors_take_the_counted_ram(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    fifo = {
        "kind": "mpu6050", "scl": 1, "sda": 0, "i2c": 0, "address": 104, "rate": 1000, "axes": 3,
        "fifo": True,
    }  # fmt: skip
    fields = {
        "sensor": {"kind": "several", "sensors": [fifo, SENSOR["sensor"]]},
        "extraction": FeatureOptions.of(["window=32", "statistics=form", "bands=9-90"])
        .extraction(tuple("abcde"), 1000)
        .options,
    }
    two = blobs()
    values = np.tile(two.values, 5)
    stream = Stream("blobs", values, two.labels, tuple("abcdefghij"), two.class_names)
    parameters = {"features": 10, "classes": 2, "window": 16, "trees": 4, "depth": 3}
    wanted = program_config.of_stream(stream, "shrub", parameters, 256, PROGRAM_FIELDS | fields)
    check(wanted, fields, tmp_path, micropython_command)


def test_simulate_and_budget_count_a_forecaster_as_build_does() -> None:
    """The overhead of a Forecaster is the same in `simulate`, `budget` and `build`."""
    wanted = number_program("shrub-regressor", 20, 80)
    board = board_files.load("rpi_pico")
    overhead = {
        part.name: part.bytes for part in budget_of(ProgramLibrary(wanted, board)).overhead
    }
    assert wanted.regression is not None
    companions = pipeline(None, wanted.regression)
    alone = ram_budget.budget(wanted.parameters, board, wanted.learner, companions=companions)
    counted = {part.name: part.bytes for part in alone.overhead}
    sample = heap_bytes(array("i", [0] * wanted.regression["columns"]))
    assert counted["forecaster: objects"] - sample == overhead["target"]
    modules = {part.name for part in alone.code}
    assert {"forecaster", "regression_metrics", "prediction_interval"} <= modules
    extraction = FeatureOptions.of(["window=64", "bands=9-90"]).extraction(("x", "y"), 1000)
    more = ram_budget.budget(
        wanted.parameters,
        board,
        wanted.learner,
        companions=pipeline(extraction, wanted.regression),
    )
    ring = 2 * 64 * 2
    counted = {part.name: part.bytes for part in more.overhead}
    assert ring < counted["features: objects"] < ring + 1200
    assert {"device.feature_extractor", "device.spectrum"} <= {
        part.name for part in more.code
    } - modules


def test_a_far_horizon_is_named(tmp_path: Path) -> None:
    wanted = number_program("linear-regressor", 1000, None)
    small = dataclasses.replace(board_files.load("rpi_pico"), heap_free_bytes=60_000)
    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(UserError, match=r"does not fit"):
        build.make(wanted, small, folder)


def test_too_many_waiting_samples_are_named(tmp_path: Path) -> None:
    wanted = program()
    wanted = dataclasses.replace(wanted, config=wanted.config | {"pending": 32768})
    with pytest.raises(UserError, match="lower --pending"):
        build.make(wanted, board_files.load("rpi_pico"), tmp_path / "out")


def test_a_program_that_is_too_large_to_import_reports_it(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    made = build.make(program("shrub"), x86(tmp_path), tmp_path / "out")
    run = (*micropython_command, "-X", "heapsize=48k", "main.py")
    environment = {"MICROPYPATH": "lib"}
    done = subprocess.run(
        run, cwd=made.folder, env=environment, capture_output=True, text=True, check=False
    )
    assert "microshrub: the program does not fit. Build it with a smaller model.\n" in done.stdout

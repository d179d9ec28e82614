"""What the device's program makes on a board's heap: its objects, and the frames of its calls.

The objects are made here, by the same classes from the same config.json, and counted by the rules
of MicroPython. The learner is planned only: what it takes, with its quantizer and the like, is in
ram_budget.py. So are the rules for objects.

A call of a bytecode function takes heap, too, where it has many variables. Those are counted that
are under way while the program answers a request for its status.
"""

from __future__ import annotations

import ast
import importlib
import io
from collections.abc import Collection, Iterator
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from ..library import loader
from ..programs import mpy
from ..sources import library_files
from .heap_sizes import heap_bytes, planned
from .import_heap import WORD, blocks
from .ram_budget import Part

_POLL = 128  # bytes of select.poll() with one stream
_FRAME = 5 * WORD  # of a bytecode function, without its variables
_HANDLER = 3 * WORD  # of each `try` and `with` that may be under way in it
_ON_STACK = 11 * WORD  # up to so much of both stays on C's stack
_UNDER_WAY = {
    "device.program": ("main", "_run"),
    "device.service": ("serve",),
    "device.stdin": ("take",),
    "device.link": ("feed", "_frame", "_request", "_apply", "_call"),
    "device.device_model": ("status",),
}


def program_parts(config: bytes, arch: str, names: Collection[str]) -> list[Part]:
    """What a program with this config.json makes beside its learner, quantizer, metrics and row.

    arch is what its library is compiled for, names are the texts that are on the board anyway.
    Raises ValueError for what the program refuses.
    """
    service = _service(config)
    app = service._app
    numbers = app.configuration.numbers is not None
    spare = getattr(app, "spare", None)
    counted = [spare.model if spare else app.learner, app.quantizer]
    if numbers:
        counted += [
            app.forecaster.target,
            *app.forecaster._flat[1:3],
        ]  # and its row
    else:
        counted += [app.metrics, app.values, app._codes]
    elsewhere = [id(thing) for thing in counted]
    parts = {
        "link": service._link,
        **({"target": app.forecaster} if numbers else {"pending": app.pending}),
        "alarm": app.alarm,
        "anomaly": app.anomaly,
        "spare classes": spare,
        "asking": getattr(app, "questions", None),
        "beside": getattr(app, "beside", None),
        "checkpoint": app.store,
        "text": app.plotter,
        "sensor": service._sensor,
        "sleep": app.sleep,
        "broker": service.house,
    }
    within = [*elsewhere, id(app), id(service._board)]
    within.append(id(app.forecaster if numbers else app.pending))
    found = {
        name: heap_bytes(thing, names, set(within) - {id(thing)})
        for name, thing in parts.items()
        if thing
    }
    whole = heap_bytes(service, names, elsewhere) + _POLL + sum(_frames(arch))
    found["program"] = whole - sum(found.values())
    return [Part(name, size, "of the program", "program") for name, size in found.items()]


def _service(config: bytes) -> Any:
    """The program's Service of a configuration, with a learner that has no buffers.

    It finds neither files nor pins nor a line: what stands for them takes no room.
    """
    configuration = _module("config").Configuration(config)
    configuration.sensor = _without_own(configuration.sensor)

    def application(*arguments: Any) -> Any:
        module = _module("device_model")
        app = object.__new__(module.Application)
        _run(
            module.Application.__init__,
            {"learner_class": lambda kind: lambda **given: planned(kind, given)},
            app,
            *arguments,
        )
        app.begin = lambda: _begin(app)
        return app

    service = object.__new__(_module("service").Service)
    stand_ins = {
        "sys": SimpleNamespace(stdin=_Outside(), stdout=_Outside()),
        "read_configuration": lambda *_: configuration,
        "Application": application,
        "_house": _house,
        "gc": SimpleNamespace(collect=lambda: None, mem_free=lambda: 0),
    }
    _run(type(service).__init__, stand_ins, service, _Outside(), "", _input(), _quiet)
    del service._app.begin
    return service


def _house(*given: Any) -> Any:
    """A House, as if its passwords had the usual length."""
    module = _module("house")
    made = object.__new__(module.House)
    secrets = {"mqtt": ["x" * 16] * 2, "wifi": ["x" * 16] * 2}
    _run(module.House.__init__, {"_secrets": lambda _: secrets}, made, *given)
    return made


def _without_own(sensor: dict[str, Any]) -> dict[str, Any]:
    """The sensor with analog pins for those of the user's own, which the PC cannot make."""
    if sensor["kind"] == "several":
        return sensor | {"sensors": [_without_own(each) for each in sensor["sensors"]]}
    if sensor["kind"] == "own":
        return {"kind": "adc", "pins": list(range(sensor["values"])), "rate": sensor["rate"]}
    return sensor


def _begin(app: Any) -> str:
    """As it begins without a checkpoint; the states change no size."""
    if app.store:
        app.store._states = ["missing", "missing"]
        app.store.message = "starting fresh: checkpoint.0 is missing, checkpoint.1 is missing"
    return ""


def _input() -> Any:
    module = _module("stdin")
    made = object.__new__(module.Input)
    stand_ins = {
        "sys": SimpleNamespace(stdin=_Outside()),
        "_poll": lambda: SimpleNamespace(ipoll=_Outside().readinto),
    }
    _run(module.Input.__init__, stand_ins, made, _Outside().readinto)
    return made


def _run(function: Any, stand_ins: dict[str, Any], *arguments: Any) -> None:
    """Call a function of the library with other globals of those names."""
    FunctionType(function.__code__, function.__globals__ | stand_ins, "", function.__defaults__)(
        *arguments
    )


def _module(name: str) -> Any:
    return importlib.import_module(f"{loader.load('python').__name__}.device.{name}")


def _quiet(*_: object) -> None:
    """Nobody looks."""


class _Outside(ModuleType):
    """The line, a clock, pins: what the firmware has, takes no room; a bound method of it does."""

    def __init__(self) -> None:
        super().__init__("outside")

    @property
    def buffer(self) -> _Outside:
        return self

    def readinto(self, *_: Any) -> int:
        return 0

    write = writeto_mem = readfrom_mem_into = milliseconds = microseconds = readinto

    def adc(self, _: Any) -> object:
        return object()

    def button(self, _: Any) -> object:
        return object()

    def light(self, _: Any) -> object:
        return object()

    def i2c(self, *_: Any, **__: Any) -> Any:
        return self

    def lightsleep(self) -> Any:
        return self.readinto

    def station(self) -> None:
        """The radio."""

    def wake_by(self, _: Any) -> None:
        """No pin does."""

    def watchdog(self, _: Any) -> object:
        return object()


def _frames(arch: str) -> Iterator[int]:
    """Bytes of the heap that the calls under way take."""
    for path in mpy.compiled(arch):
        wanted = _UNDER_WAY.get(library_files.module_name(path), ())
        if wanted:
            for name, code in _functions(path):
                if name in wanted and not code.native:
                    yield frame_bytes(code.data)


def _functions(path: Path) -> Iterator[tuple[str, mpy.Code]]:
    """Names and codes of a module's functions and of its classes' methods."""
    source = library_files.source_of(library_files.module_name(path))
    tree = ast.parse(source.read_text(encoding="utf-8"))
    yield from _defined(tree.body, mpy.read(path).code)


def _defined(body: list[ast.stmt], code: mpy.Code) -> Iterator[tuple[str, mpy.Code]]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = [statement for statement in body if isinstance(statement, kinds)]
    for statement, child in zip(defined, code.children, strict=False):
        if isinstance(statement, ast.ClassDef):
            yield from _defined(statement.body, child)
        else:
            yield statement.name, child


def frame_bytes(code: bytes) -> int:
    """What a call of a bytecode function takes of the heap; see py/bc.h for its first bytes."""
    read = io.BytesIO(code)
    byte = read.read(1)[0]
    variables, handlers, n = byte >> 3 & 15, byte >> 2 & 1, 0
    while byte & 0x80:
        byte = read.read(1)[0]
        variables |= (byte & 0x30) << 2 * n
        handlers |= (byte & 2) << n
        n += 1
    size = (variables + 1) * WORD + handlers * _HANDLER
    return blocks(_FRAME + size) if size > _ON_STACK else 0

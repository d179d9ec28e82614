"""The heap of a board's program: its objects, and the frames of its calls.

The objects are made on the PC as a plan, by the same classes from the same config.json, and are
counted by MicroPython's rules. The RAM of the learner, with its quantizer and rows, is in
ram_budget.py, and the rules for objects are in heap_sizes.py.

A call of a bytecode function with many variables also takes heap. The count includes the calls
that are active while the program answers a request for its status.
"""

from __future__ import annotations

import ast
import functools
import io
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from ..library import library_files, loader
from ..library.planned import FILES, Outside
from ..programs import mpy
from .heap_sizes import heap_bytes, held_by
from .import_heap import WORD, blocks
from .ram_budget import Part

_POLL = 128  # bytes of select.poll() with one stream
_FRAME = 5 * WORD  # frame of a bytecode function, without its variables
_HANDLER = 3 * WORD  # for each nested `try` and `with` of the function
_ON_STACK = 11 * WORD  # up to this size, a frame stays on C's stack
_HASH = 1 << 31  # in place of config.json's CRC32, which may or may not take heap
_UNDER_WAY = {
    "device.program": ("main", "_run"),
    "device.service": ("serve",),
    "device.hardware": ("take",),
    "device.link": ("feed", "_frame", "_heard", "_request", "_apply", "_call"),
}


def program_parts(config: bytes, arch: str, names: Collection[str]) -> list[Part]:
    """Return the heap of a program besides its learner, quantizer, metrics and row.

    arch is the target of its compiled library, names are the texts that are on the board anyway.
    Raises ValueError if the program cannot be made.
    """
    service = _service(config)
    app = service._app
    app.hash = app.configuration.hash = _HASH
    numbers = app.configuration.regression is not None
    spare = getattr(app, "spare", None)
    counted = [spare.model if spare else app.learner, app.quantizer]
    if numbers:
        counted += [
            app.forecaster.target,
            *app.forecaster._flat[1:3],
        ]  # with the row
    else:
        counted += [app.metrics, app.values, app._codes]
    elsewhere = [id(thing) for thing in counted]
    if app.sharing:  # sharing refers to the learner's buffers
        elsewhere += held_by(app.learner)
    over_tcp = service._link if hasattr(service._link, "line") else None
    link = over_tcp.line if over_tcp else service._link
    parts = {
        "link": link,
        **({"target": app.forecaster} if numbers else {"pending": app.pending}),
        "alarm": app.alarm,
        "anomaly": app.anomaly,
        "spare classes": spare,
        "queries": getattr(app, "queries", None),
        "watchers": getattr(app, "watchers", None),
        "checkpoint": app.store,
        "text": app.plotter,
        "sensor": service._sensor,
        "sleep": app.sleep,
        "packets": app.sharing,
        "broker": getattr(service, "mqtt", None),
        "link over TCP": over_tcp,
        "datagrams": getattr(service, "datagrams", None),
    }
    within = [*elsewhere, id(app), id(service._board), id(link), id(service._input)]
    if over_tcp:
        within += [id(over_tcp._input), id(over_tcp._wifi)]
    within += [id(app.forecaster if numbers else app.pending), id(app.sharing)]
    sizes = {
        name: heap_bytes(thing, names, set(within) - {id(thing)})
        for name, thing in parts.items()
        if thing
    }
    whole = heap_bytes(service, names, elsewhere) + _POLL + _frames(arch, loader.digest())
    sizes["program"] = whole - sum(sizes.values())
    if app.sharing:
        sizes["packets"] += judging_bytes(app.features)
    return [Part(name, size, "of the program", "program") for name, size in sizes.items()]


def judging_bytes(features: int) -> int:
    """Return the temporary heap for judging or making a packet.

    The heap holds rows of samples, and lists of neighbours. Measured, see
    tests/tools/board/test_build_share.py.
    """
    return 12_288 + 320 * features


def _service(config: bytes) -> Any:
    """Make a configuration's Service as a plan, with passwords of the usual length."""
    device = loader.load("plan").device
    secrets: dict[str, Any] = {
        "mqtt": ["x" * 16] * 2, "wifi": ["x" * 16] * 2, "key": "0" * 64,
        "group": "0" * 64,
    }  # fmt: skip
    stored = json.dumps(secrets).encode()
    FILES.update({"config.json": _without_user_sensors(config), "secrets.json": stored})
    board = Outside()
    inputs = device.hardware.Input(board.milliseconds)
    return device.service.Service(board, "", inputs, _quiet)


def _without_user_sensors(config: bytes) -> bytes:
    """Replace a configuration's user-made sensors, which a PC cannot make, by analog pins."""
    fields = json.loads(config)
    sensor = fields.get("sensor")
    known = sensor and _known(sensor)
    return config if known == sensor else json.dumps(fields | {"sensor": known}).encode()


def _known(sensor: dict[str, Any]) -> dict[str, Any]:
    if sensor["kind"] == "several":
        return sensor | {"sensors": [_known(each) for each in sensor["sensors"]]}
    if sensor["kind"] == "own":
        return {"kind": "adc", "pins": list(range(sensor["values"])), "rate": sensor["rate"]}
    return sensor


def _quiet(*_: object) -> None:
    """Do nothing."""


@functools.cache
def _frames(arch: str, library: str) -> int:
    """Return the heap bytes of the active calls, with the library of that digest."""
    return sum(
        frame_bytes(code.data)
        for path in mpy.compiled(arch, _UNDER_WAY)
        for name, code in functions(path, _UNDER_WAY[library_files.module_name(path)])
        if not code.native
    )


def functions(path: Path, wanted: Collection[str]) -> Iterator[tuple[str, mpy.Code]]:
    """Yield names and codes of the wanted functions of a module, and of its classes' methods."""
    if not wanted:
        return
    source = library_files.source_of(library_files.module_name(path))
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for name, code in _defined(tree.body, mpy.read(path).code):
        if name in wanted:
            yield name, code


def _defined(body: list[ast.stmt], code: mpy.Code) -> Iterator[tuple[str, mpy.Code]]:
    node_types = (ast.FunctionDef, ast.ClassDef)
    defined = [statement for statement in body if isinstance(statement, node_types)]
    for statement, child in zip(defined, code.children, strict=False):
        if isinstance(statement, ast.ClassDef):
            yield from _defined(statement.body, child)
        else:
            yield statement.name, child


def frame_bytes(code: bytes) -> int:
    """Return the heap of a call of a bytecode function; see py/bc.h for its first bytes."""
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

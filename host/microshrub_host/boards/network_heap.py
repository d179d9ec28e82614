"""What a program in a network takes of a board's RAM, before there is one."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ..base.errors import UserError
from . import ram_budget
from .board_files import Board
from .import_heap import texts
from .program_heap import program_parts
from .ram_budget import Part

MODULES = {  # that stay, by their names in config.json
    "mqtt": ("device.house", "device.house_names", "device.house_voice", "device.wifi"),
    "tcp": ("device.tcp", "device.wifi"),
}
OWNERS = {"mqtt": "broker", "tcp": "link over TCP"}
_USUAL_MODULES = ("device.config_parts", "device.device_model", "device.link", "device.stdin")
_EVENTS = 64  # that are kept for a broker
_USUAL: dict[str, Any] = {
    "mqtt": {
        "host": "192.168.1.100", "port": 1883, "name": "board", "settle": [3, 230],
        "events": _EVENTS,
    },
    "tcp": {"port": 7477},
}  # fmt: skip


def check_wifi(board: Board, flag: str) -> None:
    """Raise UserError for a board that cannot be in a wireless network; flag is what needs it."""
    if board.wifi is None:
        raise UserError(
            f"{flag} needs Wi-Fi, and {board.name} has none that the program can use: "
            "docs/reference/boards.md tells which boards have"
        )


def modules(wanted: Collection[str]) -> tuple[str, ...]:
    """The modules of the device library for these names of config.json."""
    return tuple(module for name in wanted for module in MODULES[name])


def code_parts(board: Board, wanted: Collection[str], native: bool = False) -> list[Part]:
    """What the imported code takes, above what every program has."""
    without = ram_budget.imported_parts(board, board.arch, _USUAL_MODULES, native)
    had = {part.name: part.bytes for part in without}
    roots = (*_USUAL_MODULES, *modules(wanted))
    found = ram_budget.imported_parts(board, board.arch, roots, native)
    more = [replace(part, bytes=part.bytes - had.get(part.name, 0)) for part in found]
    named = {"names": "names of the network", "modules": "modules of the network"}
    return [replace(part, name=named.get(part.name, part.name)) for part in more if part.bytes]


def objects(
    board: Board, kind: str, parameters: ram_budget.Parameters, wanted: Collection[str]
) -> list[Part]:
    """What a program with a learner of classes makes for its network, with usual names in it."""
    config = {
        "version": 1,
        "learner": kind,
        "parameters": dict(parameters),
        "sensor": {"kind": "serial"},
        "pending": 32,
        **{name: _USUAL[name] for name in wanted},
    }
    names = texts(board.arch, modules(wanted))
    found = program_parts(json.dumps(config).encode(), board.arch, names)
    parts = [part for part in found if part.name in {OWNERS[name] for name in wanted}]
    wifi = board.wifi.heap_bytes if board.wifi else 0
    return [*parts, *([Part("Wi-Fi", wifi, "while it is on", "program")] if wifi else [])]

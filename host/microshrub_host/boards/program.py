"""What a board is to run: a learner with its quantizer, and what is around it, as its files.

The board knows a program by the CRC32 of the bytes of config.json. usual_program() is that which
`build` makes where nothing else is asked for, before there is one: its samples come over the
serial link, or are made of an analog sensor's readings; it has a drift alarm, and checkpoints.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base.errors import UserError
from ..beside import registry
from ..beside.companion import Beside, freezes
from ..library import loader
from ..library.learners import WARMUP
from ..sources import library_files
from .board_files import Board
from .ram_budget import Parameters

VERSION = 1
QUANTIZER, LEARNER = "quantizer.state", "learner.state"
TARGET = ("target.state", "interval.state", "outlook.state")


@dataclass(frozen=True)
class Program:
    """What a board is to run. Features and classes are in the order of their numbers.

    If `around` has spare classes, these are the last ones, which have no name yet.

    A program that predicts a number has no classes; its features are the columns that its sensor
    gives, the target among them. `more` are the states of what stands beside, by their names.

    `learner_state` is empty for a learner that has not learned anything, `quantizer_state` for a
    quantizer that has yet to see its first `warmup` samples; with None, its ranges grow. `around`
    is the rest of config.json. `beside` are more files of the board, by their names.
    """

    learner: str  # the name of its class
    parameters: dict[str, Any]
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    units: list[tuple[int, int]]
    warmup: int | None
    learner_state: bytes = field(repr=False)
    quantizer_state: bytes = field(repr=False)
    around: dict[str, Any]
    numbers: dict[str, Any] | None = None  # of a regressor: its Forecaster's parameters
    more: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    beside: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def files(self) -> dict[str, bytes]:
        """config.json, the states that it names, and what is beside them."""
        states = {LEARNER: self.learner_state, QUANTIZER: self.quantizer_state}
        states |= {f"{name}.state": state for name, state in self.more.items()}
        found = {name: state for name, state in states.items() if state}
        config = {
            "version": VERSION,
            "program": library_files.version(),
            "learner": self.learner,
            "parameters": self.parameters,
            "class_names": list(self.class_names) or None,
            "feature_names": list(self.feature_names),
            "units": [list(unit) for unit in self.units],
            "quantizer": QUANTIZER if QUANTIZER in found else None,
            "warmup": self.warmup,
            "model": LEARNER if LEARNER in found else None,
            **self.around,
        }
        if self.numbers:
            files = [name if name in found else None for name in TARGET]
            config["numbers"] = self.numbers | {"states": files}
        return {"config.json": (json.dumps(config) + "\n").encode(), **found, **self.beside}


Names = tuple[Sequence[str], Sequence[str]]  # of features, of classes

_AROUND: dict[str, Any] = {
    "sensor": {"kind": "serial"},
    "pending": 32,
    "checkpoint": {"path": "checkpoint", "samples": 1000, "seconds": 240},
    "alarm": {"detector": "page_hinkley", "hook": "nothing"},
    "label_pin": None,
    "watchdog": 0,
    "text": False,
}
_EVENTS = 64  # that are kept for a broker
NETWORK: dict[str, Any] = {
    "mqtt": {
        "host": "192.168.1.100", "port": 1883, "name": "board", "settle": [3, 230],
        "events": _EVENTS,
    },
    "tcp": {"port": 7477},
    "share": {"group": "rooms", "name": "board", "classes": []},
}  # fmt: skip
PACKETS: dict[str, Any] = {
    "udp": {"by": "udp", "port": 7478, "to": ["255.255.255.255", 7478]},
    "espnow": {"by": "espnow", "channel": 1},
}


def usual_program(
    kind: str,
    parameters: Parameters,
    beside: Beside = (),
    network: Collection[str] = (),
    frozen: bool = False,
    names: Names = ((), ()),
) -> Program:
    """The program of a learner and its companions; network has some of "mqtt", "tcp", "share",
    and perhaps "udp" or "espnow", which carry what is shared in place of "mqtt".

    With `frozen`, ranges do not grow. names are those of the features and of the classes, where
    these are known. A companion that makes the samples decides how many features there are. A
    regressor for late targets, beside which no Forecast says more, forecasts from one lag.
    """
    library = loader.load("plan")
    of_numbers = library.learners.is_regressor(kind)
    around = dict(_AROUND) | {name: NETWORK[name] for name in NETWORK if name in network}
    by = next((name for name in network if name in PACKETS), None)
    if by:
        around["packets"] = PACKETS[by]
    labels, classes = names
    for each in beside:
        for name, part in each.in_program(classes).items():
            around[name] = {**around.get(name, {}), **part}
    if around["sensor"]["kind"] != "serial":
        around["text"] = True
    made = next((count for each in beside if (count := each.columns(library))), None)
    numbers = around.pop("numbers", None)
    if of_numbers:
        around["alarm"] = None
        numbers = _numbers(numbers, parameters, made)
    columns = numbers["columns"] if numbers else made or int(parameters["features"])
    features = columns - 1 + numbers["lags"] if numbers else columns
    moves = not of_numbers and library.learners.learner_class(kind).moves
    grows = moves and not frozen and not freezes(beside)
    return Program(
        learner=kind,
        parameters={**parameters, "features": features},
        feature_names=tuple(labels) or _numbered(columns),
        class_names=() if of_numbers else _classes(int(parameters["classes"]), classes, around),
        units=[(0, 0)] * columns,
        warmup=None if grows else WARMUP,
        learner_state=b"",
        quantizer_state=b"",
        around=around,
        numbers=numbers,
    )


def _numbers(
    known: dict[str, Any] | None, parameters: Parameters, columns: int | None
) -> dict[str, Any]:
    """The parameters of a Forecaster around a regressor; columns are those of a sensor."""
    late = int(parameters.get("late", 0))
    horizon, lags = (late + 1, 1) if late else (0, 0)
    found = known or {"column": 0, "horizon": horizon, "lags": lags, "interval": None}
    columns = columns or found.get("columns")
    return found | {"columns": columns or int(parameters["features"]) + 1 - found["lags"]}


def _classes(count: int, known: Sequence[str], around: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of so many classes, of which companions add the last ones."""
    more = [
        name for kind in registry.named(around) for name in kind.more_classes(around[kind.name])
    ]
    before = count - len(more)
    return (*(tuple(known)[:before] or _numbered(before)), *more)


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def in_network(given: Mapping[str, Any]) -> list[str]:
    """What options ask for of a program in a network, by their names, as usual_program() has it.

    The value of `network` is such names, too; that of `share` may be words, as `build` takes them.
    """
    wanted = given.get("network") or ()
    words = given.get("share") or ()
    by = [name for name in PACKETS if f"by={name}" in words or name in wanted]
    return [name for name in NETWORK if name in wanted or given.get(name)] + by


def check_espnow(board: Board) -> None:
    """Raise UserError for a board whose firmware has no ESP-NOW."""
    if board.wifi is None or not board.arch.startswith(("xtensa", "rv32")):
        raise UserError(
            f"ESP-NOW needs an ESP32 with Wi-Fi, and {board.name} is none: share by udp or by mqtt"
        )


def check_wifi(board: Board, flag: str) -> None:
    """Raise UserError for a board that cannot be in a wireless network; flag is what needs it."""
    if board.wifi is None:
        raise UserError(
            f"{flag} needs Wi-Fi, and {board.name} has none that the program can use: "
            "docs/reference/boards.md tells which boards have"
        )

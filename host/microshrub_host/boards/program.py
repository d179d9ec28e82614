"""A board's program as its files: a learner with its quantizer, companions and settings.

The board identifies a program by the CRC32 of config.json. usual_program() is the program that
`build` makes without further options, before there is a model: its samples come over the serial
link, or are made of an analog sensor's readings; it has a drift alarm, and checkpoints.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..base.errors import UserError
from ..library import library_files, loader
from ..library.learners import WARMUP, option
from ..simulation import companion_registry
from ..simulation.companion import config_of, freezes
from ..simulation.pipeline import Extracted
from ..simulation.spare_classes import spare_names
from ..simulation.watcher import CONFIG
from .board_files import Board
from .deployment import Deployment
from .ram_budget import Parameters

VERSION = 1
QUANTIZER, LEARNER = "quantizer.state", "learner.state"
TARGET = ("target.state", "interval.state", "naive.state")


@dataclass(frozen=True)
class Program:
    """A board's program. Features and classes are in the order of their numbers.

    If `config` has spare classes, these are the last classes, and have no names yet.

    A program that predicts a number has no classes; its features are the sensor's columns,
    including the target. `more` has the states of companions, by name. `learner_state` is empty
    for an untrained learner, `quantizer_state` for a quantizer that has yet to process its first
    `warmup` samples; if warmup is None, the ranges grow. `config` is the rest of config.json.
    `more_files` are further files of the board, by name.
    """

    learner: str  # name of the learner's class
    parameters: dict[str, Any]
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    units: list[tuple[int, int]]
    warmup: int | None
    learner_state: bytes = field(repr=False)
    quantizer_state: bytes = field(repr=False)
    config: dict[str, Any]
    regression: dict[str, Any] | None = None  # parameters of a regressor's Forecaster
    more: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    more_files: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def files(self) -> dict[str, bytes]:
        """Return config.json, the states that it names, and further files."""
        states = {LEARNER: self.learner_state, QUANTIZER: self.quantizer_state}
        states |= {f"{name}.state": state for name, state in self.more.items()}
        named = {name: state for name, state in states.items() if state}
        config = {
            "version": VERSION,
            "program": library_files.version(),
            "learner": self.learner,
            "parameters": self.parameters,
            "class_names": list(self.class_names) or None,
            "feature_names": list(self.feature_names),
            "units": [list(unit) for unit in self.units],
            "quantizer": QUANTIZER if QUANTIZER in named else None,
            "warmup": self.warmup,
            "model": LEARNER if LEARNER in named else None,
            **self.config,
        }
        if self.regression:
            files = [name if name in named else None for name in TARGET]
            config["regression"] = self.regression | {"states": files}
        return {"config.json": (json.dumps(config) + "\n").encode(), **named, **self.more_files}


_CONFIG: dict[str, Any] = {
    "sensor": {"kind": "serial"},
    "pending": 32,
    "checkpoint": {"path": "checkpoint", "seconds": 240},
    "alarm": {"detector": "page_hinkley", "hook": "nothing"},
    "label_pin": None,
    "watchdog": 0,
    "text": False,
}
_EVENTS = 64  # events that are kept for a broker
NETWORK: dict[str, Any] = {
    "mqtt": {
        "host": "192.168.1.100", "port": 1883, "name": "board", "settle": [3, 230],
        "events": _EVENTS,
    },
    "tcp": {"port": 7477},
    "share": {"group": "rooms", "name": "board", "classes": []},
}  # fmt: skip
DATAGRAMS: dict[str, Any] = {
    "udp": {"by": "udp", "port": 7478, "to": ["255.255.255.255", 7478]},
    "espnow": {"by": "espnow", "channel": 1},
}


def usual_program(deployment: Deployment) -> Program:
    """Return the program of a learner and its companions.

    A companion that makes the samples determines the number of features. A regressor for late
    targets forecasts from one lag, unless a Forecast has more lags.
    """
    learner, parameters = deployment.learner, deployment.parameters
    companions, network = deployment.companions, deployment.network
    library = loader.load("plan")
    of_numbers = library.learners.is_regressor(learner)
    config = _CONFIG | {name: NETWORK[name] for name in NETWORK if name in network}
    config = copy.deepcopy(config)
    by = next((name for name in network if name in DATAGRAMS), None)
    if by:
        config["datagrams"] = DATAGRAMS[by]
    labels, classes = deployment.names
    for name, part in config_of(companions, classes).items():
        plain = {key: value for key, value in part.items() if key != "pin"}
        config[name] = {**config.get(name, {}), **plain}
    if config["sensor"]["kind"] != "serial":
        config["text"] = True
    counts = [each.columns(library) for each in companions if isinstance(each, Extracted)]
    made = counts[0] if counts else None
    regression = config.pop("regression", None)
    if of_numbers:
        config["alarm"] = None
        regression = _numbers(regression, parameters, made)
    columns = regression["columns"] if regression else made or int(parameters["features"])
    features = columns - 1 + regression["lags"] if regression else columns
    moves = not of_numbers and library.learners.learner_class(learner).moves
    grows = moves and not deployment.fixed_ranges and not freezes(companions)
    return Program(
        learner=learner,
        parameters={**parameters, "features": features},
        feature_names=tuple(labels) or _numbered(columns),
        class_names=() if of_numbers else _classes(int(parameters["classes"]), classes, config),
        units=[(0, 0)] * columns,
        warmup=None if grows else WARMUP,
        learner_state=b"",
        quantizer_state=b"",
        config=config,
        regression=regression,
    )


def as_simulated(program: Program) -> Program:
    """Return the program without the options of `build`, as `simulate` counts it.

    The result is as from usual_program(). The learner has its companions, but is untrained.
    """
    kept = [each.name for each in companion_registry.all_companions()] + [CONFIG]
    config = dict(_CONFIG)
    for name in kept:
        if name in program.config:
            config[name] = _without_states(program.config[name])
    extraction = program.config.get("extraction")
    if extraction:
        sensor = Extracted.sensor(len(extraction["zero"]))
        config |= {"sensor": sensor, "extraction": extraction, "text": True}
    regression = program.regression
    if regression:
        config["alarm"] = None
        regression = {**regression, "ends": None}  # known only with a quantizer
    return replace(
        program,
        regression=regression,
        units=[(0, 0)] * len(program.feature_names),
        warmup=None if program.warmup is None else WARMUP,
        learner_state=b"",
        quantizer_state=b"",
        config=config,
        more={},
        more_files={},
    )


def _without_states(part: Any) -> Any:
    """Return a companion's part of config.json without the files of its state."""
    if not isinstance(part, dict):
        return part
    kept = {name: value for name, value in part.items() if name != "states"}
    return {
        name: [each for each in value if each != f"{name}.state"]
        if isinstance(value, list)
        else value
        for name, value in kept.items()
    }


def added(program: Program) -> list[str]:
    """Return the options of `build` that add to a program's as_simulated()."""
    simulated = as_simulated(program).config
    checkpoint = program.config["checkpoint"]
    companions = [each.name for each in companion_registry.all_companions()] + [CONFIG]
    same = {
        "checkpoint": {**simulated["checkpoint"], "seconds": (checkpoint or {}).get("seconds")}
    }
    names = {
        "switches": "switch",
        "packets": "share",
        "datagrams": "share",
        "alarm": "alarm",
        "text": "sensor",
    }
    given = [
        names.get(name, name)
        for name, value in program.config.items()
        if name not in companions and value != (simulated | same).get(name)
    ]
    return [option(name) for name in dict.fromkeys(given)]


def _numbers(
    known: dict[str, Any] | None, parameters: Parameters, columns: int | None
) -> dict[str, Any]:
    """Return a regressor's Forecaster's parameters; columns is a sensor's number of columns."""
    late = int(parameters.get("late", 0))
    horizon, lags = (late + 1, 1) if late else (0, 0)
    fields = known or {"column": 0, "horizon": horizon, "lags": lags, "interval": None}
    columns = columns or fields.get("columns")
    return fields | {"columns": columns or int(parameters["features"]) + 1 - fields["lags"]}


def _classes(count: int, known: Sequence[str], config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the classes; the last ones are from companions."""
    more = spare_names(config)
    before = count - len(more)
    return (*(tuple(known)[:before] or _numbered(before)), *more)


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def in_network(given: Mapping[str, Any]) -> list[str]:
    """Return the parts of a program in a network, by options' names, as for usual_program().

    The option `network` may have such names as its value; `share` may have words, as in `build`.
    """
    wanted = given.get("network") or ()
    words = given.get("share") or ()
    by = [name for name in DATAGRAMS if f"by={name}" in words or name in wanted]
    return [name for name in NETWORK if name in wanted or given.get(name)] + by


def check_espnow(board: Board) -> None:
    """Raise UserError for a board whose firmware has no ESP-NOW."""
    if board.wifi is None or not board.arch.startswith(("xtensa", "rv32")):
        raise UserError(
            f"ESP-NOW needs an ESP32 with Wi-Fi, and {board.name} is none: share by udp or by mqtt"
        )


def check_wifi(board: Board, flag: str) -> None:
    """Raise UserError for a board without a usable Wi-Fi; flag is the option that needs Wi-Fi."""
    if board.wifi is None:
        raise UserError(
            f"{flag} needs Wi-Fi, and {board.name} has none that the program can use: "
            "docs/reference/boards.md tells which boards have"
        )

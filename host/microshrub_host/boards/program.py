"""What a board is to run: a learner with its quantizer, and what is around it, as its files.

The board knows a program by the CRC32 of the bytes of config.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..sources import library_files

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

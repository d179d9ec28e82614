"""The interface of all engines, and the types of their results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..streams.units import Raw

Parameters = Mapping[str, Any]
Plan = tuple[str, str, dict[str, Any]]  # module, class, options: see session.py
Labels = NDArray[np.uint8]
Predictions = NDArray[Any]  # classes as uint8, or raw numbers as int32
NO_LABELS: Labels = np.zeros(0, dtype=np.uint8)  # for rows with their target in a column


@dataclass(frozen=True)
class Status:
    """The state of a run after its last sample.

    `clamped` is the number of values outside the quantizer's range, `missing` the number of
    missing values; `progress` is the learner's own report, `state_crc32` the hash of its buffers.
    """

    samples: int
    clamped: int
    missing: int
    state_crc32: int
    progress: dict[str, int]
    companions: list[dict[str, Any]] = field(default_factory=list)  # each companion's own report
    accuracy: float = math.nan  # of classes; percent, like all fields below
    accuracy_nochange: float = math.nan
    accuracy_majority: float = math.nan
    kappa: float = math.nan
    kappa_temporal: float = math.nan

    @classmethod
    def of(cls, counts: Mapping[str, Any]) -> Status:
        """Return the status from session.Session.status(), on this PC or on a MicroPython."""
        ratios = ("accuracy", "accuracy_nochange", "accuracy_majority", "kappa", "kappa_temporal")
        in_percent = {name: percent(counts[name]) for name in ratios if name in counts}
        crc = counts["state_crc32"] & 0xFFFFFFFF
        return cls(**{**counts, **in_percent, "state_crc32": crc})


def percent(millionths: int) -> float:
    """Return a ratio in percent, given the device's millionths."""
    return millionths / 10_000


@dataclass(frozen=True)
class States:
    """The saved states of a learner and its quantizer, as firmware's buffers.py describes them.

    `more` has the states of its companions, by name; for a regressor, the states of its target's
    range, its interval and its naive forecasts, b"" where there is none.
    """

    learner: bytes
    quantizer: bytes
    more: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, named: Iterable[tuple[str, bytes]]) -> States:
        """Return the states from session.Session.states(), on this PC or on a MicroPython."""
        more = dict(named)
        return cls(more.pop("learner"), more.pop("quantizer"), more)


def prediction_type(session: Any) -> np.dtype[Any]:
    """Return the type of a session's predictions: classes, or numbers with a Forecaster."""
    return np.dtype("<i4" if hasattr(session, "forecaster") else np.uint8)


class HasPlan(Protocol):
    """A companion, as engines use it."""

    def plan(self) -> Plan:
        """Return the module, class and options of the companion in a session; see session.py."""


class EngineError(UserError):
    """An engine failed; the message is for users."""


class Engine(Protocol):
    """One run of one learner over one stream."""

    def observe(self, raw: Raw) -> None:
        """Fit the quantizer on rows, (rows, features); for a regression stream, all columns."""

    def freeze(self) -> None:
        """Fix the quantizer's ranges, and the targets' range."""

    def run(self, raw: Raw, labels: Labels = NO_LABELS) -> Predictions:
        """Predict and then learn each of the rows; return the predictions, shape (rows,).

        A regressor takes rows of all columns, without labels.
        """

    def ask(self, raw: Raw) -> Predictions:
        """Predict rows without learning; return the classes, shape (rows,)."""

    def settle(self) -> None:
        """Let the learner finish the work that it postpones while it learns."""

    def outputs(self, part: int = 0) -> bytes:
        """Return the outputs of a companion for the rows of the last run.

        A regressor's outputs are half the width of the interval of each row, i32.
        """

    def status(self) -> Status:
        """Return counts, ratios in percent, and the model's hash after the last sample."""

    def buffers(self) -> list[tuple[str, str, bytes]]:
        """Return (name, typecode, bytes) of all buffers: quantizer, model, metrics, companions."""

    def saved(self) -> States:
        """Return the saved states of the learner, the quantizer and the companions."""

    def __enter__(self) -> Engine:
        """Return the engine, for use in a with statement."""

    def __exit__(self, *error: object) -> None:
        """Release the engine's resources."""

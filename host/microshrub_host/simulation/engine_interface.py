"""What every engine can do, and what it gives."""

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
Predictions = NDArray[Any]  # predictions: classes as uint8, or raw numbers as int32
NO_LABELS: Labels = np.zeros(0, dtype=np.uint8)  # of rows that have their target in a column


@dataclass(frozen=True)
class Status:
    """The state of a run after its last sample.

    `clamped` counts the values outside the quantizer's range, `missing` the empty ones;
    `progress` is what the learner reports about itself, `state_crc32` the hash of its buffers.
    """

    samples: int
    clamped: int
    missing: int
    state_crc32: int
    progress: dict[str, int]
    companions: list[dict[str, Any]] = field(
        default_factory=list
    )  # what each companion says of itself
    accuracy: float = math.nan  # of classes; percent, like all that follow
    accuracy_nochange: float = math.nan
    accuracy_majority: float = math.nan
    kappa: float = math.nan
    kappa_temporal: float = math.nan

    @classmethod
    def of(cls, counts: Mapping[str, Any]) -> Status:
        """The status that session.Session.status() gave on this PC or on a MicroPython."""
        ratios = ("accuracy", "accuracy_nochange", "accuracy_majority", "kappa", "kappa_temporal")
        in_percent = {name: percent(counts[name]) for name in ratios if name in counts}
        crc = counts["state_crc32"] & 0xFFFFFFFF
        return cls(**{**counts, **in_percent, "state_crc32": crc})


def percent(millionths: int) -> float:
    """A ratio that the device has in millionths, in percent."""
    return millionths / 10_000


@dataclass(frozen=True)
class States:
    """The saved states of a learner and its quantizer, as firmware's buffers.py describes them.

    `more` has the states of its companions, by their names; for a regressor, the states of its
    target's range, its interval and its naive forecasts, b"" for what does not exist.
    """

    learner: bytes
    quantizer: bytes
    more: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, named: Iterable[tuple[str, bytes]]) -> States:
        """Those that session.Session.states() gave on this PC or on a MicroPython."""
        more = dict(named)
        return cls(more.pop("learner"), more.pop("quantizer"), more)


def prediction_type(session: Any) -> np.dtype[Any]:
    """What the predictions of a session are: classes, or numbers beside a Forecaster."""
    return np.dtype("<i4" if hasattr(session, "forecaster") else np.uint8)


class HasPlan(Protocol):
    """A companion, as an engine knows it."""

    def plan(self) -> Plan:
        """What a session makes of it."""


class EngineError(UserError):
    """An engine could not do what it was asked to; the message is for people."""


class Engine(Protocol):
    """One run of one learner over one stream."""

    def observe(self, raw: Raw) -> None:
        """Show the quantizer rows, shape (rows, features); of a regression stream, all columns."""

    def freeze(self) -> None:
        """Fix the quantizer's ranges, and that of the targets."""

    def run(self, raw: Raw, labels: Labels = NO_LABELS) -> Predictions:
        """Predict and then learn each of the rows; returns the predictions, shape (rows,).

        A regressor takes rows of all columns, without labels.
        """

    def ask(self, raw: Raw) -> Predictions:
        """Predict rows whose labels nobody tells; returns the classes, shape (rows,)."""

    def settle(self) -> None:
        """Do what the learner has left to do while nothing is taught."""

    def outputs(self, part: int = 0) -> bytes:
        """The outputs of a companion for the rows of the last run.

        Those of a regressor are half the width of the interval of each row, i32.
        """

    def status(self) -> Status:
        """Counts, ratios in percent and the model's hash after the last sample."""

    def buffers(self) -> list[tuple[str, str, bytes]]:
        """(name, typecode, bytes) of every buffer: quantizer, model, metrics, companions."""

    def saved(self) -> States:
        """What save() gives of the learner, the quantizer and companions."""

    def __enter__(self) -> Engine:
        """Return the engine, for use in a with statement."""

    def __exit__(self, *error: object) -> None:
        """Release what the engine holds."""

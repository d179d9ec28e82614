"""What every engine can do, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..streams.units import Raw
from .status import Status

Parameters = Mapping[str, Any]
Labels = NDArray[np.uint8]
Said = NDArray[Any]  # predictions: classes as uint8, or raw numbers as int32
NO_LABELS: Labels = np.zeros(0, dtype=np.uint8)  # of rows that have their target in a column


@dataclass(frozen=True)
class States:
    """The saved states of a learner and its quantizer, as firmware's buffers.py describes them.

    A learner of numbers has those of its target's range and of its interval, too; one with spare
    classes those of the names and of what is new.
    """

    learner: bytes
    quantizer: bytes
    target: bytes = b""
    interval: bytes = b""
    names: bytes = b""
    newcomers: bytes = b""


@dataclass(frozen=True)
class Anomalies:
    """Of each row its anomaly score, 0..255, and whether that was above the threshold."""

    scores: NDArray[np.uint8]
    unlike: NDArray[np.bool_]

    @classmethod
    def of(cls, data: bytes) -> Anomalies:
        """From all scores, then for each row 1 or 0."""
        both = np.frombuffer(data, dtype=np.uint8).reshape(2, -1)
        return cls(both[0], both[1].astype(np.bool_))


class EngineError(UserError):
    """An engine could not do what it was asked to; the message is for people."""


class Engine(Protocol):
    """One run of one learner over one stream."""

    def observe(self, raw: Raw) -> None:
        """Show the quantizer rows, shape (rows, features); of a stream of numbers, all columns."""

    def freeze(self) -> None:
        """Fix the quantizer's ranges, and that of the targets."""

    def run(self, raw: Raw, labels: Labels = NO_LABELS) -> Said:
        """Predict and then learn each of the rows; returns the predictions, shape (rows,).

        A learner of numbers takes rows of all columns, without labels.
        """

    def ask(self, raw: Raw) -> Said:
        """Predict rows whose labels nobody tells; returns the classes, shape (rows,)."""

    def settle(self) -> None:
        """Do what the learner has left to do while nothing is taught."""

    def anomalies(self) -> Anomalies:
        """What the anomaly score said of the rows of the last run, if there is one."""

    def newcomers(self) -> NDArray[np.bool_]:
        """Which rows of the last run were unlike all that had a name, with spare classes."""

    def questions(self) -> NDArray[np.uint8]:
        """Of each row of the last run: 1 if it was asked for, 2 if that is answered, else 0."""

    def halves(self) -> Said:
        """Of a learner of numbers: half the width of the interval of each row of the last run."""

    def status(self) -> Status:
        """Counts, ratios in percent and the model's hash after the last sample."""

    def buffers(self) -> list[tuple[str, str, bytes]]:
        """(name, typecode, bytes) of every buffer of quantizer, model, metrics and anomaly."""

    def saved(self) -> States:
        """What save() of the learner and of the quantizer gives."""

    def __enter__(self) -> Engine:
        """Return the engine, for use in a with statement."""

    def __exit__(self, *error: object) -> None:
        """Release what the engine holds."""

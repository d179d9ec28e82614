"""What every engine can do, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..streams.units import Raw
from .status import Status

Parameters = Mapping[str, Any]
Plan = tuple[str, str, dict[str, Any]]  # module, class, options: see session.py
Labels = NDArray[np.uint8]
Said = NDArray[Any]  # predictions: classes as uint8, or raw numbers as int32
NO_LABELS: Labels = np.zeros(0, dtype=np.uint8)  # of rows that have their target in a column


@dataclass(frozen=True)
class States:
    """The saved states of a learner and its quantizer, as firmware's buffers.py describes them.

    `more` has those of what stands beside it, by their names; of a regressor that of its
    target's range, its interval and its outlook, b"" for what there is not.
    """

    learner: bytes
    quantizer: bytes
    more: Mapping[str, bytes] = field(default_factory=dict)


class Beside(Protocol):
    """What stands beside a learner, as an engine knows it."""

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

    def run(self, raw: Raw, labels: Labels = NO_LABELS) -> Said:
        """Predict and then learn each of the rows; returns the predictions, shape (rows,).

        A regressor takes rows of all columns, without labels.
        """

    def ask(self, raw: Raw) -> Said:
        """Predict rows whose labels nobody tells; returns the classes, shape (rows,)."""

    def settle(self) -> None:
        """Do what the learner has left to do while nothing is taught."""

    def said(self, part: int = 0) -> bytes:
        """What a part beside the learner says of the rows of the last run.

        A regressor says half the width of the interval of each row, i32.
        """

    def status(self) -> Status:
        """Counts, ratios in percent and the model's hash after the last sample."""

    def buffers(self) -> list[tuple[str, str, bytes]]:
        """(name, typecode, bytes) of every buffer: quantizer, model, metrics, what is beside."""

    def saved(self) -> States:
        """What save() gives of the learner, the quantizer and what stands beside."""

    def __enter__(self) -> Engine:
        """Return the engine, for use in a with statement."""

    def __exit__(self, *error: object) -> None:
        """Release what the engine holds."""

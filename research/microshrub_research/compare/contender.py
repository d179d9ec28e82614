"""A learner in a comparison, and the interface of a system's run of a learner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .tree_shape import Shape

NO_ANSWER = -1  # from a learner that has not seen a label yet; counts as wrong
SEED = 1


@dataclass(frozen=True)
class Contender:
    """A learner of one of the systems, with its settings."""

    name: str  # "river:HAT", "ours:hoeffding policy=efdt"
    system: str  # "ours", "saved", "baseline", "river", "moa" or "torch"
    learner: str  # its name within the system
    settings: Mapping[str, Any] = field(default_factory=dict)  # by the system's names
    last_label: bool = False  # whether the last label is among its features


class ContenderRun(Protocol):
    """One run over one stream, in blocks of its samples, in order."""

    def prepare(self, part: slice) -> Any:
        """Return the samples in the form that this system takes; not part of its time."""

    def run(self, samples: Any) -> Sequence[float]:
        """Predict, then learn each of the samples; return classes, or NO_ANSWER, or numbers."""

    def nbytes(self) -> int | None:
        """Return the model's bytes by the system's own measure; None without a measure."""

    def shape(self) -> Shape | None:
        """Return the present size of the tree; None if the learner is not a tree."""

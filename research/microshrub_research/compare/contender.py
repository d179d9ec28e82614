"""A learner in a comparison, and what each system has to provide: a run of it."""

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
    learner: str  # what the system calls it
    settings: Mapping[str, Any] = field(default_factory=dict)  # by the names of the system
    last_label: bool = False  # whether the last label is among its features


class ContenderRun(Protocol):
    """One run over one stream, in blocks of its samples, in order."""

    def prepare(self, part: slice) -> Any:
        """The samples in the form that this system takes; not part of its time."""

    def run(self, samples: Any) -> Sequence[float]:
        """Predict, then learn each of the samples; the classes, or NO_ANSWER; or the numbers."""

    def nbytes(self) -> int | None:
        """The model's bytes, as the system itself measures them; None if it does not."""

    def shape(self) -> Shape | None:
        """How large its tree is now; None if it is not a tree."""

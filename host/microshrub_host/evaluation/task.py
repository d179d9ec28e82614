"""What a run over a stream is about, classes or numbers; prequential.py has the run itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Generic, TypeVar

from ..simulation.companion import CompanionRun
from ..simulation.engine_interface import (
    NO_LABELS,
    Engine,
    HasPlan,
    Labels,
    Predictions,
    States,
    Status,
)
from ..streams.regression_streams import Values
from ..streams.units import Scale


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What comes of every run."""

    stream: str
    model: str
    parameters: dict[str, Any]
    engine: str
    samples: int
    features: int
    clamped: int
    missing: int
    progress: dict[str, int]
    state_crc32: int
    seconds: float
    samples_per_second: float
    states: States = field(repr=False)
    companions: dict[str, CompanionRun] = field(default_factory=dict, repr=False)  # by their names

    _PARTS: ClassVar[tuple[str, ...]] = ("progress",)  # fields that JSON does not hold as they are

    def record(self) -> dict[str, Any]:
        """The result as JSON holds it: one flat object, without what is there for each sample."""
        shown = [each.name for each in fields(self) if each.repr]
        flat = {name: getattr(self, name) for name in shown if name not in self._PARTS}
        return flat | self.progress


R = TypeVar("R", bound=RunResult)


class StreamTask(ABC, Generic[R]):
    """A stream and what is predicted of it: counts a run's predictions, block by block."""

    name: str  # of the stream
    rows: Values  # shape (rows, columns)
    scale: Scale  # their units
    labels: Labels = NO_LABELS  # of classes; a number is in a column
    companions: Sequence[HasPlan] = ()
    block: int  # rows that are learned at a time
    samples: int
    features: int

    @abstractmethod
    def take(self, run: Engine, at: int, predictions: Predictions) -> None:
        """Count the predictions of a block, which begins with row `at`."""

    @abstractmethod
    def so_far(self) -> tuple[int, float]:
        """Samples that were counted, and how the learner has done: percent right, or an error."""

    @abstractmethod
    def result(self, run: Engine, status: Status, common: Mapping[str, Any]) -> R:
        """What came of it all; status is that after the last row, common what RunResult has."""

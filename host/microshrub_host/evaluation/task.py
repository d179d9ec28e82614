"""What a run over a stream predicts, classes or a target; prequential.py has the run itself."""

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
    """The results common to all runs."""

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
    companions: dict[str, CompanionRun] = field(default_factory=dict, repr=False)  # by JSON key

    _PARTS: ClassVar[tuple[str, ...]] = ("progress",)  # fields that JSON holds in another form

    def record(self) -> dict[str, Any]:
        """Return the result for JSON: one flat object, without the values of each sample."""
        shown = [each.name for each in fields(self) if each.repr]
        flat = {name: getattr(self, name) for name in shown if name not in self._PARTS}
        return flat | self.progress


R = TypeVar("R", bound=RunResult)


class StreamTask(ABC, Generic[R]):
    """A stream and its target: counts a run's predictions, block by block."""

    name: str  # of the stream
    rows: Values  # shape (rows, columns)
    scale: Scale  # the units of the rows
    labels: Labels = NO_LABELS  # classes; a regression target is a column instead
    companions: Sequence[HasPlan] = ()
    block: int  # rows that are learned at a time
    samples: int
    features: int

    @abstractmethod
    def take(self, run: Engine, at: int, predictions: Predictions) -> None:
        """Count the predictions of a block, which begins with row `at`."""

    @abstractmethod
    def so_far(self) -> tuple[int, float]:
        """Return the number of samples counted, and the score so far: percent or an error."""

    @abstractmethod
    def result(self, run: Engine, status: Status, common: Mapping[str, Any]) -> R:
        """Return the result from the last row's status; common has RunResult's fields."""

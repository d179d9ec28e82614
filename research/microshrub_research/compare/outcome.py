"""The result of one learner on one stream, as the messages of its process give it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from microshrub_host.base.worker_process import Ended, TimeLimit

from .contender import Contender
from .tree_shape import Shape

_POINTS = 200  # points of a curve
STOPPED = "stopped"  # the failure after Ctrl-C
DIVERGED = "diverged"  # the first word of the failure if errors overflow

# The measure of a model's bytes, by system.
MEASURES = {
    "ours": "nbytes",
    "saved": "nbytes",
    "baseline": "4 bytes per number",
    "river": "_raw_memory_usage",
    "moa": "measureByteSize",
    "torch": "4 bytes per number",
}

Curve = Sequence[tuple[int, float]]


class AnyStream(Protocol):
    """The interface that streams of classes and regression streams share."""

    @property
    def name(self) -> str:
        """The stream's name in tables."""

    @property
    def samples(self) -> int:
        """The number of samples."""


@dataclass(frozen=True)
class AnyCell:
    """The result of one learner on one stream.

    All measurements are None unless the whole stream was learned. But after a stop or a timeout,
    `seconds` and `samples_per_second` are those of the samples so far. A failure after the whole
    stream means that the bytes could not be measured.
    """

    stream: str
    name: str
    system: str
    learner: str
    settings: Mapping[str, Any]
    failure: str  # the reason as a text; "" without a failure
    samples: int  # samples so far
    model_bytes: int | None = None
    model_bytes_by: str | None = None  # the name of the measure
    seconds: float | None = None
    samples_per_second: float | None = None
    # (samples, accuracy or mean absolute error so far) at about 200 places
    curve: Curve = ()
    sizes: Curve = ()  # bytes after a number of samples, from 0 on if requested
    shapes: Sequence[tuple[int, Shape]] = ()  # the same for a tree's shape
    labels: int | None = None  # labels that were learned; None: all
    timed_out: bool = False  # whether the failure is the time limit

    def record(self) -> dict[str, Any]:
        """Return the result as JSON holds it."""
        return asdict(self)


@dataclass(frozen=True)
class Asked:
    """The number of labels that one of ours has queried, as a message of its process."""

    labels: int


C = TypeVar("C", bound=AnyCell)


class Contest(Generic[C]):
    """A running learner, and the score of its predictions.

    Each kind of stream has a subclass, which scores the predictions.
    """

    def __init__(self, work: Any, contender: Contender, stream: AnyStream) -> None:
        self.work = work
        self.contender = contender
        self.samples = 0
        self.asked: int | None = None  # labels that one of ours has queried
        self._name, self._total = stream.name, stream.samples
        self._seconds = 0.0
        self._sizes: list[tuple[int, float]] = []
        self._shapes: list[tuple[int, Shape]] = []
        self._curve: list[tuple[int, float]] = []

    def count(self, predicted: Sequence[Any]) -> None:
        """Score the predictions of the next samples."""
        raise NotImplementedError

    def so_far(self) -> float:
        """Return the curve's value after the samples so far."""
        raise NotImplementedError

    def cell(self, **common: Any) -> C:
        """Return a result with these fields."""
        raise NotImplementedError

    def scored(self, cell: C) -> C:
        """Return the result with its scores, after the whole stream."""
        raise NotImplementedError

    def advance(self) -> C | None:
        """Handle the messages that have arrived; return the result after the last one."""
        try:
            message = self.work.receive()
            while message is not None:
                if isinstance(message, int):
                    self._sizes.append((self.samples, message))
                elif isinstance(message, Asked):
                    self.asked = message.labels
                elif isinstance(message, dict):
                    self._shapes.append((self.samples, message))
                else:
                    self._take(*message)
                message = self.work.receive()
        except Ended as ended:
            cell = self._cell(str(ended))
            late = isinstance(ended, TimeLimit)
            return replace(self._timed(cell) if late else cell, timed_out=late)
        return None

    def stopped(self) -> C:
        """Return the result of a run that was stopped."""
        return self._timed(self._cell(STOPPED))

    def _timed(self, cell: C) -> C:
        """Return the cell with the time so far; not for a baseline, whose loop is ours."""
        if self.contender.system == "baseline" or not self.samples:
            return cell
        return replace(
            cell,
            seconds=round(self._seconds, 3),
            samples_per_second=round(self.samples / max(self._seconds, 1e-9), 1),
        )

    def _take(self, predicted: Sequence[Any], seconds: float) -> None:
        self.count(predicted)
        self.samples += len(predicted)
        self._seconds += seconds
        due = self.samples * _POINTS // self._total > len(self._curve)
        if due or self.samples == self._total:
            self._curve.append((self.samples, self.so_far()))

    def _cell(self, failure: str) -> C:
        contender = self.contender
        cell = self.cell(
            stream=self._name,
            name=contender.name,
            system=contender.system,
            learner=contender.learner,
            settings=dict(contender.settings),
            failure=failure,
            samples=self.samples,
            curve=tuple(self._curve),
        )
        if self.samples < self._total:
            return replace(cell, failure=failure or "ended too early")
        size = int(self._sizes[-1][1]) if self._sizes else None
        whole = replace(
            self._timed(cell),
            model_bytes=size,
            model_bytes_by=None if size is None else MEASURES[contender.system],
            sizes=tuple(self._sizes),
            shapes=tuple(self._shapes),
        )
        return self.scored(whole)

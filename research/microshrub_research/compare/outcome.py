"""What comes of one learner on one stream, of classes or of numbers, as its process tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from microshrub_host.base.worker_process import Ended, TimeLimit

from .contender import Contender
from .tree_shape import Shape

_POINTS = 200  # of a curve
STOPPED = "stopped"  # the failure of a run that Ctrl-C ended
DIVERGED = "diverged"  # how that of one begins whose errors are beyond any number

# How the bytes of a model are measured, by system.
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
    """What a stream of classes and one of numbers have in common."""

    @property
    def name(self) -> str:
        """What tables call it."""

    @property
    def samples(self) -> int:
        """How many there are."""


@dataclass(frozen=True)
class AnyCell:
    """What became of one learner on one stream.

    All measurements are None unless the whole stream was learned; but seconds and
    samples_per_second are there, of the samples that it saw, if it was stopped or ran out of time.
    A failure after the whole stream means that the bytes could not be measured.
    """

    stream: str
    name: str
    system: str
    learner: str
    settings: Mapping[str, Any]
    failure: str  # what went wrong, in words; "" if nothing did
    samples: int  # that it saw
    model_bytes: int | None = None
    model_bytes_by: str | None = None  # whose measure that is
    seconds: float | None = None
    samples_per_second: float | None = None
    # (samples, accuracy or mean absolute error of all of them) at about 200 places
    curve: Curve = ()
    sizes: Curve = ()  # bytes after so many samples, from 0 on if they were asked for
    shapes: Sequence[tuple[int, Shape]] = ()  # of a tree, likewise
    labels: int | None = None  # that it learned; None: all
    timed_out: bool = False  # the failure: it reached its time limit

    def record(self) -> dict[str, Any]:
        """The outcome as JSON holds it."""
        return asdict(self)


@dataclass(frozen=True)
class Asked:
    """How many labels one of ours has asked for, as its process tells it."""

    labels: int


C = TypeVar("C", bound=AnyCell)


class Contest(Generic[C]):
    """A learner that is being run, and the count of what it said.

    A kind of stream has a class of its own, which says how predictions are scored.
    """

    def __init__(self, work: Any, contender: Contender, stream: AnyStream) -> None:
        self.work = work
        self.contender = contender
        self.samples = 0
        self.asked: int | None = None  # labels that one of ours has asked for
        self._name, self._total = stream.name, stream.samples
        self._seconds = 0.0
        self._sizes: list[tuple[int, float]] = []
        self._shapes: list[tuple[int, Shape]] = []
        self._curve: list[tuple[int, float]] = []

    def count(self, predicted: Sequence[Any]) -> None:
        """Score the predictions of the next samples."""
        raise NotImplementedError

    def so_far(self) -> float:
        """The point of the curve after those that were counted."""
        raise NotImplementedError

    def cell(self, **common: Any) -> C:
        """The outcome with these fields."""
        raise NotImplementedError

    def scored(self, cell: C) -> C:
        """The outcome with its scores, after the whole stream."""
        raise NotImplementedError

    def advance(self) -> C | None:
        """Take what has come; returns the outcome once nothing more is to come."""
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
        """The outcome of a run that nobody waits for any more."""
        return self._timed(self._cell(STOPPED))

    def _timed(self, cell: C) -> C:
        """With the time of the samples that it saw; not of a baseline, whose loop is ours."""
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

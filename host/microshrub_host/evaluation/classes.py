"""What comes of a run over a stream of classes: accuracies, curves, and those of two baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..beside.anomaly import AnomalyRun
from ..beside.companion import Beside, BesideRun, Followed
from ..beside.label_budget import AskingRun
from ..beside.spare_run import SpareRun
from ..engines.interface import Engine, Labels, Said, Status
from ..streams.kept_values import column_room, let_go
from ..streams.stream import Stream
from ..streams.units import Scale
from .by_class import ByClass
from .task import RunResult, StreamTask

_POINTS = 400  # at least this many points in the curves of a long stream
_LONGEST_BLOCK = 2048
_AT_ONCE = 1 << 18  # samples of which a mean is formed

_Run = TypeVar("_Run", bound=BesideRun)


@dataclass(frozen=True)
class Point:
    """Where the evaluation stood after some samples; accuracies in percent."""

    samples: int
    accuracy: float
    accuracy_nochange: float
    accuracy_majority: float
    progress: dict[str, int]


@dataclass(frozen=True)
class WithoutLabels:
    """What a model knows once nobody tells it labels; see kept_aside.py.

    `accuracy` is how many of the samples that were kept aside were right, in percent.
    """

    samples: int  # that were asked
    learned: int
    accuracy: float
    by_class: ByClass = field(repr=False)
    windows: bool = False  # whether whole stretches of time were kept aside

    @property
    def balanced_accuracy(self) -> float:
        """The mean of the classes' recalls, in percent."""
        return self.by_class.balanced_accuracy

    def record(self) -> dict[str, Any]:
        """For --json."""
        return {
            "accuracy_without_labels": self.accuracy,
            "balanced_accuracy_without_labels": self.balanced_accuracy,
            "recall_without_labels": self.by_class.record()["recall"],
            "samples_without_labels": self.samples,
        }

    def rows(self) -> list[tuple[str, str]]:
        """For a table: names and values."""
        how = ", in runs" * self.windows
        found = [
            ("without labels", f"{self.accuracy:.2f} % of {self.samples:,} kept aside{how}"),
            ("  balanced accuracy", f"{self.balanced_accuracy:.2f} %"),
        ]
        return [*found, *self.by_class.recall_rows()]

    def sentence(self) -> str:
        """What it means."""
        how = ", in whole stretches of time," * self.windows
        return (
            f"Without labels, after learning {self.learned:,} samples, the model predicts "
            f"{self.accuracy:.2f} % of {self.samples:,} held-out samples{how} correctly "
            f"(balanced accuracy {self.balanced_accuracy:.2f} %)."
        )


@dataclass(frozen=True, kw_only=True)
class Result(RunResult):
    """The outcome of one run; accuracies and kappas in percent."""

    classes: int
    accuracy: float
    running_average_accuracy: float
    accuracy_nochange: float
    accuracy_majority: float
    label_agreement: float  # how often two samples drawn at random have the same label
    kappa: float
    kappa_temporal: float
    right: NDArray[np.bool_] = field(repr=False)
    history: list[Point] = field(repr=False)
    scale: Scale = field(repr=False)
    by_class: ByClass = field(repr=False)
    alone: WithoutLabels | None = field(default=None, repr=False)  # if it was asked for

    @property
    def anomaly(self) -> AnomalyRun | None:
        """The result of the anomaly score, or None."""
        return self._beside(AnomalyRun)

    @property
    def spare(self) -> SpareRun | None:
        """The result of the spare classes, or None."""
        return self._beside(SpareRun)

    @property
    def asking(self) -> AskingRun | None:
        """Which labels were asked for, or None without a label budget."""
        return self._beside(AskingRun)

    def _beside(self, kind: type[_Run]) -> _Run | None:
        return next((run for run in self.beside.values() if isinstance(run, kind)), None)

    def record(self) -> dict[str, Any]:
        """The result as JSON holds it: one flat object, without the curves."""
        flat = super().record() | {name: run.record() for name, run in self.beside.items()}
        flat |= self.alone.record() if self.alone else {}
        return flat | self.by_class.record()


class ClassTask(StreamTask[Result]):
    """The classes of a stream's samples."""

    def __init__(self, stream: Stream, beside: Beside) -> None:
        self.name, self.rows, self.scale = stream.name, stream.values, stream.scale
        self.labels = stream.labels
        self.samples, self.features = stream.values.shape
        self.block = max(1, min(_LONGEST_BLOCK, self.samples // _POINTS))
        self.beside: Beside = beside
        self._classes = len(stream.class_names)
        self._right = column_room(self.samples, np.bool_)
        self._by_class = ByClass.none_yet(tuple(stream.class_names))
        self._said: list[list[NDArray[np.uint8]]] = [[] for _ in beside]
        self._history: list[Point] = []

    def take(self, run: Engine, at: int, said: Said) -> None:
        labels = self.labels[at : at + self.block]
        self._right[at : at + len(labels)] = said == labels
        self._by_class.add(labels, said)
        let_go(self.labels)
        let_go(self._right)
        for i, told in enumerate(self._said):
            told.append(np.frombuffer(run.said(i), np.uint8).reshape(-1, len(labels)))
        status = run.status()
        self._history.append(
            Point(
                samples=status.samples,
                accuracy=status.accuracy,
                accuracy_nochange=status.accuracy_nochange,
                accuracy_majority=status.accuracy_majority,
                progress=status.progress,
            )
        )

    def so_far(self) -> tuple[int, float]:
        return self._history[-1].samples, self._history[-1].accuracy

    def result(self, run: Engine, status: Status, common: Mapping[str, Any]) -> Result:
        return Result(
            **common,
            classes=self._classes,
            accuracy=status.accuracy,
            running_average_accuracy=running_average(self._right),
            accuracy_nochange=status.accuracy_nochange,
            accuracy_majority=status.accuracy_majority,
            label_agreement=label_agreement(self.labels),
            kappa=status.kappa,
            kappa_temporal=status.kappa_temporal,
            right=self._right,
            history=self._history,
            scale=self.scale,
            by_class=self._by_class,
            beside=self._beside(run, status),
        )

    def _beside(self, run: Engine, status: Status) -> dict[str, BesideRun]:
        """What became of the companions, by what JSON calls them."""
        buffers = run.buffers() if self.beside else []
        found = {}
        for said, told, each in zip(self._said, status.beside, self.beside, strict=True):
            size = sum(len(data) for name, _, data in buffers if name.startswith(each.buffers))
            rows = np.concatenate(said, axis=1)
            followed = Followed(rows, told, size, self.features, self.labels, self._right)
            found[each.said] = each.result(followed)
        return found


def label_agreement(labels: Labels) -> float:
    """The chance in percent that two labels drawn at random, one after the other, are equal."""
    parts = range(0, len(labels), _AT_ONCE)
    counts = np.zeros(256, np.intp)
    for at in parts:
        counts += np.bincount(labels[at : at + _AT_ONCE], minlength=256)
        let_go(labels)
    shares = counts / len(labels)
    return float(np.sum(shares**2) * 100)


def running_accuracy(right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Percent correct so far after each sample, shape (samples,)."""
    return np.cumsum(right) / np.arange(1, len(right) + 1) * 100


def running_average(right: NDArray[np.bool_]) -> float:
    """The mean over time of the running accuracy, in percent: what the papers' tables hold."""
    total, before = 0.0, 0
    for at in range(0, len(right), _AT_ONCE):
        part = right[at : at + _AT_ONCE]
        rights = before + np.cumsum(part)
        total += float(np.sum(rights / np.arange(at + 1, at + 1 + len(part)) * 100))
        before = int(rights[-1])
        let_go(right)
    return total / len(right)

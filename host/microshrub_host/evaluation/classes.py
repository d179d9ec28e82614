"""The result of a run over a stream of classes: accuracies, curves, and two baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..simulation.anomaly import AnomalyRun
from ..simulation.companion import CompanionReport, CompanionRun, Companions
from ..simulation.engine_interface import Engine, Labels, Predictions, Status
from ..simulation.label_budget import LabelBudgetRun
from ..simulation.spare_run import SpareRun
from ..streams.stored_values import column_room, let_go
from ..streams.stream import Stream
from ..streams.units import Scale
from .by_class import ByClass
from .task import RunResult, StreamTask
from .unseen import Unseen

_POINTS = 400  # at least this many points in the curves of a long stream
_LONGEST_BLOCK = 2048
_AT_ONCE = 1 << 18  # samples per partial sum

_Run = TypeVar("_Run", bound=CompanionRun)


@dataclass(frozen=True)
class Point:
    """A point of the curves: the accuracies, in percent, after a number of samples."""

    samples: int
    accuracy: float
    accuracy_nochange: float
    accuracy_majority: float
    progress: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Result(RunResult):
    """The outcome of one run; accuracies and kappas in percent."""

    classes: int
    accuracy: float
    running_average_accuracy: float
    accuracy_nochange: float
    accuracy_majority: float
    label_agreement: float  # chance in percent that two random samples have equal labels
    kappa: float
    kappa_temporal: float
    right: NDArray[np.bool_] = field(repr=False)
    history: list[Point] = field(repr=False)
    scale: Scale = field(repr=False)
    by_class: ByClass = field(repr=False)
    windows: bool = field(default=False, repr=False)  # whether samples share readings
    unseen: Unseen | None = field(default=None, repr=False)  # only if requested

    @property
    def anomaly(self) -> AnomalyRun | None:
        """The result of the anomaly score, or None."""
        return self._companions(AnomalyRun)

    @property
    def spare(self) -> SpareRun | None:
        """The result of the spare classes, or None."""
        return self._companions(SpareRun)

    @property
    def label_budget(self) -> LabelBudgetRun | None:
        """The queries for labels and their result, or None without a label budget."""
        return self._companions(LabelBudgetRun)

    def _companions(self, run_class: type[_Run]) -> _Run | None:
        return next((run for run in self.companions.values() if isinstance(run, run_class)), None)

    def record(self) -> dict[str, Any]:
        """Return the result for JSON: one flat object, without the curves."""
        flat = super().record() | {name: run.record() for name, run in self.companions.items()}
        flat |= self.unseen.record() if self.unseen else {}
        return flat | self.by_class.record()


class ClassTask(StreamTask[Result]):
    """The task of predicting the classes of a stream's samples."""

    def __init__(self, stream: Stream, companions: Companions) -> None:
        self.name, self.rows, self.scale = stream.name, stream.values, stream.scale
        self.labels = stream.labels
        self.samples, self.features = stream.values.shape
        self.block = max(1, min(_LONGEST_BLOCK, self.samples // _POINTS))
        self.companions: Companions = companions
        self._classes = len(stream.class_names)
        self._windows = stream.extraction is not None
        self._right = column_room(self.samples, np.bool_)
        self._by_class = ByClass.none_yet(tuple(stream.class_names))
        self._outputs: list[list[NDArray[np.uint8]]] = [[] for _ in companions]
        self._history: list[Point] = []

    def take(self, run: Engine, at: int, predictions: Predictions) -> None:
        labels = self.labels[at : at + self.block]
        self._right[at : at + len(labels)] = predictions == labels
        self._by_class.add(labels, predictions)
        let_go(self.labels)
        let_go(self._right)
        for i, blocks in enumerate(self._outputs):
            blocks.append(np.frombuffer(run.outputs(i), np.uint8).reshape(-1, len(labels)))
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
            companions=self._companions(run, status),
            windows=self._windows,
        )

    def _companions(self, run: Engine, status: Status) -> dict[str, CompanionRun]:
        """Return the companions' results by their keys in JSON."""
        buffers = run.buffers() if self.companions else []
        results = {}
        for blocks, companion_status, each in zip(
            self._outputs, status.companions, self.companions, strict=True
        ):
            size = sum(len(data) for name, _, data in buffers if name.startswith(each.buffers))
            rows = np.concatenate(blocks, axis=1)
            report = CompanionReport(
                rows, companion_status, size, self.features, self.labels, self._right
            )
            results[each.key] = each.result(report)
        return results


def label_agreement(labels: Labels) -> float:
    """Return the chance, in percent, that two labels drawn with replacement are equal."""
    parts = range(0, len(labels), _AT_ONCE)
    counts = np.zeros(256, np.intp)
    for at in parts:
        counts += np.bincount(labels[at : at + _AT_ONCE], minlength=256)
        let_go(labels)
    shares = counts / len(labels)
    return float(np.sum(shares**2) * 100)


def running_accuracy(right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the percentage of correct predictions so far after each sample, shape (samples,)."""
    return np.cumsum(right) / np.arange(1, len(right) + 1) * 100


def running_average(right: NDArray[np.bool_]) -> float:
    """Return the mean over time of the running accuracy, in percent, as in the papers' tables."""
    total, before = 0.0, 0
    for at in range(0, len(right), _AT_ONCE):
        part = right[at : at + _AT_ONCE]
        rights = before + np.cumsum(part)
        total += float(np.sum(rights / np.arange(at + 1, at + 1 + len(part)) * 100))
        before = int(rights[-1])
        let_go(right)
    return total / len(right)

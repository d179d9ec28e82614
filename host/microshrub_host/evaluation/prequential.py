"""Prequential evaluation of a learner on a stream: predict each sample, then learn it."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.mapped_memory import let_go
from ..beside.anomaly import AnomalyRun
from ..beside.between import Forecast
from ..beside.companion import Beside, BesideRun, Followed, freezes
from ..beside.label_budget import AskingRun
from ..beside.spare_run import SpareRun
from ..engines import engines
from ..engines.interface import Engine, Labels, Said, States
from ..engines.status import Status
from ..library import loader
from ..library.learners import MODELS, REGRESSORS, kind_of, warmup_of
from ..streams.kept_values import column_room
from ..streams.stream import Stream
from ..streams.units import Raw, Scale
from .by_class import ByClass
from .without_labels import WithoutLabels

_POINTS = 400  # at least this many points in the curves of a long stream
_LONGEST_BLOCK = 2048
_AT_ONCE = 1 << 18  # samples of which a mean is formed

_NOT_IN_RECORD = (
    *("right", "history", "progress", "scale", "states"),
    *("by_class", "alone", "beside"),
)

Progress = Callable[[int, int, float], None]


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
class Result:
    """The outcome of one run; accuracies and kappas in percent."""

    stream: str
    model: str
    parameters: dict[str, Any]
    engine: str
    samples: int
    features: int
    classes: int
    accuracy: float
    running_average_accuracy: float
    accuracy_nochange: float
    accuracy_majority: float
    label_agreement: float  # how often two samples drawn at random have the same label
    kappa: float
    kappa_temporal: float
    clamped: int
    missing: int
    progress: dict[str, int]
    state_crc32: int
    seconds: float
    samples_per_second: float
    right: NDArray[np.bool_] = field(repr=False)
    history: list[Point] = field(repr=False)
    scale: Scale = field(repr=False)
    states: States = field(repr=False)  # once it has settled after the last sample
    by_class: ByClass = field(repr=False)
    beside: dict[str, BesideRun] = field(default_factory=dict, repr=False)  # by their names
    alone: WithoutLabels | None = field(default=None, repr=False)  # if it was asked for

    @property
    def anomaly(self) -> AnomalyRun | None:
        """What the anomaly score said, if there is one."""
        return self._beside(AnomalyRun)

    @property
    def spare(self) -> SpareRun | None:
        """What became of spare classes, if there are some."""
        return self._beside(SpareRun)

    @property
    def asking(self) -> AskingRun | None:
        """Which labels were asked for, if there was a budget of them."""
        return self._beside(AskingRun)

    def _beside(self, kind: type[_Run]) -> _Run | None:
        return next((run for run in self.beside.values() if isinstance(run, kind)), None)

    def record(self) -> dict[str, Any]:
        """The result as JSON holds it: one flat object, without the curves."""
        names = (each.name for each in fields(self) if each.name not in _NOT_IN_RECORD)
        flat = {name: getattr(self, name) for name in names}
        flat |= {name: run.record() for name, run in self.beside.items()}
        flat |= self.alone.record() if self.alone else {}
        return flat | self.by_class.record() | self.progress


def raw_rows(stream: Stream) -> Raw:
    """The stream's values as raw integers, shape (samples, features)."""
    return stream.scale.apply(stream.values)


def fit(engine: Engine, rows: Raw, warmup: int) -> None:
    """Fit the engine's quantizer on the first rows and freeze it, unless its ranges grow."""
    if warmup:
        engine.observe(rows[:warmup])
        engine.freeze()


def compile_kernels(model: str, parameters: Mapping[str, Any], engine: str | None = None) -> None:
    """Compile all that a run of such a model on that engine needs, or load it from the cache.

    The engine is `llvm` or `c`; None is the fastest here.
    """
    engine = engine or loader.fastest()
    _compile(model, tuple(_switches(parameters)), engine)
    with contextlib.suppress(OSError):
        mark = _compiled_mark(model, parameters, engine)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


@functools.cache  # a process needs to do it once
def _compile(model: str, switches: tuple[str, ...], engine: str) -> None:
    numbers = model in REGRESSORS
    small = {"features": 1} if numbers else {"features": 1, "classes": 2}
    switched = small | dict.fromkeys(switches, True)
    rows = np.zeros((3, 1), dtype=np.int32)
    labels = np.zeros(0 if numbers else 3, dtype=np.uint8)
    beside = [Forecast({"columns": 1, "column": 0, "horizon": 1})] if numbers else []
    with engines.start(engine, kind_of(model), switched, beside) as run:
        fit(run, rows, 3)
        run.run(rows, labels)


def are_compiled(model: str, parameters: Mapping[str, Any], engine: str | None = None) -> bool:
    """Whether compile_kernels has done its work before, in this cache."""
    try:
        return _compiled_mark(model, parameters, engine or loader.fastest()).exists()
    except OSError:
        return False


def _switches(parameters: Mapping[str, Any]) -> list[str]:
    """The parameters that are True: they may switch on other kernels."""
    return sorted(name for name, value in parameters.items() if value is True)


def _compiled_mark(model: str, parameters: Mapping[str, Any], engine: str) -> Path:
    name = "-".join([model, *_switches(parameters)])
    return loader.compiler(engine).marks() / f"{name}.compiled"


def evaluate(
    stream: Stream,
    model: str,
    parameters: dict[str, Any],
    *,
    engine: str | None = None,
    warmup: int | None = None,
    progress: Progress | None = None,
    beside: Beside = (),
) -> Result:
    """Run a learner, made with these parameters, over the whole stream.

    The quantizer sees the features of the first `warmup` samples before the run, 0 if ranges are
    to grow, None for what is usual: see warmup_of(). Every sample counts. `beside` are companions
    on_stream(), in the order of registry.py; parameters are those with them around. Raises
    ValueError for parameters that the learner refuses.
    """
    warmup = warmup_of(model, warmup, frozen=freezes(beside))
    scale, total = stream.scale, len(stream.labels)
    engine = engine or loader.fastest()
    if engine in loader.COMPILED:
        compile_kernels(model, parameters, engine)
    taken = _Taken(stream, len(beside))
    seconds = 0.0
    block = max(1, min(_LONGEST_BLOCK, total // _POINTS))
    with engines.start(engine, MODELS[model], parameters, beside, growing=not warmup) as run:
        fit(run, scale.apply(stream.values[:warmup]), warmup)
        for at, rows in scale.blocks(stream.values, block):
            labels = stream.labels[at : at + block]
            begin = time.perf_counter()
            predictions = run.run(rows, labels)
            seconds += time.perf_counter() - begin
            taken.block(run, at, labels, predictions)
            if progress:
                progress(taken.history[-1].samples, total, taken.history[-1].accuracy)
        run.settle()
        return taken.result(run, model, parameters, engine, seconds, beside)


class _Taken:
    """What comes of a stream, block by block."""

    def __init__(self, stream: Stream, parts: int) -> None:
        self._stream = stream
        self._right = column_room(len(stream.labels), np.bool_)
        self._by_class = ByClass.none_yet(tuple(stream.class_names))
        self._said: list[list[NDArray[np.uint8]]] = [[] for _ in range(parts)]
        self.history: list[Point] = []
        self.crc32 = 0

    def block(self, run: Engine, at: int, labels: Labels, predictions: Said) -> None:
        """Take a block in, which begins with sample `at`."""
        self._right[at : at + len(labels)] = predictions == labels
        self._by_class.add(labels, predictions)
        let_go(self._stream.labels)
        let_go(self._right)
        for i, said in enumerate(self._said):
            said.append(np.frombuffer(run.said(i), np.uint8).reshape(-1, len(labels)))
        status = run.status()
        self.crc32 = status.state_crc32  # before it settles
        self.history.append(_point(status))

    def result(
        self,
        run: Engine,
        model: str,
        parameters: dict[str, Any],
        engine: str,
        seconds: float,
        beside: Beside,
    ) -> Result:
        """All of it."""
        stream, last, status = self._stream, self.history[-1], run.status()
        total = len(stream.labels)
        return Result(
            stream=stream.name,
            model=model,
            parameters=dict(parameters),
            engine=engine,
            samples=total,
            features=stream.values.shape[1],
            classes=len(stream.class_names),
            accuracy=last.accuracy,
            running_average_accuracy=running_average(self._right),
            accuracy_nochange=last.accuracy_nochange,
            accuracy_majority=last.accuracy_majority,
            label_agreement=label_agreement(stream.labels),
            kappa=status.kappa,
            kappa_temporal=status.kappa_temporal,
            clamped=status.clamped,
            missing=status.missing,
            progress=last.progress,
            state_crc32=self.crc32,
            seconds=round(seconds, 3),
            samples_per_second=round(total / max(seconds, 1e-9), 1),
            right=self._right,
            history=self.history,
            scale=stream.scale,
            states=run.saved(),
            by_class=self._by_class,
            beside=self._beside(run, status, beside),
        )

    def _beside(self, run: Engine, status: Status, beside: Beside) -> dict[str, BesideRun]:
        """What became of the companions, by what JSON calls them."""
        buffers = run.buffers() if beside else []
        found = {}
        for said, told, each in zip(self._said, status.beside, beside, strict=True):
            size = sum(len(data) for name, _, data in buffers if name.startswith(each.buffers))
            features = self._stream.values.shape[1]
            rows = np.concatenate(said, axis=1)
            followed = Followed(rows, told, size, features, self._stream.labels, self._right)
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


def _point(status: Status) -> Point:
    return Point(
        samples=status.samples,
        accuracy=status.accuracy,
        accuracy_nochange=status.accuracy_nochange,
        accuracy_majority=status.accuracy_majority,
        progress=status.progress,
    )

"""Prequential evaluation of a learner on a stream: predict each sample, then learn it."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.mapped_memory import let_go
from ..engines import engines, loader
from ..engines.anomaly_options import AnomalyOptions
from ..engines.asking_options import AskingOptions
from ..engines.interface import Anomalies, Engine, Labels, States
from ..engines.learners import MODELS, REGRESSORS, kind_of, warmup_of
from ..engines.spare_options import SPARE_BUFFERS
from ..engines.status import Status
from ..streams.kept_values import column_room
from ..streams.stream import Stream
from ..streams.units import Raw, Scale
from .anomaly_run import AnomalyRun
from .asking_run import AskingRun
from .by_class import ByClass
from .spare_run import SpareRun
from .without_labels import WithoutLabels

_POINTS = 400  # at least this many points in the curves of a long stream
_LONGEST_BLOCK = 2048
_AT_ONCE = 1 << 18  # samples of which a mean is formed

# Of a result, and what JSON calls them
_BESIDE = {"anomaly": "anomaly", "spare": "spare_classes", "asking": "asking"}

Progress = Callable[[int, int, float], None]


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
    anomaly: AnomalyRun | None = field(default=None, repr=False)  # if it was asked for
    spare: SpareRun | None = field(default=None, repr=False)  # with spare classes
    asking: AskingRun | None = field(default=None, repr=False)  # if labels were
    alone: WithoutLabels | None = field(default=None, repr=False)  # if it was asked for

    def record(self) -> dict[str, Any]:
        """The result as JSON holds it: one flat object, without the curves."""
        left_out = (
            "right",
            "history",
            "progress",
            "scale",
            "states",
            "by_class",
            "alone",
            *_BESIDE,
        )
        names = (each.name for each in fields(self) if each.name not in left_out)
        flat = {name: getattr(self, name) for name in names}
        for name, said in _BESIDE.items():
            if beside := getattr(self, name):
                flat[said] = beside.record()
        if self.alone:
            flat |= self.alone.record()
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
    target = {"columns": 1, "column": 0, "horizon": 1} if numbers else None
    with engines.start(engine, kind_of(model), switched, target=target) as run:
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
    anomaly: AnomalyOptions | None = None,
    spare: dict[str, Any] | None = None,
    asking: AskingOptions | None = None,
) -> Result:
    """Run a learner, made with these parameters, over the whole stream.

    The quantizer sees the features of the first `warmup` samples before the run, 0 if ranges are
    to grow, None for what is usual: see warmup_of(). Every sample counts. With `anomaly`, each
    sample gets an anomaly score, too. With `spare`, as SpareOptions.of_stream() gives it, some
    classes get a name only while it learns; until then, their samples have no label, and no
    prediction of them is right. With `asking`, only those labels are learned that are asked for.
    Raises ValueError for parameters that the learner refuses.
    """
    warmup = warmup_of(model, warmup, frozen=bool(anomaly or spare))
    scale = stream.scale
    total = len(stream.labels)
    engine = engine or loader.fastest()
    if engine in loader.COMPILED:
        compile_kernels(model, parameters, engine)
    right = column_room(total, np.bool_)
    history: list[Point] = []
    seconds = 0.0
    block = max(1, min(_LONGEST_BLOCK, total // _POINTS))
    by_class = ByClass.none_yet(tuple(stream.class_names))
    said: list[Anomalies] = []
    new: list[NDArray[np.bool_]] = []
    questions: list[NDArray[np.uint8]] = []
    beside: dict[str, Any] = {
        "anomaly": anomaly.parameters() if anomaly else None,
        "spare": spare,
        "asking": asking.parameters() if asking else None,
    }
    with engines.start(engine, MODELS[model], parameters, **beside, growing=not warmup) as run:
        fit(run, scale.apply(stream.values[:warmup]), warmup)
        for at, rows in scale.blocks(stream.values, block):
            labels = stream.labels[at : at + block]
            begin = time.perf_counter()
            predictions = run.run(rows, labels)
            seconds += time.perf_counter() - begin
            right[at : at + block] = predictions == labels
            by_class.add(labels, predictions)
            let_go(stream.labels)
            let_go(right)
            if anomaly:
                said.append(run.anomalies())
            if spare:
                new.append(run.newcomers())
            if asking:
                questions.append(run.questions())
            history.append(_point(run.status()))
            if progress:
                progress(history[-1].samples, total, history[-1].accuracy)
        status = run.status()
        run.settle()
        states = run.saved()
        size = sum(len(data) for name, _, data in run.buffers() if name.startswith(SPARE_BUFFERS))
    last = history[-1]
    return Result(
        stream=stream.name,
        model=model,
        parameters=dict(parameters),
        engine=engine,
        samples=total,
        features=stream.values.shape[1],
        classes=len(stream.class_names),
        accuracy=last.accuracy,
        running_average_accuracy=running_average(right),
        accuracy_nochange=last.accuracy_nochange,
        accuracy_majority=last.accuracy_majority,
        label_agreement=label_agreement(stream.labels),
        kappa=status.kappa,
        kappa_temporal=status.kappa_temporal,
        clamped=status.clamped,
        missing=status.missing,
        progress=status.progress,
        state_crc32=status.state_crc32,
        seconds=round(seconds, 3),
        samples_per_second=round(total / max(seconds, 1e-9), 1),
        right=right,
        history=history,
        scale=scale,
        states=states,
        by_class=by_class,
        anomaly=AnomalyRun.of(said, anomaly, stream.values.shape[1], status.anomaly_threshold)
        if anomaly
        else None,
        spare=SpareRun.of(spare, status.answers, np.concatenate(new), stream.labels, right, size)
        if spare
        else None,
        asking=AskingRun.of(questions, asking) if asking else None,
    )


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

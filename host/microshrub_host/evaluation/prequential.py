"""Prequential evaluation of a learner on a stream: predict each sample, then learn it."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..library import loader
from ..library.learners import REGRESSORS, learner_name, warmup_of
from ..simulation import engines
from ..simulation.companion import Companions, freezes
from ..simulation.engine_interface import Engine
from ..simulation.pipeline import Forecast
from ..streams.stream import Stream
from ..streams.units import Raw
from .classes import ClassTask, Result
from .task import R, StreamTask

Progress = Callable[[int, int, float], None]


def fit(engine: Engine, rows: Raw, warmup: int) -> None:
    """Fit the quantizer on the first `warmup` rows and freeze it; with 0, its ranges grow."""
    if warmup:
        engine.observe(rows[:warmup])
        engine.freeze()


def compile_kernels(model: str, parameters: Mapping[str, Any], engine: str | None = None) -> None:
    """Compile all kernels that the model needs on the engine, or load them from the cache.

    If `engine` is None, it is the fastest one here. The engine `python` needs no kernels.
    """
    engine = engine or loader.fastest()
    if engine not in loader.COMPILED:
        return
    _compile(model, tuple(_switches(parameters)), engine)
    with contextlib.suppress(OSError):
        mark = _compiled_mark(model, parameters, engine)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


@functools.cache  # once in a process is enough
def _compile(model: str, switches: tuple[str, ...], engine: str) -> None:
    numbers = model in REGRESSORS
    small = {"features": 1} if numbers else {"features": 1, "classes": 2}
    switched = small | dict.fromkeys(switches, True)
    rows = np.zeros((3, 1), dtype=np.int32)
    labels = np.zeros(0 if numbers else 3, dtype=np.uint8)
    companions = [Forecast({"columns": 1, "column": 0, "horizon": 1})] if numbers else []
    with engines.start(engine, learner_name(model), switched, companions) as run:
        fit(run, rows, 3)
        run.run(rows, labels)


def are_compiled(model: str, parameters: Mapping[str, Any], engine: str | None = None) -> bool:
    """Return whether compile_kernels() would find all kernels of the model in the cache."""
    engine = engine or loader.fastest()
    try:
        return engine not in loader.COMPILED or _compiled_mark(model, parameters, engine).exists()
    except OSError:
        return False


def _switches(parameters: Mapping[str, Any]) -> list[str]:
    """Return the names of parameters that are True: they may enable other kernels."""
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
    companions: Companions = (),
) -> Result:
    """Run a learner with these parameters over the whole stream.

    The quantizer is fitted on the features of the first `warmup` samples before the run; 0 lets
    the ranges grow, None is the default of warmup_of(). Every sample counts. `companions` come
    from on_stream(), in the registry's order, and the parameters include the companions'. Raises
    ValueError for parameters that the learner refuses.
    """
    warmup = warmup_of(model, warmup, frozen=freezes(companions))
    return learn(ClassTask(stream, companions), model, parameters, engine, warmup, progress)


def learn(
    task: StreamTask[R],
    model: str,
    parameters: Mapping[str, Any],
    engine: str | None,
    warmup: int,
    progress: Progress | None,
) -> R:
    """Predict and then learn each row of a task; see evaluate()."""
    engine = engine or loader.fastest()
    compile_kernels(model, parameters, engine)
    seconds = 0.0
    companions, growing = task.companions, not warmup
    with engines.start(
        engine, learner_name(model), parameters, companions, growing=growing
    ) as run:
        fit(run, task.scale.apply(task.rows[:warmup]), warmup)
        for at, rows in task.scale.blocks(task.rows, task.block):
            labels = task.labels[at : at + task.block]
            begin = time.perf_counter()
            predictions = run.run(rows, labels)
            seconds += time.perf_counter() - begin
            task.take(run, at, predictions)
            if progress:
                done, score = task.so_far()
                progress(done, task.samples, score)
        status = run.status()
        run.settle()
        common = {
            "stream": task.name,
            "model": model,
            "parameters": dict(parameters),
            "engine": engine,
            "samples": task.samples,
            "features": task.features,
            "clamped": status.clamped,
            "missing": status.missing,
            "progress": status.progress,
            "state_crc32": status.state_crc32,  # before run.settle()
            "seconds": round(seconds, 3),
            "samples_per_second": round(len(task.rows) / max(seconds, 1e-9), 1),
            "states": run.saved(),
        }
        return task.result(run, status, common)

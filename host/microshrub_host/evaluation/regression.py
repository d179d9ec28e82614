"""Prequential evaluation of a learner of numbers: its errors, and those of two simple guesses."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import engines, loader
from ..engines.learners import kind_of
from ..streams.number_streams import NumberStream, Values
from .prequential import Progress, compile_kernels, fit

_BLOCK = 512
_NOT_IN_RECORD = (
    *("predictions", "half_widths", "states", "progress"),
    *("errors", "nochange", "running_mean"),
)


@dataclass(frozen=True)
class Errors:
    """How far predictions are from the targets, in the targets' unit."""

    mae: float  # mean absolute error
    rmse: float  # root of the mean squared error
    r2: float  # part of the targets' variance that is explained; below 0: worse than their mean


@dataclass(frozen=True)
class IntervalResult:
    """How the intervals around the predictions have held."""

    share: float  # percent of the targets that were to be inside
    inside: float  # percent that were
    mean_width: float  # in the targets' unit


@dataclass(frozen=True)
class NumberResult:
    """The outcome of one run."""

    stream: str
    target: str
    horizon: int
    model: str
    parameters: dict[str, Any]
    engine: str
    samples: int
    scored: int  # those with a known target before them, which the errors are about
    features: int
    errors: Errors
    nochange: Errors  # of predicting the last known target
    running_mean: Errors  # of predicting the mean of those known
    interval: IntervalResult | None
    clamped: int
    missing: int
    progress: dict[str, int]
    state_crc32: int
    seconds: float
    samples_per_second: float
    predictions: Values = field(repr=False)
    half_widths: Values = field(repr=False)  # of the intervals, in the targets' unit, if there are
    states: engines.States = field(repr=False)

    def record(self) -> dict[str, Any]:
        """The result as JSON holds it: one flat object, without the predictions."""
        flat = asdict(self)
        for name in _NOT_IN_RECORD:
            del flat[name]
        if self.interval is None:
            del flat["interval"]
        flat |= asdict(self.errors)
        for name in ("nochange", "running_mean"):
            flat |= {f"{key}_{name}": value for key, value in asdict(getattr(self, name)).items()}
        return flat | self.progress


def intervals_of(
    said: engines.Said, halves: engines.Said, targets: engines.Said, share: float, unit: float
) -> IntervalResult:
    """What came of the intervals of that share, in percent, around raw predictions.

    All are of shape (samples,), of those whose target is known; unit is what a raw integer
    stands for.
    """
    inside = np.abs(said.astype(np.int64) - targets) <= halves
    return IntervalResult(share, 100 * float(inside.mean()), 2 * float(halves.mean()) * unit)


def errors_of(predictions: Values, targets: Values) -> Errors:
    """The errors of predictions, both of shape (samples,)."""
    away = predictions - targets
    spread = float(np.sum((targets - targets.mean()) ** 2))
    squares = float(np.sum(away**2))
    return Errors(
        mae=float(np.mean(np.abs(away))),
        rmse=float(np.sqrt(np.mean(away**2))),
        r2=1 - squares / spread if spread else 0.0,
    )


def evaluate_numbers(
    stream: NumberStream,
    model: str,
    parameters: Mapping[str, Any],
    *,
    engine: str | None = None,
    warmup: int = 256,
    ends: tuple[int, int] | None = None,
    interval: float | None = None,
    progress: Progress | None = None,
) -> NumberResult:
    """Run a learner of numbers, made with these parameters, over the whole stream.

    The ranges of the features and the targets are those of the first `warmup` rows, unless
    `ends` is the raw range of the targets. Every sample counts for which a simple guess could be
    made. The last rows, whose targets come after the stream, are predicted, too, as on a board.
    With `interval`, a share in percent, there is an interval around each prediction. Raises
    ValueError for parameters that the learner refuses.
    """
    engine = engine or loader.fastest()
    if engine in loader.COMPILED:
        compile_kernels(model, parameters, engine)
    rows = stream.raw_rows()
    said = np.zeros(len(rows), dtype=np.int32)
    halves = np.zeros_like(said)
    seconds = 0.0
    target = stream.forecaster(ends, interval)
    with engines.start(engine, kind_of(model), parameters, target=target) as run:
        fit(run, rows, warmup)
        for at in range(0, len(rows), _BLOCK):
            part = slice(at, at + _BLOCK)
            begin = time.perf_counter()
            said[part] = run.run(rows[part])
            seconds += time.perf_counter() - begin
            halves[part] = run.halves()
            if progress:
                done = min(at + _BLOCK, stream.samples)
                progress(done, stream.samples, _mean_error(stream, said, done))
        status = run.status()
        states = run.saved()
    predictions = stream.target_scale.values(said[: stream.samples, None])[:, 0]
    held = None
    unit = 10.0 ** -int(stream.target_scale.digits[0])
    if interval is not None:
        known = ~np.isnan(stream.targets)
        raw = rows[stream.horizon :, stream.place][known]
        told, half = (numbers[: stream.samples][known] for numbers in (said, halves))
        held = intervals_of(told, half, raw, interval, unit)
    scored = stream.scored
    pairs = {
        "errors": predictions,
        "nochange": stream.known,
        "running_mean": stream.running_means,
    }
    found = {
        name: errors_of(guess[scored], stream.targets[scored]) for name, guess in pairs.items()
    }
    return NumberResult(
        stream=stream.name,
        target=stream.target_name,
        horizon=stream.horizon,
        model=model,
        parameters=dict(parameters),
        engine=engine,
        samples=stream.samples,
        scored=int(scored.sum()),
        features=stream.features,
        interval=held,
        clamped=status.clamped,
        missing=status.missing,
        progress=status.progress,
        state_crc32=status.state_crc32,
        seconds=round(seconds, 3),
        samples_per_second=round(len(rows) / max(seconds, 1e-9), 1),
        predictions=predictions,
        half_widths=np.asarray(halves[: stream.samples] * unit, dtype=np.float64),
        states=states,
        **found,
    )


def _mean_error(stream: NumberStream, said: NDArray[np.int32], done: int) -> float:
    predictions = stream.target_scale.values(said[:done, None])[:, 0]
    return float(np.nanmean(np.abs(predictions - stream.targets[:done])))

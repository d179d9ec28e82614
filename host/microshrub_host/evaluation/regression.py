"""The result of a run over a regression stream: its errors, and the errors of two baselines.

Errors and interval coverage are summed up block by block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..simulation.engine_interface import Engine, Predictions, Status
from ..simulation.pipeline import Forecast
from ..streams.regression_streams import NumberStream, Values
from ..streams.stored_values import column_room, let_go
from ..streams.units import Raw
from .prequential import Progress, learn
from .task import RunResult, StreamTask


@dataclass(frozen=True)
class Errors:
    """The errors of predictions, in the targets' unit."""

    mae: float  # mean absolute error
    rmse: float  # root of the mean squared error
    r2: float  # share of the targets' variance that is explained; below 0: worse than their mean


@dataclass(frozen=True)
class IntervalResult:
    """The coverage and width of the prediction intervals."""

    share: float  # nominal coverage in percent
    inside: float  # actual coverage in percent
    mean_width: float  # in the targets' unit


class ErrorSums:
    """Running sums, from which the means in Errors are computed."""

    def __init__(self) -> None:
        self.count = 0
        self._away = self._squares = 0.0
        self._mean = self._spread = 0.0  # mean and sum of squared deviations of the targets

    def add(self, predictions: Values, targets: Values) -> None:
        """Add predictions and targets, both of shape (samples,), none of them missing."""
        new = len(targets)
        if not new:
            return
        away = predictions - targets
        self._away += float(np.sum(np.abs(away)))
        self._squares += float(np.sum(away**2))
        mean = float(np.mean(targets))
        apart, whole = mean - self._mean, self.count + new
        # The spread of two parts: the spread within each part, and between the parts' means
        self._spread += float(np.sum((targets - mean) ** 2))
        self._spread += apart**2 * self.count * new / whole
        self._mean += apart * new / whole
        self.count = whole

    @property
    def mae(self) -> float:
        """The mean absolute error; NaN without a prediction."""
        return self._away / self.count if self.count else math.nan

    def errors(self) -> Errors:
        """Return the errors of all predictions added."""
        rmse = math.sqrt(self._squares / self.count) if self.count else math.nan
        return Errors(self.mae, rmse, 1 - self._squares / self._spread if self._spread else 0.0)


def errors_of(predictions: Values, targets: Values) -> Errors:
    """Return the errors of predictions; both arrays have the shape (samples,)."""
    sums = ErrorSums()
    sums.add(predictions, targets)
    return sums.errors()


class IntervalSums:
    """The number of raw targets inside the intervals around raw predictions, and the widths' sum.

    unit is the value of one step of a raw integer.
    """

    def __init__(self, unit: float) -> None:
        self._unit = unit
        self._count = self._inside = self._halves = 0

    def add(self, predictions: Raw, halves: Raw, targets: Raw) -> None:
        """Add predictions, intervals and known targets, all of shape (samples,)."""
        self._count += len(targets)
        self._inside += int(np.sum(np.abs(predictions.astype(np.int64) - targets) <= halves))
        self._halves += int(np.sum(halves, dtype=np.int64))

    def result(self, share: float) -> IntervalResult:
        """Return the intervals' coverage and mean width; `share` is the nominal coverage, in %."""
        count = max(self._count, 1)
        return IntervalResult(
            share, 100 * self._inside / count, 2 * self._halves / count * self._unit
        )


_BLOCK = 512
_BASELINES = ("nochange", "running_mean")


@dataclass(frozen=True, kw_only=True)
class NumberResult(RunResult):
    """The result of one run."""

    target: str
    horizon: int
    scored: int  # samples that count for errors: their target and the last one are known
    errors: Errors
    nochange: Errors  # errors of predicting the last known target
    running_mean: Errors  # errors of predicting the mean of the known targets
    interval: IntervalResult | None
    predictions: Values = field(repr=False)
    half_widths: Values = field(repr=False)  # in the targets' unit; may be empty

    _PARTS = ("progress", "errors", *_BASELINES, "interval")

    def record(self) -> dict[str, Any]:
        """Return the result for JSON: one flat object, without the predictions."""
        flat = super().record() | asdict(self.errors)
        for name in _BASELINES:
            flat |= {f"{key}_{name}": value for key, value in asdict(getattr(self, name)).items()}
        return flat | ({"interval": asdict(self.interval)} if self.interval else {})


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
    """Run a regressor with these parameters over the whole stream.

    The ranges of the features and the target come from the first `warmup` rows, and from later
    rows, too, if the target is constant in the first ones; `ends`, if given, is the raw range of
    the target instead. Every sample counts for which the baselines have a prediction. The last
    rows, whose targets come after the stream, are predicted, too, as on a board. With `interval`,
    a coverage in percent, there is an interval around each prediction. Raises ValueError for
    parameters that the learner refuses.
    """
    task = NumberTask(stream, ends, interval)
    return learn(task, model, parameters, engine, stream.first_rows(warmup), progress)


class NumberTask(StreamTask[NumberResult]):
    """The task of predicting a stream's target column, with or without intervals."""

    block = _BLOCK

    def __init__(
        self, stream: NumberStream, ends: tuple[int, int] | None, interval: float | None
    ) -> None:
        self.name, self.rows, self.scale = stream.name, stream.columns, stream.scale
        self.samples, self.features = stream.samples, stream.features
        self.companions = [Forecast(stream.forecaster(ends, interval))]
        self._stream, self._interval = stream, interval
        self._known = stream.parts(_BLOCK)
        self._unit = 10.0 ** -int(stream.target_scale.digits[0])
        self._predictions = column_room(stream.samples, np.float64)
        self._halves = column_room(0 if interval is None else stream.samples, np.float64)
        self._sums = [ErrorSums() for _ in ("the learner", *_BASELINES)]
        self._held = IntervalSums(self._unit)
        self._done = 0

    def take(self, run: Engine, at: int, predictions: Predictions) -> None:
        part = next(self._known, None)
        if part is None:  # the last rows' targets come after the stream
            return
        self._done = at + len(part.targets)
        samples, raw = slice(at, self._done), predictions[: len(part.targets)]
        scale = self._stream.target_scale
        self._predictions[samples] = scale.values(raw[:, None])[:, 0]
        baselines = self._predictions[samples], part.last, part.means
        for each, baseline in zip(self._sums, baselines, strict=True):
            each.add(baseline[part.scored], part.targets[part.scored])
        if self._interval is not None:
            half = np.frombuffer(run.outputs(), "<i4")[: len(raw)]
            self._halves[samples] = half * self._unit
            there = ~np.isnan(part.targets)
            self._held.add(raw[there], half[there], scale.apply(part.targets[there, None])[:, 0])
        let_go(self._predictions)
        let_go(self._halves)

    def so_far(self) -> tuple[int, float]:
        return self._done, self._sums[0].mae

    def result(self, run: Engine, status: Status, common: Mapping[str, Any]) -> NumberResult:
        errors, nochange, running_mean = (each.errors() for each in self._sums)
        return NumberResult(
            **common,
            target=self._stream.target_name,
            horizon=self._stream.horizon,
            scored=self._sums[0].count,
            errors=errors,
            nochange=nochange,
            running_mean=running_mean,
            interval=None if self._interval is None else self._held.result(self._interval),
            predictions=self._predictions,
            half_widths=self._halves,
        )

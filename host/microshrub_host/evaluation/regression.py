"""Prequential evaluation of a learner of numbers: its errors, and those of two simple guesses."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from ..base.mapped_memory import let_go
from ..beside.between import Forecast
from ..engines import engines
from ..engines.interface import States
from ..library import loader
from ..library.learners import kind_of
from ..streams.kept_values import column_room
from ..streams.number_streams import NumberStream, Values
from .errors import Errors, ErrorSums, IntervalResult, IntervalSums
from .prequential import Progress, compile_kernels, fit

_BLOCK = 512
_NOT_IN_RECORD = (
    *("predictions", "half_widths", "states", "progress"),
    *("errors", "nochange", "running_mean", "interval"),
)


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
    half_widths: Values = field(repr=False)  # of the intervals, in the targets' unit; or none
    states: States = field(repr=False)

    def record(self) -> dict[str, Any]:
        """The result as JSON holds it: one flat object, without the predictions."""
        names = (each.name for each in fields(self) if each.name not in _NOT_IN_RECORD)
        flat = {name: getattr(self, name) for name in names}
        if self.interval is not None:
            flat["interval"] = asdict(self.interval)
        flat |= asdict(self.errors)
        for name in ("nochange", "running_mean"):
            flat |= {f"{key}_{name}": value for key, value in asdict(getattr(self, name)).items()}
        return flat | self.progress


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
    said = column_room(stream.samples, np.float64)
    halves = column_room(0 if interval is None else stream.samples, np.float64)
    seconds = 0.0
    unit = 10.0 ** -int(stream.target_scale.digits[0])
    sums = {name: ErrorSums() for name in ("errors", "nochange", "running_mean")}
    held = IntervalSums(unit)
    forecast = Forecast(stream.forecaster(ends, interval))
    known = stream.parts(_BLOCK)
    with engines.start(engine, kind_of(model), parameters, [forecast]) as run:
        fit(run, stream.scale.apply(stream.columns[:warmup]), warmup)
        for at, rows in stream.scale.blocks(stream.columns, _BLOCK):
            begin = time.perf_counter()
            raw = run.run(rows)
            seconds += time.perf_counter() - begin
            part = next(known, None)
            if part is None:  # the last rows' targets come after the stream
                continue
            samples = slice(at, at + len(part.targets))
            raw = raw[: len(part.targets)]
            said[samples] = stream.target_scale.values(raw[:, None])[:, 0]
            guesses = said[samples], part.last, part.means
            for each, guess in zip(sums.values(), guesses, strict=True):
                each.add(guess[part.scored], part.targets[part.scored])
            if interval is not None:
                half = np.frombuffer(run.said(), "<i4")[: len(raw)]
                halves[samples] = half * unit
                there = ~np.isnan(part.targets)
                targets = stream.target_scale.apply(part.targets[there, None])[:, 0]
                held.add(raw[there], half[there], targets)
            let_go(said)
            let_go(halves)
            if progress:
                progress(samples.stop, stream.samples, sums["errors"].mae)
        status = run.status()
        states = run.saved()
    return NumberResult(
        stream=stream.name,
        target=stream.target_name,
        horizon=stream.horizon,
        model=model,
        parameters=dict(parameters),
        engine=engine,
        samples=stream.samples,
        scored=sums["errors"].count,
        features=stream.features,
        interval=None if interval is None else held.result(interval),
        clamped=status.clamped,
        missing=status.missing,
        progress=status.progress,
        state_crc32=status.state_crc32,
        seconds=round(seconds, 3),
        samples_per_second=round(len(stream.columns) / max(seconds, 1e-9), 1),
        predictions=said,
        half_widths=halves,
        states=states,
        **{name: each.errors() for name, each in sums.items()},
    )

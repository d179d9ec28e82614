"""Regression streams: each sample has a target, a number, instead of a class.

The target is a column of a file, of one of River's regression data sets, or of a generated stream.
Without a horizon, it is predicted from the other columns of its row. With a horizon of N, the
target N rows later is forecast, and the target's last values are features, too. As on a board, a
target is learned only after its time has come.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import DataError
from .stored_values import PART, Floats, taken_out
from .stream import MAX_FEATURES, Extraction
from .units import Raw, Scale


@dataclass(frozen=True)
class KnownTargets:
    """The targets of consecutive samples, and the baselines; all of shape (samples,).

    targets  NaN where one is missing
    last     the last target known when a sample arrives; NaN without one
    means    the mean of the targets known then; NaN without one
    """

    targets: Floats
    last: Floats
    means: Floats

    @functools.cached_property
    def scored(self) -> NDArray[np.bool_]:
        """The samples that count for errors: their target and the last one are known."""
        return ~(np.isnan(self.last) | np.isnan(self.targets))


class RunningBaselines:
    """The last target and the mean of the targets so far, computed in parts.

    A part has shape (samples,): the target that arrived with each sample, or NaN.
    """

    def __init__(self) -> None:
        self._last = math.nan
        self._count, self._total = 0, 0.0

    def last(self, came: Floats) -> Floats:
        """Return the last target up to each sample; NaN before the first."""
        known = came.copy()
        if np.isnan(known[0]):
            known[0] = self._last
        places = np.where(np.isnan(known), 0, np.arange(len(known)))
        result: Floats = known[np.maximum.accumulate(places)]
        self._last = float(result[-1])
        return result

    def means(self, came: Floats) -> Floats:
        """Return the mean of the targets up to each sample; NaN before the first."""
        there = ~np.isnan(came)
        counts = self._count + np.cumsum(there)
        totals = np.cumsum(np.concatenate([[self._total], np.where(there, came, 0.0)]))[1:]
        self._count, self._total = int(counts[-1]), float(totals[-1])
        return np.where(counts > 0, totals / np.maximum(counts, 1), math.nan)


Values = NDArray[np.float64]
MOST_AHEAD = 1000  # rows in a horizon
NOT_SCORED = "neither learned nor scored there."  # end of the note on missing targets


@dataclass(frozen=True)
class NumberStream:
    """Rows of columns, one of which is the target, in stream order. A missing value is NaN.

    A sample is a row whose target is in the stream: there are `horizon` fewer samples than rows.
    """

    name: str
    columns: Values  # (rows, columns)
    column_names: tuple[str, ...]
    place: int  # place of the target among the columns
    horizon: int  # 0: the target belongs to the sample's own time
    lags: int  # the target's last values used as features; 0 without a horizon
    notes: tuple[str, ...] = ()  # sentences on losses while reading
    known_scale: Scale | None = None  # if the reader has determined it
    extraction: Extraction | None = None  # for columns extracted from a recording's readings

    @property
    def target_name(self) -> str:
        """The name of the target's column."""
        return self.column_names[self.place]

    @property
    def late(self) -> int:
        """The number of samples that come between a sample and its target."""
        return max(self.horizon - 1, 0)

    @property
    def samples(self) -> int:
        """The number of rows whose target is in the stream."""
        return len(self.columns) - self.horizon

    @property
    def features(self) -> int:
        """The number of features of a sample: the other columns, and the lags."""
        return len(self.column_names) - 1 + self.lags

    @functools.cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, in their order."""
        return names_of_features(self.column_names, self.place, self.lags)

    @functools.cached_property
    def values(self) -> Values:
        """The features, shape (samples, features)."""
        others = np.delete(self.columns, self.place, axis=1)
        target = self.columns[:, self.place]
        lags = [_behind(target, lag) for lag in range(self.lags)]
        return np.column_stack([others, *lags])[: self.samples]

    @property
    def targets(self) -> Values:
        """The targets, shape (samples,); NaN where one is missing."""
        return self._whole.targets

    @property
    def known(self) -> Values:
        """The last target known at each sample, shape (samples,); NaN if none."""
        return self._whole.last

    @property
    def running_means(self) -> Values:
        """The mean of the targets known at each sample, shape (samples,); NaN if none."""
        return self._whole.means

    @property
    def scored(self) -> NDArray[np.bool_]:
        """The samples that count for errors, shape (samples,): target and last one are known."""
        return self._whole.scored

    @functools.cached_property
    def _whole(self) -> KnownTargets:
        return next(self.parts(self.samples))

    def parts(self, most: int) -> Iterator[KnownTargets]:
        """Yield the targets and baselines of all samples, `most` samples at a time.

        If the columns are in a file, only a part is in memory.
        """
        baselines, before = RunningBaselines(), np.full(1, math.nan)
        at_once = most * max(1, PART // most)
        for start in range(0, self.samples, at_once):
            end = min(start + at_once, self.samples)
            rows = slice(start, end + self.horizon)
            column = taken_out(self.columns[:, self.place : self.place + 1], rows)[:, 0]
            for at in range(0, end - start, most):
                now = column[: end - start][at : at + most]
                targets = column[self.horizon :][at : at + most]
                if self.horizon:
                    yield KnownTargets(targets, now, baselines.means(now))
                else:
                    came = np.concatenate([before, now[:-1]])
                    before = now[-1:]
                    yield KnownTargets(targets, baselines.last(came), baselines.means(came))

    @functools.cached_property
    def scale(self) -> Scale:
        """The units of the columns."""
        return self.known_scale or Scale.fit(self.columns)

    @property
    def target_scale(self) -> Scale:
        """The unit of the target, as the scale of one column."""
        part = slice(self.place, self.place + 1)
        return Scale(self.scale.offset[part], self.scale.digits[part])

    def first_rows(self, warmup: int) -> int:
        """Return the number of first rows to fit ranges on: `warmup`, or more for a late target.

        Rows with no target, or with a constant one, give the target no range. If the target first
        changes after `warmup` rows, the rows up to the change and `warmup` more count, unless it
        is constant for a hundred times `warmup` rows.
        """
        first = self.columns[: 100 * warmup, self.place]
        known = np.flatnonzero(~np.isnan(first))
        moved = known[first[known] != first[known[0]]] if len(known) else known
        late = len(moved) and moved[0] >= warmup
        return int(moved[0]) + warmup if late else warmup

    def raw_rows(self) -> Raw:
        """Return all rows as raw integers, shape (rows, columns)."""
        return self.scale.apply(self.columns)

    def forecaster(
        self, ends: tuple[int, int] | None = None, interval: float | None = None
    ) -> dict[str, Any]:
        """Return the parameters of firmware's Forecaster, except the model.

        ends is the raw range of the target, interval the intervals' nominal coverage in percent.
        """
        return {
            "columns": len(self.column_names),
            "column": self.place,
            "ends": ends,
            "horizon": self.horizon,
            "lags": self.lags,
            "interval": interval,
        }


def ahead(stream: NumberStream, horizon: int, lags: int) -> NumberStream:
    """Return the stream with a forecast `horizon` rows ahead, with `lags`; horizon 0: none.

    Raises DataError if that is impossible.
    """
    check_ahead(horizon, lags)
    rows, columns = stream.columns.shape
    if rows <= horizon:
        raise DataError(f"{stream.name} has {rows} rows: too few for --horizon {horizon}.")
    if horizon and columns - 1 + lags > MAX_FEATURES:
        raise DataError(f"--lags {lags} makes more than {MAX_FEATURES} features of a sample.")
    return replace(stream, horizon=horizon, lags=lags if horizon else 0)


def check_ahead(horizon: int, lags: int) -> None:
    """Raise DataError if the horizon or the lags are out of range."""
    if not 0 <= horizon <= MOST_AHEAD:
        raise DataError(f"--horizon is {horizon}; it must be 1 to {MOST_AHEAD} rows.")
    if lags < 1:
        raise DataError(f"--lags is {lags}; it must be 1 or more values.")


def names_of_features(columns: Sequence[str], place: int, lags: int) -> tuple[str, ...]:
    """Return the names of the other columns, and of the target's last values."""
    others = (name for i, name in enumerate(columns) if i != place)
    now = f"{columns[place]} now"
    before = (f"{columns[place]} {lag} before" for lag in range(1, lags))
    return (*others, *([now] if lags else []), *before)


def _behind(targets: Values, lag: int) -> Values:
    """Return the targets `lag` rows before; NaN before the first one."""
    return np.concatenate([np.full(lag, math.nan), targets[: len(targets) - lag]])

"""Streams of numbers: each sample has a target, a number, instead of a class.

The target is a column of a file, of one of River's regression data sets, or of a generated stream.
Without a horizon, it is to be told from the other columns of its row. With a horizon of N, it is
forecast: what is asked for is the target N rows later, and the target's last values are features,
too. What is known when is the same as on a board: a target is learned when its time has come.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.text import count, did_you_mean
from .columns import number_of
from .data_files import FileTable, ReadingOptions, fill, leave_out_too_large, open_table
from .extraction import Extraction
from .generators import in_numbers, river_names
from .stream import MAX_FEATURES, DataError, Progress
from .text_lines import text_lines
from .units import Raw, Scale

Values = NDArray[np.float64]
MOST_AHEAD = 1000  # rows, of a horizon
_SEED = 1
NOT_SCORED = "neither learned nor scored there."  # how the note on missing targets ends
_TARGET = "target"  # what it is called where the source has no name for it
_SYNTHETIC_SAMPLES = 20_000
_CHANGES = 3  # of Friedman's function, at equal distances


@dataclass(frozen=True)
class NumberStream:
    """Rows of columns, one of which is the target, in stream order. A missing value is NaN.

    A sample is a row whose target is in the stream, too: there are `horizon` fewer than rows.
    """

    name: str
    columns: Values  # (rows, columns)
    column_names: tuple[str, ...]
    place: int  # of the target among the columns
    horizon: int  # 0: the target belongs to the sample's own time
    lags: int  # the target's last values that are features; 0 without a horizon
    notes: tuple[str, ...] = ()  # what the reader could not keep, a sentence each
    known_scale: Scale | None = None  # where the reader has looked for it already
    extraction: Extraction | None = None  # of columns that were made of a recording's readings

    @property
    def target_name(self) -> str:
        """The name of the target's column."""
        return self.column_names[self.place]

    @property
    def late(self) -> int:
        """Samples that come between a sample and its target."""
        return max(self.horizon - 1, 0)

    @property
    def samples(self) -> int:
        """Rows whose target is in the stream."""
        return len(self.columns) - self.horizon

    @property
    def features(self) -> int:
        """Of a sample: the other columns, and the lags."""
        return len(self.column_names) - 1 + self.lags

    @functools.cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, in their order."""
        return names_of_features(self.column_names, self.place, self.lags)

    @functools.cached_property
    def values(self) -> Values:
        """The features, shape (samples, features)."""
        others = np.delete(self.columns, self.place, axis=1)
        lags = [_behind(self._target, lag) for lag in range(self.lags)]
        return np.column_stack([others, *lags])[: self.samples]

    @property
    def targets(self) -> Values:
        """The targets, shape (samples,); NaN where one is missing."""
        return self._target[self.horizon :]

    @functools.cached_property
    def known(self) -> Values:
        """The last target that is known when a sample comes, shape (samples,); NaN: none is."""
        if self.horizon:
            return self._target[: self.samples]
        before = _behind(self._target, 1)
        last = np.maximum.accumulate(np.where(np.isnan(before), 0, np.arange(len(before))))
        return before[last]

    @property
    def scored(self) -> NDArray[np.bool_]:
        """The samples that errors are about, shape (samples,): target and last one are known."""
        return ~(np.isnan(self.known) | np.isnan(self.targets))

    @functools.cached_property
    def running_means(self) -> Values:
        """The mean of the targets known when each sample comes, shape (samples,); NaN: none is."""
        came = self._target[: self.samples] if self.horizon else _behind(self._target, 1)
        counts = np.cumsum(~np.isnan(came))
        return np.where(counts > 0, np.nancumsum(came) / np.maximum(counts, 1), np.nan)

    @functools.cached_property
    def scale(self) -> Scale:
        """The units of the columns."""
        return self.known_scale or Scale.fit(self.columns)

    @property
    def target_scale(self) -> Scale:
        """The unit of the target, as of one column."""
        part = slice(self.place, self.place + 1)
        return Scale(self.scale.offset[part], self.scale.digits[part])

    def raw_rows(self) -> Raw:
        """All rows as raw integers, shape (rows, columns)."""
        return self.scale.apply(self.columns)

    def forecaster(
        self, ends: tuple[int, int] | None = None, interval: float | None = None
    ) -> dict[str, Any]:
        """The parameters of firmware's Forecaster, but for the model.

        ends is the raw range of the target, interval the percent that its intervals are to hold.
        """
        return {
            "columns": len(self.column_names),
            "column": self.place,
            "ends": ends,
            "horizon": self.horizon,
            "lags": self.lags,
            "interval": interval,
        }

    @property
    def _target(self) -> Values:
        return self.columns[:, self.place]


def open_numbers(
    source: str,
    *,
    target: str | None = None,
    horizon: int = 0,
    lags: int = 1,
    header: bool = True,
    limit: int | None = None,
    warmup: int = 256,
    progress: Progress | None = None,
) -> NumberStream:
    """Open a source as a stream of numbers.

    Parameters
    ----------
    source
        A path to a .csv, .csv.gz, .arff or .arff.gz file; `river:NAME`, a regression data set of
        the river package; or `synth:NAME`, a generated stream: friedman, friedman_drift, mv,
        planes2d.
    target
        The column that is to be predicted. By default the last one.
    horizon
        0: the target of a row is told from its other columns. N: it is forecast, N rows ahead.
    lags
        With a horizon, the target's last values that are features: that of now, and those before.
    header, limit, warmup, progress
        As of open_stream.

    Raises
    ------
    DataError
        If the source or an argument is wrong, or a target is not a number.

    """
    _check_ahead(horizon, lags)
    return ahead(_read(source, target, header, limit, warmup, progress), horizon, lags)


def ahead(stream: NumberStream, horizon: int, lags: int) -> NumberStream:
    """The stream, its target to be forecast so many rows ahead, with so many lags; 0: not.

    Raises DataError if that cannot be.
    """
    _check_ahead(horizon, lags)
    rows, columns = stream.columns.shape
    if rows <= horizon:
        raise DataError(f"{stream.name} has {rows} rows: too few for --horizon {horizon}.")
    if horizon and columns - 1 + lags > MAX_FEATURES:
        raise DataError(f"--lags {lags} makes more than {MAX_FEATURES} features of a sample.")
    return replace(stream, horizon=horizon, lags=lags if horizon else 0)


def _check_ahead(horizon: int, lags: int) -> None:
    if not 0 <= horizon <= MOST_AHEAD:
        raise DataError(f"--horizon is {horizon}; it must be 1 to {MOST_AHEAD} rows.")
    if lags < 1:
        raise DataError(f"--lags is {lags}; it must be 1 or more values.")


def names_of_features(columns: Sequence[str], place: int, lags: int) -> tuple[str, ...]:
    """The other columns, and the last values of the one at that place."""
    others = (name for i, name in enumerate(columns) if i != place)
    now = f"{columns[place]} now"
    before = (f"{columns[place]} {lag} before" for lag in range(1, lags))
    return (*others, *([now] if lags else []), *before)


def _behind(targets: Values, lag: int) -> Values:
    """The targets so many rows before; NaN before the first one."""
    return np.concatenate([np.full(lag, math.nan), targets[: len(targets) - lag]])


def _read(
    source: str,
    target: str | None,
    header: bool,
    limit: int | None,
    warmup: int,
    progress: Progress | None,
) -> NumberStream:
    kind, _, name = source.partition(":")
    if kind not in ("river", "synth"):
        options = ReadingOptions(target, None, header, limit, None, warmup)
        return _of_file(Path(source), options, progress)
    if target not in (None, _TARGET):
        raise DataError(f"{source} knows its target: write --target {_TARGET}.")
    samples = _river(name) if kind == "river" else _synthetic(name)
    most = _SYNTHETIC_SAMPLES if kind == "synth" else None
    return _of_samples(source, islice(samples, limit or most))


def _of_file(path: Path, options: ReadingOptions, progress: Progress | None) -> NumberStream:
    with closing(text_lines(path, progress)) as lines:
        table = open_table(path.name, lines, options)
        fill(table, options.limit)
    order = np.arange(len(table.lines), dtype=np.intp)
    columns = [
        each.encode(order, options.warmup, partial(table.where, each)) for each in table.columns
    ]
    targets = np.array([_target(table, row) for row in range(len(order))])
    gaps = int(np.isnan(targets).sum())
    if gaps == len(targets):
        raise DataError(f"{path.name}: column {table.label.name} has no number.")
    columns.insert(table.label_place, targets)
    table.columns.insert(table.label_place, table.label)
    values = np.column_stack(columns)
    scale = Scale.fit(values)
    notes = leave_out_too_large(table, values, scale, order)
    if gaps:
        what = count(gaps, "row") + (" has" if gaps == 1 else " have")
        notes.append(f"{what} no {table.label.name}: {NOT_SCORED}")
    names = tuple(column.name for column in table.columns)
    return NumberStream(path.name, values, names, table.label_place, 0, 0, tuple(notes), scale)


def _target(table: FileTable, row: int) -> float:
    cell = table.label_cells[row]
    number = number_of(cell)
    if number is None or math.isinf(number):
        raise DataError(
            f"{table.where(table.label, row)}: {cell!r} is not a number. Correct it, or leave it "
            "empty if it is missing; --target NAME takes another column."
        )
    return number


def _of_samples(source: str, samples: Iterable[tuple[dict[str, Any], Any]]) -> NumberStream:
    rows = []
    categories: dict[Any, dict[str, int]] = {}
    for x, y in samples:
        row = {k: v.toordinal() if isinstance(v, date) else v for k, v in x.items()}
        numbers = [in_numbers(v, categories.setdefault(k, {})) for k, v in row.items()]
        rows.append([*numbers, float(y)])
    names = (*map(str, x), _TARGET)
    return NumberStream(source, np.array(rows), names, len(names) - 1, 0, 0)


def _river(name: str) -> Iterable[Any]:
    from river import datasets

    known = river_names(datasets.base.REG)
    if name not in known:
        raise DataError(
            f"river:{name} is not a regression data set that River ships. "
            f"{did_you_mean(name, known)}"
        )
    found: Iterable[Any] = getattr(datasets, name)()
    return found


def _friedman_drift() -> Any:
    from river.datasets import synth

    step = _SYNTHETIC_SAMPLES // (_CHANGES + 1)
    places = tuple(step * k for k in range(1, _CHANGES + 1))
    return synth.FriedmanDrift(drift_type="lea", position=places, seed=_SEED)


def _generator(name: str) -> Callable[[], Any]:
    def make() -> Any:
        from river.datasets import synth

        return getattr(synth, name)(seed=_SEED)

    return make


_SYNTHETIC: dict[str, Callable[[], Any]] = {
    "friedman": _generator("Friedman"),
    "friedman_drift": _friedman_drift,
    "mv": _generator("Mv"),
    "planes2d": _generator("Planes2D"),
}
NUMBER_SYNTHS = tuple(_SYNTHETIC)


def _synthetic(name: str) -> Iterable[Any]:
    if name not in _SYNTHETIC:
        raise DataError(
            f"There is no generated stream of numbers called synth:{name}. "
            f"{did_you_mean(name, _SYNTHETIC)}"
        )
    found: Iterable[Any] = _SYNTHETIC[name]()
    return found

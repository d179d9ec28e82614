"""Streams of numbers: each sample has a target, a number, instead of a class.

The target is a column of a file, of one of River's regression data sets, or of a generated stream.
Without a horizon, it is to be told from the other columns of its row. With a horizon of N, it is
forecast: what is asked for is the target N rows later, and the target's last values are features,
too. What is known when is the same as on a board: a target is learned when its time has come.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.text import did_you_mean
from .columns import number_of
from .data_files import FileTable, ReadingOptions, fill, open_table
from .generators import in_numbers, river_names
from .stream import MAX_FEATURES, DataError, Progress
from .text_lines import text_lines
from .units import Raw, Scale

Values = NDArray[np.float64]
_SEED = 1
_TARGET = "target"  # what it is called where the source has no name for it
_SYNTHETIC_SAMPLES = 20_000
_CHANGES = 3  # of Friedman's function, at equal distances


@dataclass(frozen=True)
class NumberStream:
    """Samples with their targets, in stream order. A missing value of a feature is NaN."""

    name: str
    values: Values  # (samples, features)
    targets: Values  # (samples,)
    known: Values  # (samples,) the last target that is known when a sample comes; NaN: none is
    feature_names: tuple[str, ...]
    target_name: str
    horizon: int  # 0: the target belongs to the sample's own time

    @functools.cached_property
    def scale(self) -> Scale:
        """The units of the columns."""
        return Scale.fit(self.values)

    @functools.cached_property
    def target_scale(self) -> Scale:
        """The unit of the target, as of one column."""
        return Scale.fit(self.targets[:, None])

    @property
    def late(self) -> int:
        """Samples that come between a sample and its target."""
        return max(self.horizon - 1, 0)

    def raw_rows(self) -> Raw:
        """The values as raw integers, shape (samples, features)."""
        return self.scale.apply(self.values)

    def raw_targets(self) -> Raw:
        """The targets as raw integers, shape (samples,)."""
        return self.target_scale.apply(self.targets[:, None])[:, 0]


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
        If the source or an argument is wrong, or a target is missing or not a number.

    """
    if not 0 <= horizon <= 1000:
        raise DataError(f"--horizon is {horizon}; it must be 1 to 1000 rows.")
    if lags < 1:
        raise DataError(f"--lags is {lags}; it must be 1 or more values.")
    values, targets, names, called = _read(source, target, header, limit, warmup, progress)
    if not horizon:
        known = np.concatenate([[math.nan], targets[:-1]])
        return NumberStream(source_name(source), values, targets, known, names, called, 0)
    if len(targets) <= horizon:
        raise DataError(f"{source} has {len(targets)} rows: too few for --horizon {horizon}.")
    if len(names) + lags > MAX_FEATURES:
        raise DataError(f"--lags {lags} makes more than {MAX_FEATURES} features of a sample.")
    values = np.column_stack([values, *(_behind(targets, lag) for lag in range(lags))])
    names += tuple(f"{called} {lag} before" if lag else f"{called} now" for lag in range(lags))
    end = len(targets) - horizon
    return NumberStream(
        name=source_name(source),
        values=values[:end],
        targets=targets[horizon:],
        known=targets[:end],
        feature_names=names,
        target_name=called,
        horizon=horizon,
    )


def source_name(source: str) -> str:
    """What a stream of that source is called."""
    return source if source.startswith(("river:", "synth:")) else Path(source).name


def _behind(targets: Values, lag: int) -> Values:
    """The targets so many rows before; NaN before the first one."""
    return np.concatenate([np.full(lag, math.nan), targets[: len(targets) - lag]])


_Columns = tuple[Values, Values, tuple[str, ...], str]  # features, targets, their names


def _read(
    source: str,
    target: str | None,
    header: bool,
    limit: int | None,
    warmup: int,
    progress: Progress | None,
) -> _Columns:
    kind, _, name = source.partition(":")
    if kind not in ("river", "synth"):
        options = ReadingOptions(target, None, header, limit, None, warmup)
        return _of_file(Path(source), options, progress)
    if target not in (None, _TARGET):
        raise DataError(f"{source} knows its target: write --target {_TARGET}.")
    samples = _river(name) if kind == "river" else _synthetic(name)
    most = _SYNTHETIC_SAMPLES if kind == "synth" else None
    return _of_samples(islice(samples, limit or most))


def _of_file(path: Path, options: ReadingOptions, progress: Progress | None) -> _Columns:
    with closing(text_lines(path, progress)) as lines:
        table = open_table(path.name, lines, options)
        fill(table, options.limit)
    order = np.arange(len(table.lines), dtype=np.intp)
    columns = [
        each.encode(order, options.warmup, partial(table.where, each)) for each in table.columns
    ]
    targets = np.array([_target(table, row) for row in range(len(order))])
    names = tuple(column.name for column in table.columns)
    return np.column_stack(columns), targets, names, table.label.name


def _target(table: FileTable, row: int) -> float:
    cell = table.label_cells[row]
    number = number_of(cell)
    if number is None or not math.isfinite(number):
        what = f"{cell!r} is not a number" if cell else "the target is missing"
        raise DataError(
            f"{table.where(table.label, row)}: {what}. Fill it in or delete the row; "
            "--target NAME takes another column."
        )
    return number


def _of_samples(samples: Iterable[tuple[dict[str, Any], Any]]) -> _Columns:
    rows, targets = [], []
    categories: dict[Any, dict[str, int]] = {}
    for x, y in samples:
        row = {k: v.toordinal() if isinstance(v, date) else v for k, v in x.items()}
        rows.append([in_numbers(v, categories.setdefault(k, {})) for k, v in row.items()])
        targets.append(float(y))
    return np.array(rows), np.array(targets), tuple(map(str, x)), _TARGET


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

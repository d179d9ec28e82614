"""A source as a regression stream: a file, another package's data, or a synthetic stream."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice
from typing import Any

import numpy as np

from ..base.errors import DataError
from ..base.text import count, did_you_mean
from . import csv_blocks
from .columns import MOST, ColumnChoice, check_count, number_in_words, number_of, together
from .data_files import FileTable, encoded, leave_out_too_large, read_with
from .generators import in_numbers, river_dataset
from .label_leakage import copy_notes, telltale_notes
from .open_stream import Source, check_decimal, open_stream
from .reading_options import ReadingOptions
from .recipes import generated
from .regression_streams import NOT_SCORED, NumberStream, Values, ahead, check_ahead
from .several_files import opened_data
from .sklearn_sets import sklearn_samples
from .source_file import GENERATED, SourceFile
from .stored_values import PART, let_go
from .stream import Progress, source_names
from .units import Scale

_SEED = 1
_TARGET = "target"  # name of the target if the source has none
_SYNTHETIC_SAMPLES = 20_000
_CHANGES = 3  # changes of Friedman's function, at equal distances


def open_numbers(
    source: Source | Sequence[Source],
    *,
    target: str | None = None,
    horizon: int = 0,
    lags: int = 1,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    header: bool = True,
    decimal: str | None = None,
    limit: int | None = None,
    warmup: int = 256,
    progress: Progress | None = None,
) -> NumberStream:
    """Open a source as a regression stream.

    Parameters
    ----------
    source
        A path to a file, or several, which are read one after the other; `river:NAME`, a
        regression data set of the river package; `sklearn:diabetes`; or `synth:NAME`, a generated
        stream: friedman, friedman_drift, mv, planes2d.
    target
        The column to predict. By default the last one.
    horizon
        0: the target is predicted from its own row. N: it is forecast, N rows ahead.
    lags
        With a horizon, the number of the target's last values that are features.
    columns, drop, header, decimal, limit, warmup, progress
        As for open_stream. With a horizon, no column but the target is needed.

    Raises
    ------
    DataError
        If the source or an argument is wrong, or a target is not a number.

    """
    sources = source_names(source)
    check_ahead(horizon, lags)
    choice = ColumnChoice.of(columns, drop)
    least = 0 if horizon else 1
    check_decimal(decimal)
    options = ReadingOptions(
        target, None, header, limit, None, warmup, choice, least, "target", decimal=decimal
    )
    result = _read(sources, options, progress)
    if columns is None and not horizon:
        others = {k: name for k, name in enumerate(result.column_names) if k != result.place}
        copies = copy_notes(result.name, others, result.columns, result.place)
        result = replace(result, notes=(*result.notes, *copies))
    return ahead(result, horizon, lags)


def open_columns(
    source: Source | Sequence[Source],
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    header: bool = True,
    decimal: str | None = None,
    limit: int | None = None,
    warmup: int = 256,
    progress: Progress | None = None,
) -> NumberStream:
    """Open a source without a class or target: all columns are features.

    The arguments and the errors are those of open_stream. For `river:NAME` and the like, these are
    the features of the classification data set.
    """
    sources = source_names(source)
    if len(sources) == 1 and sources[0].startswith(GENERATED):
        name = sources[0]
        stream = open_stream(name, columns=columns, drop=drop, limit=limit, progress=progress)
        names = stream.feature_names
        return NumberStream(name, stream.values, names, len(names) - 1, 0, 0)
    choice = ColumnChoice.of(columns, drop)
    check_decimal(decimal)
    options = ReadingOptions(
        None, None, header, limit, None, warmup, choice, 1, "nothing", decimal=decimal
    )
    with opened_data(sources, options, progress) as (file, reading):
        return _of_file(file, reading, progress)


def _read(
    sources: Sequence[str], options: ReadingOptions, progress: Progress | None
) -> NumberStream:
    source = sources[0]
    provider, _, name = source.partition(":")
    if len(sources) > 1 or f"{provider}:" not in GENERATED:
        with opened_data(sources, options, progress) as (file, reading):
            return _of_file(file, reading, progress)
    if options.label not in (None, _TARGET):
        raise DataError(f"{source} knows its target: write --target {_TARGET}.")
    samples = {"river": _river, "sklearn": sklearn_samples, "synth": _synthetic}[provider](name)
    most = _SYNTHETIC_SAMPLES if provider == "synth" else None
    result = _of_samples(source, islice(samples, options.limit or most))
    names = result.column_names
    places = options.choice.places(source, names, result.place)
    check_count(source, len(places), options.features, "target")
    kept = [*places, result.place]
    return replace(
        result,
        columns=result.columns[:, kept],
        column_names=tuple(names[each] for each in kept),
        place=len(places),
    )


def _of_file(
    source: SourceFile, options: ReadingOptions, progress: Progress | None
) -> NumberStream:
    def blocks(table: FileTable) -> tuple[FileTable, Values]:
        return table, _blocks(table, options, progress)

    def cells(table: FileTable) -> tuple[FileTable, Values]:
        return table, _cells(table, options)

    table, values = read_with(source, options, progress, blocks, cells)
    place, target = table.target_place, []
    if options.asks == "target":
        target = _target_notes(table, values[:, place])
        table.columns.insert(place, table.label)
    scale = Scale.fit(values)
    notes = [*table.all_notes(), *leave_out_too_large(table, values, scale, range(len(values)))]
    notes += target
    recordings = source.made.recordings if source.made else None
    if recordings and len(recordings.starts) > 1:
        notes.append(
            f"{source.name}: {len(recordings.starts)} files are read one after the other; lags, "
            "horizons and windows span from one to the next."
        )
    names = tuple(column.name for column in table.columns)
    if options.choice.columns is None:
        others = dict(enumerate(names))
        if options.asks == "target":
            del others[place]
        notes += telltale_notes(source.name, others, values)
    return NumberStream(source.name, values, names, place, 0, 0, tuple(notes), scale)


def _target_notes(table: FileTable, column: Values) -> list[str]:
    """Return notes on the target. Raises DataError if it has no number."""
    gaps = 0
    for at in range(0, len(column), PART):
        gaps += int(np.isnan(column[at : at + PART]).sum())
        let_go(column)
    if gaps == len(column):
        raise DataError(f"{table.name}: column {table.label.name} has no number.")
    if not gaps:
        return []
    what = count(gaps, "row") + (" has" if gaps == 1 else " have")
    return [f"{what} no {table.label.name}: {NOT_SCORED}"]


def _blocks(table: FileTable, options: ReadingOptions, progress: Progress | None) -> Values:
    """Return all columns of a CSV file of faultless numbers. Raises UnsureError for others."""
    layout = table.layout(of_classes=False)
    to_report = progress if table.source.made is None else None
    result = csv_blocks.read_numbers(table.source, layout, options.limit, to_report)
    table.lines = range(layout.skip + 1, layout.skip + 1 + len(result))
    return result


def _cells(table: FileTable, options: ReadingOptions) -> Values:
    """Return all columns from the cells that were read. Raises DataError."""
    order = np.arange(len(table.lines), dtype=np.intp)
    columns, faults, drop = encoded(table, order, options)
    if faults:
        raise together(faults, drop)
    if options.asks == "target":
        targets = np.array([_target(table, row, options.label) for row in range(len(order))])
        columns.insert(table.target_place, targets)
    elif table.columns[-1].texts:
        name = table.columns[-1].name
        table.notes.append(
            f"{table.name}: the last column, {name}, holds texts, and is a feature as the others "
            f"are. If it is a class, leave it out: --drop {shlex.quote(name)}."
        )
    return np.column_stack(columns)


def _target(table: FileTable, row: int, named: str | None) -> float:
    cell = table.label_cells[row]
    number = number_of(cell)
    if number is None or abs(number) > MOST:
        message = number_in_words(cell) if number is None else ""
        remedy = (
            f"{message}, here and in the rest of the file"
            if message
            else f"{cell!r} is {_fault(number)}. Correct it, or leave it empty if it is missing"
        )
        other = "--target NAME takes another column"
        if named is None:
            other = f"--drop {shlex.quote(table.label.name)} leaves the column out"
        raise DataError(f"{table.where(table.label, row)}: {remedy}; {other}.")
    return number


def _fault(number: float | None) -> str:
    """Return a description of the fault of a target."""
    return "not a number" if number is None else f"infinite, or beyond {MOST:g}"


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

    result: Iterable[Any] = river_dataset(name, "regression", datasets.base.REG)
    return result


_STEP = _SYNTHETIC_SAMPLES // (_CHANGES + 1)
_PLACES = tuple(_STEP * k for k in range(1, _CHANGES + 1))
_SYNTHETIC: dict[str, tuple[str, dict[str, Any]]] = {  # River's generator, and its settings
    "friedman": ("Friedman", {}),
    "friedman_drift": ("FriedmanDrift", {"drift_type": "lea", "position": _PLACES}),
    "mv": ("Mv", {}),
    "planes2d": ("Planes2D", {}),
}
NUMBER_SYNTHS = tuple(_SYNTHETIC)


def _synthetic(name: str) -> Iterable[Any]:
    if name not in _SYNTHETIC:
        raise DataError(
            f"There is no generated regression stream called synth:{name}. "
            f"{did_you_mean(name, _SYNTHETIC)}"
        )
    generator, settings = _SYNTHETIC[name]
    return generated(generator, seed=_SEED, **settings)

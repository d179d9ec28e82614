"""Long tables, with a row for each value of each series: InfluxDB's and Home Assistant's.

Each series becomes a column, and each moment a row, in which a series keeps its last value. Series
of texts come last.
"""

from __future__ import annotations

import csv
import heapq
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice, pairwise

from ..base.errors import DataError
from .cell_rows import CellRows, Row
from .clock_cells import clock_reader
from .columns import CLOCK, MISSING_CELLS, number_of
from .log_lines import LinesLeftOut

_ABSENT = frozenset({*MISSING_CELLS, "unavailable", "unknown"})
_MOST_PARTS = 64  # in a file sorted by series instead of time
_MOST_SERIES = 256

Lines = Callable[[], Generator[str, None, None]]
Value = tuple[float, int, tuple[str, ...], str]  # seconds, line, series, cell


@dataclass(frozen=True)
class LongLayout:
    """The columns with the time and the value, and the columns that name the series."""

    time: str
    value: str
    series: tuple[str, ...]


def long_layout(head: Sequence[str]) -> bool:
    """Return whether these are the first lines of such a table."""
    return any(
        line.startswith(("#group", "#datatype", "#default")) or _layout(_cells(line)) is not None
        for line in head[:8]
    )


def _cells(line: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line.rstrip("\r\n")]), [])]
    except csv.Error:
        return []


def _layout(names: Sequence[str]) -> LongLayout | None:
    if {"_time", "_value", "_field"} <= {*names}:
        tags = [n for n in names if n and not n.startswith("_") and n not in ("result", "table")]
        return LongLayout("_time", "_value", ("_measurement", *tags, "_field"))
    if {"entity_id", "state"} <= {*names}:
        time = next((n for n in ("last_changed", "last_updated", "time") if n in names), None)
        return None if time is None else LongLayout(time, "state", ("entity_id",))
    return None


@dataclass
class _Survey:
    """The contents of the whole file."""

    series: dict[tuple[str, ...], bool] = field(default_factory=dict)  # whether each has texts
    parts: list[int] = field(default_factory=list)  # numbers of the values at which times go back
    values: int = 0


def long_rows(name: str, lines: Lines) -> CellRows:
    """Return the rows of such a table. Raises DataError."""
    left_out = LinesLeftOut()
    survey = _surveyed(name, lines)
    if not survey.values:
        raise DataError(f"{name} has no samples. Add a row per sample.")
    ordered = sorted(survey.series, key=lambda key: survey.series[key])  # texts are last
    names = _names(ordered)
    texts = {key for key in ordered if survey.series[key]}
    result = CellRows(iter(()), [CLOCK, *names], left_out, clocks=(CLOCK,))
    result.notes.append(
        f"{survey.values:,} values of {len(ordered)} series ({', '.join(names[:8])}) are put side "
        "by side, a row for each moment"
    )
    result.rows = _pivoted(_merged(name, lines, survey), ordered, texts, left_out)
    return result


def _values(name: str, lines: Lines) -> Iterator[Value]:
    layout, places, seconds = None, {}, None
    with closing(lines()) as whole:
        for number, line in enumerate(whole, 1):
            cells = _cells(line)
            if not any(cells) or cells[0].startswith("#"):
                continue
            if (new_layout := _layout(cells)) is not None:
                layout, places = new_layout, {cell: place for place, cell in enumerate(cells)}
                continue
            if layout is None or len(cells) != len(places):
                raise DataError(f"{name}, line {number}: {len(places)} cells expected, one per "
                                f"column, but {len(cells)} found.")  # fmt: skip
            cell = cells[places[layout.time]]
            seconds = seconds or clock_reader([cell])
            moment = seconds(cell) if seconds else number_of(cell)
            if moment is None:
                raise DataError(f"{name}, line {number}: {cell!r} is no time.")
            key = tuple(cells[places[part]] for part in layout.series if part in places)
            yield moment, number, key, cells[places[layout.value]]


def _surveyed(name: str, lines: Lines) -> _Survey:
    result, last = _Survey(), float("-inf")
    for moment, _, key, cell in _values(name, lines):
        is_text = cell not in _ABSENT and number_of(cell) is None
        result.series[key] = result.series.get(key, False) or is_text
        if moment < last:
            result.parts.append(result.values)
        last = moment
        result.values += 1
    many = [
        (len(result.parts) > _MOST_PARTS, "times go back too often"),
        (len(result.series) > _MOST_SERIES, "it has too many series"),
    ]
    for too_many, what in many:
        if too_many:
            raise DataError(
                f"{name} is a long table, but {what}. Sort it by time, or export fewer series."
            )
    return result


def _merged(name: str, lines: Lines, survey: _Survey) -> Iterator[Value]:
    """Yield the values in the order of time; the parts of the file are merged."""
    edges = [0, *survey.parts, survey.values]
    parts = [islice(_values(name, lines), begin, end) for begin, end in pairwise(edges)]
    return heapq.merge(*parts, key=lambda value: value[0])


def _pivoted(
    values: Iterator[Value],
    series: Sequence[tuple[str, ...]],
    texts: set[tuple[str, ...]],
    left_out: LinesLeftOut,
) -> Iterator[Row]:
    now: dict[tuple[str, ...], str] = dict.fromkeys(series, "")
    moment, line = None, 0

    def row() -> Iterator[Row]:
        if any(not now[key] for key in texts):
            left_out.add("of a moment at which a text is not known", f"line {line:,}")
        else:
            yield line, [f"{1000 * (moment or 0):.3f}".rstrip("0").rstrip("."), *now.values()]

    for at, number, key, cell in values:
        if moment is not None and at != moment:
            yield from row()
        moment, line = at, number
        now[key] = "" if cell in _ABSENT else cell
    yield from row()


def _names(series: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a name for each series: the last part if that is unique, else all that differ."""
    lasts = [key[-1] for key in series]
    if len(set(lasts)) == len(lasts):
        return lasts
    different = [place for place in range(len(series[0])) if len({k[place] for k in series}) > 1]
    return [".".join(key[place] for place in different) for key in series]

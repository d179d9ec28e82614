"""Describes a file column by column, whether it can be learned as it is or not.

The rows are read as by `simulate`, but only the points of a curve are kept.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from itertools import islice
from pathlib import Path
from typing import IO

from ..base.errors import DataError
from .arff_files import open_arff
from .columns import CLOCK, check_count, number_of
from .csv_rows import Row, stripped
from .prepared_file import is_arff, prepared, without_odd_lines
from .reading_options import ReadingOptions
from .several_files import opened_data, rows_of
from .source_file import GENERATED, STANDARD_INPUT
from .stream import Progress
from .text_lines import text_lines

_POINTS = 2048  # of a curve, at most
_MOST_TEXTS = 300  # different texts that are counted
_MOST_NUMBERS = 3  # different numbers that are kept
_MOMENT = 1e11  # milliseconds of a date, at least
_UNIT = re.compile(r"[(\[]([^()\[\]]{1,12})[)\]]\s*$")


@dataclass
class ColumnSurvey:
    """The contents of a column."""

    name: str
    unit: str = ""
    is_clock: bool = False
    cells: int = 0
    missing: int = 0
    numbers: int = 0
    whole: bool = True
    low: float = math.inf
    high: float = -math.inf
    texts: Counter[str] = field(default_factory=Counter)
    few: set[float] = field(default_factory=set)  # the first few different numbers
    points: list[float] = field(default_factory=list)  # every stride-th number; NaN: missing
    stride: int = 1
    first: str = ""  # first cell that is not missing

    def take(self, cell: str) -> None:
        """Read the next row's cell."""
        number = number_of(cell)
        if number is None:
            self.first = self.first or cell
            if len(self.texts) < _MOST_TEXTS or cell in self.texts:
                self.texts[cell] += 1
        elif math.isnan(number):
            self.missing += 1
        else:
            self.first = self.first or cell
            self.numbers += 1
            self.whole = self.whole and number == round(number, 0)
            self.low, self.high = min(self.low, number), max(self.high, number)
            if len(self.few) < _MOST_NUMBERS:
                self.few.add(number)
        if self.cells % self.stride == 0:
            self.points.append(math.nan if number is None else number)
            if len(self.points) == _POINTS:
                self.points, self.stride = self.points[::2], 2 * self.stride
        self.cells += 1

    @property
    def kind(self) -> str:
        """A description of the contents."""
        if self.is_clock:
            return "dates"
        if not self.numbers:
            more = "+" * (len(self.texts) == _MOST_TEXTS)
            return f"{len(self.texts)}{more} texts" if self.texts else "empty"
        if self.texts:
            return "numbers and texts"
        if len(self.few) == 1:
            return "always the same"
        if len(self.few) == 2:
            return "two values"
        return "whole numbers" if self.whole else "decimals"

    @property
    def span(self) -> str:
        """The range of the values, or the most frequent texts."""
        if self.is_clock and self.low > _MOMENT:
            first, last = (_day(each) for each in (self.low, self.high))
            return first if first == last else f"{first} to {last}"
        if self.numbers:
            return f"{self.low:.4g} to {self.high:.4g}"
        return ", ".join(text for text, _ in self.texts.most_common(3))


@dataclass(frozen=True)
class Survey:
    """All columns of a file, and how it was read."""

    name: str
    rows: int
    columns: tuple[ColumnSurvey, ...]
    notes: tuple[str, ...]
    label: str | None  # the column made of the files' names, or named by --label
    whole: bool  # whether all rows were read


def _day(milliseconds: float) -> str:
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=milliseconds)
    return moment.date().isoformat()


def _kept(names: Sequence[str], dates: Sequence[str], label: str | None) -> list[int]:
    """Return the places of the columns of a copy: no dates except `time`, the class last."""
    able = [at for at, name in enumerate(names) if name not in dates or name == CLOCK]
    return sorted(able, key=lambda at: names[at] == label)


def _is_pipe(source: str) -> bool:
    path = Path(source)
    return path.exists() and not path.is_file() and not path.is_dir()


def survey(
    sources: Sequence[str],
    reading: ReadingOptions,
    progress: Progress | None = None,
    copy: IO[str] | None = None,
) -> Survey:
    """Describe the contents of these files; write their rows to `copy` as plain CSV.

    The copy has no dates except `time`, and the class last. Raises DataError for files that cannot
    be read.
    """
    if sources[0].startswith(GENERATED):
        raise DataError(f"{sources[0]} is not a file: look is for files.")
    pipe = next((each for each in sources if each == STANDARD_INPUT or _is_pipe(each)), None)
    if pipe is not None:
        raise DataError(f"look reads a file twice, and {pipe} can be read once. Name a file.")
    with ExitStack() as stack:
        file, inner = stack.enter_context(opened_data(sources, reading, progress))
        inner = replace(inner, asks="nothing")
        ready = stack.enter_context(prepared(file, inner, progress))
        ready = stack.enter_context(without_odd_lines(ready, inner, None)) or ready
        names: list[str] | None
        rows: Iterator[Row]
        if is_arff(ready):
            lines = stack.enter_context(closing(text_lines(ready, progress)))
            declared, rows = open_arff(ready.name, lines, reading.choice)
            names = [column.name for column in declared]
        else:
            ready, names, rows = stack.enter_context(rows_of(ready, inner, progress))
        columns: list[ColumnSurvey] = []
        kept: list[int] = []
        write = None if copy is None else csv.writer(copy, lineterminator="\n").writerow
        read = 0
        for line, cells in islice(rows, inner.limit):
            if not columns:
                names = names or [f"c{place}" for place in range(1, len(cells) + 1)]
                columns = [ColumnSurvey(name) for name in names]
                kept = _kept(names, ready.made.clocks if ready.made else (), inner.label)
                if write is not None:
                    write([names[place] for place in kept])
            if len(cells) != len(columns):
                raise DataError(
                    f"{ready.place(line)}: {len(columns)} cells expected, one per column, but "
                    f"{len(cells)} found. Complete the row or delete it."
                )
            cells = stripped(cells)
            for column, cell in zip(columns, cells, strict=True):
                column.take(cell)
            if write is not None:
                write([cells[place] for place in kept])
            read += 1
        whole = reading.limit is None or read < reading.limit
        whole = whole or (inner.limit is not None and next(rows, None) is None)
        made = ready.made
        units = dict(made.units) if made else {}
        for place, column in enumerate(columns):
            unit = _UNIT.search(column.name)
            column.unit = units.get(column.name, unit[1] if unit else "")
            column.is_clock = (made is not None and column.name in made.clocks) or (
                place == 0 and column.name == CLOCK
            )
        notes = tuple(ready.notes())
    if not columns:
        if names and not reading.choice.is_given:
            check_count(file.name, len(names) - 1, reading.features, reading.asks)
        only = " a header but" if names else ""
        raise DataError(f"{file.name} has{only} no samples. Add a row per sample.")
    return Survey(file.name, read, tuple(columns), notes, inner.label, whole)

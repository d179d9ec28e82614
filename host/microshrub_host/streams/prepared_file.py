"""Converts a user's file to a plain CSV file for the readers of this folder.

Logs of serial monitors, lines of names and values, blanks between cells, units, decimal commas,
dates: the first lines decide how all lines are read. The rows are written to a file in the cache,
only as far as they are read, so a file may be larger than the memory. Messages name each row's
original line, and notes list all text that was left out or removed.
"""

from __future__ import annotations

import csv
import io
import zlib
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain, islice

from ..base.errors import DataError
from .cell_forms import DATE, CellForm, clock_form, forms_of
from .cell_rows import CellRows, Row, columns_of, names_columns, tells_units
from .columns import CLOCK, MISSING_CELLS
from .json_rows import json_rows
from .line_forms import compound
from .log_lines import UNITS
from .log_rows import MOST_CELLS, late_rows, log_rows, plain_rows
from .long_tables import long_layout, long_rows
from .reading_options import ReadingOptions
from .record_lines import lined_records
from .source_file import LOOKED_AT, Made, SourceFile, is_json, kept_rows
from .stream import Progress
from .table_files import table_rows
from .text_lines import text_lines

_HEAD_LINES = 400  # lines that decide
_HEAD = 1 << 17  # characters in these lines, at most
_WRITTEN = 1 << 16  # characters written at once


@contextmanager
def prepared(
    source: SourceFile, reading: ReadingOptions, progress: Progress | None = None
) -> Iterator[SourceFile]:
    """Yield the file itself if it is plain CSV or ARFF by its first lines, else a converted one.

    Raises DataError.
    """
    if source.made:
        yield source
        return
    rows = _other_rows(source, progress)
    head = [] if rows else _head(source, reading)
    if rows is None and long_layout(head):
        rows = long_rows(source.name, lambda: text_lines(source, progress))
    if rows is None:
        rows = lined_records(source.name, head, lambda: text_lines(source, progress))
    if rows is None and not _is_arff(source.name, head) and not _is_plain(head, reading):
        rows = log_rows(head, lambda: text_lines(source, progress))
    if rows is None:
        yield source
    else:
        with _kept(source, rows, reading) as kept:
            yield kept


def _other_rows(source: SourceFile, progress: Progress | None) -> CellRows | None:
    """Return the rows of a file that is not text in lines, else None. Raises DataError."""
    try:
        with source.opened() as (_, file):
            start = file.read1(LOOKED_AT)  # type: ignore[attr-defined]  # a pipe's bytes so far
    except (OSError, EOFError, zlib.error):
        return None  # the reader of the lines reports the fault
    if is_json(start):
        return json_rows(source, progress)
    return table_rows(source, start)


@contextmanager
def without_odd_lines(
    source: SourceFile, reading: ReadingOptions, progress: Progress | None = None
) -> Iterator[SourceFile | None]:
    """Yield a converted file if a plain CSV file has a board's messages later on, else None."""
    rows = None
    if source.made is None and not source.is_pipe:
        head = _head(source, reading)
        if not _is_arff(source.name, head):
            limit = reading.limit if reading.shuffle is None else None
            rows = late_rows(head, lambda: text_lines(source, progress), limit)
    if rows is None:
        yield None
    else:
        with _kept(source, rows, reading) as kept:
            yield kept


def is_arff(source: SourceFile) -> bool:
    """Return whether a file is ARFF. Raises DataError."""
    with closing(text_lines(source, None)) as lines:
        first = next((line for line in lines if line.strip()), "")
    return _is_arff(source.name, [first])


def _is_arff(name: str, head: list[str]) -> bool:
    first = next((line for line in head if line.strip()), "").lstrip().lower()
    by_name = name.lower().removesuffix(".gz").endswith(".arff")
    return by_name or first.startswith("@relation")


def _is_plain(head: list[str], reading: ReadingOptions) -> bool:
    """Return whether no part of the first lines needs conversion."""
    rows = plain_rows(head)
    if rows is None:
        return False
    if len(rows) < 2 or len(rows[0]) > MOST_CELLS:
        return True
    if reading.header and len(rows) > 2 and tells_units(rows[1], rows[2:]):
        return False
    names = rows[0] if reading.header else [f"c{n}" for n in range(1, len(rows[0]) + 1)]
    quoted = any('"' in line for line in head)
    if quoted and any("\n" in cell for row in rows for cell in row):
        return True  # a row spans several lines
    forms = _forms(names, columns_of(rows[reading.header :]), reading)
    are_names = names_columns(rows[0], rows[1:])  # a first row that is no header gets a note
    if any(forms) or (are_names is False if reading.header else are_names):
        return False
    columns = zip(names, columns_of(rows[1:]), strict=False)
    return quoted or not any(compound(c) for n, c in columns if not reading.choice.leaves_out(n))


@contextmanager
def _kept(source: SourceFile, rows: CellRows, reading: ReadingOptions) -> Iterator[SourceFile]:
    table = _table(source, rows, reading)
    with closing(_written(table)) as data, kept_rows(source, data, table.made) as kept:
        yield kept


def _head(source: SourceFile, reading: ReadingOptions) -> list[str]:
    """Return the first lines; from a pipe, no more than the limit needs."""
    most, least = _HEAD_LINES, _HEAD_LINES
    if reading.limit is not None and reading.shuffle is None:
        least = min(reading.limit + 1, _HEAD_LINES)
        most = least if source.is_pipe else most
    result: list[str] = []
    size = 0
    with closing(text_lines(source, None)) as lines:
        try:
            for line in islice(lines, most):
                result.append(line)
                size += len(line)
                if size >= _HEAD:
                    break
        except DataError:
            if len(result) < least:
                raise
    return result


@dataclass
class _Table:
    """Rows, and how the cells of each column are read."""

    names: list[str]
    first: list[Row]  # rows that were checked
    rest: Iterator[Row]
    forms: list[CellForm | None]
    made: Made
    lines: LineMap
    piece: int  # characters written at once


class LineMap:
    """The original line of each row; an entry is kept only where the difference changes."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._apart: list[int] = []

    def add(self, row: int, line: int) -> None:
        """Note that row `row` of the converted file was in that line."""
        if not self._apart or self._apart[-1] != line - row:
            self._rows.append(row)
            self._apart.append(line - row)

    def line(self, row: int) -> int:
        """Return the line of that row."""
        place = bisect_right(self._rows, row) - 1
        return row + self._apart[place] if place >= 0 else row


def _table(source: SourceFile, rows: CellRows, reading: ReadingOptions) -> _Table:
    """Return the names of the columns, and how their cells are read. Raises DataError."""
    most = _HEAD_LINES
    if source.is_pipe and reading.limit is not None:
        most = min(most, reading.limit + 1)
    first = list(islice(rows.rows, most))
    if not first:
        raise DataError(f"{source.name} has no samples. Add a row per sample.")
    lines, notes = LineMap(), rows.notes
    names = rows.names
    if names is None:
        names = _names(source, first, reading, notes)
    lines.add(1, first[0][0])
    units: Sequence[str] = ()
    if names == first[0][1]:
        del first[0]
        if len(first) > 1 and tells_units(first[0][1], [cells for _, cells in first[1:]]):
            line, units = first.pop(0)
            rows.left_out.add(UNITS, f"line {line:,}")
    names = [name.strip() for name in names]
    forms = _forms(names, columns_of([cells for _, cells in first]), reading)
    if names[0] == CLOCK and units and (form := clock_form(units[0])):
        forms[0] = form
    for place, form in enumerate(forms):
        if form is not None and form.name and names[place] == f"c{place + 1}":
            names[place] = form.name if form.name not in names else names[place]
        if form is not None and form.what:
            notes.append(f"column {names[place]}: {form.what}")
    clocks = [n for n, form in zip(names, forms, strict=False) if form and form.kind == DATE]
    clocks += [name for name in rows.clocks if name not in clocks]
    made = Made(
        lambda line: source.place(lines.line(line)),
        lambda: notes,
        lambda: rows.left_out,
        tuple(clocks),
        tuple((n, form.unit) for n, form in zip(names, forms, strict=False) if form and form.unit),
    )
    piece = 1 if source.is_pipe and reading.limit is not None else _WRITTEN
    return _Table(names, first, rows.rows, forms, made, lines, piece)


def _names(
    source: SourceFile, first: list[Row], reading: ReadingOptions, notes: list[str]
) -> list[str]:
    """Return the names in the first row, or c1, c2 and so on. Raises DataError."""
    line, cells = first[0]
    are_names = names_columns(cells, [row for _, row in first[1:]])
    if not reading.header:
        if are_names:
            raise DataError(
                f"{source.place(line)} names the columns ({', '.join(cells)}): leave --no-header "
                "away."
            )
    elif are_names or are_names is None:
        return cells
    else:
        notes.append("the first row is a sample as the others are, so the columns are called "
                     f"c1 to c{len(cells)}")  # fmt: skip
    return [f"c{place}" for place in range(1, len(cells) + 1)]


def _forms(
    names: Sequence[str], columns: Sequence[list[str]], reading: ReadingOptions
) -> list[CellForm | None]:
    """Return how to read each column's cells; of a class, only dates and bare numbers change."""
    forms = forms_of(columns, reading.decimal)
    forms += [None] * (len(names) - len(forms))
    for place, name in enumerate(names):
        form = forms[place]
        if form is not None and form.name and (name == f"c{place + 1}" or form.read(name)):
            name = form.name  # the column's new name: the first row is a sample
        if form is not None and reading.choice.leaves_out(name) and name != reading.label:
            forms[place] = None
        if name == CLOCK and place == 0 and form is not None and form.kind != DATE:
            forms[place] = None
    if reading.asks == "class":
        able = [at for at, form in enumerate(forms) if form is None or form.kind != DATE]
        label = reading.label
        place = names.index(label) if label in names else (able or [len(names) - 1])[-1]
        form = forms[place]
        if form is not None and form.kind != DATE and not form.is_decimal:
            forms[place] = None
    return forms


def _written(table: _Table) -> Generator[bytes, None, None]:
    """Yield the file's bytes, piece by piece."""
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    write(table.names)
    cells_of = [form.read if form else None for form in table.forms]
    for number, (line, cells) in enumerate(chain(table.first, table.rest), 2):
        table.lines.add(number, line)
        if len(cells) == len(cells_of):
            cells = [
                cell if read is None or cell in MISSING_CELLS else _read(read, cell)
                for cell, read in zip(cells, cells_of, strict=True)
            ]
        write(cells)
        if text.tell() >= table.piece:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


def _read(read: Callable[[str], str | None], cell: str) -> str:
    result = read(cell)
    return cell if result is None else result

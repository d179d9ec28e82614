"""Finds the samples in the lines of a text that is not plain CSV, and notes the other lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice

from .cell_forms import affixes
from .cell_rows import (
    CellRows,
    Row,
    columns_of,
    looks_like_number,
    names_columns,
    tells_units,
)
from .columns import CLOCK, MISSING_CELLS, number_of
from .csv_rows import delimiter_of, stripped
from .line_forms import LineForm, chosen_form, sparse, sparse_of
from .log_lines import CUT, HEADER, MONITOR_CLOCK, TEXT, LinesLeftOut, board_message, cleaned

MOST_CELLS = 2000  # in a row of such a text
_MOST = 0.6  # the share of lines that end alike, or begin with a clock, must exceed this
_MOST_TEXT = 60  # lines of text in front of a few samples, at most

Lines = Callable[[], Generator[str, None, None]]


def plain_rows(head: Sequence[str]) -> list[list[str]] | None:
    """Return the rows of a plain CSV file's first lines; None if it is not plain, or in doubt."""
    text = [line for line in head if line.strip()]
    if not text or any(map(_is_odd, text)):
        return None
    delimiter = delimiter_of(text[0])
    try:
        rows = [
            stripped(row)
            for row in csv.reader(text, delimiter=delimiter, skipinitialspace=True, strict=True)
        ]
    except csv.Error:
        return [[]]  # the reader reports the fault
    cells = len(rows[0])
    if any(len(row) != cells for row in rows[:-1]) or len(rows[-1]) > cells:
        return None
    if cells == 1 or (rows[0] in rows[1:] and names_columns(rows[0], rows[1:])):
        return None
    if all(row[-1] == "" for row in rows) or all(line.rstrip()[-1] in ";|" for line in text):
        return None
    return rows


def _is_odd(line: str) -> bool:
    return "\x1b" in line or MONITOR_CLOCK.match(line) is not None or bool(board_message(line))


class LogReader:
    """Takes lines one by one, and returns their rows or their kind."""

    def __init__(self, head: Sequence[str]) -> None:
        lines = [line for line in map(cleaned, head) if line.strip()]
        clocks = sum(MONITOR_CLOCK.match(line) is not None for line in lines)
        self.clocked = clocks > _MOST * len(lines)
        lines = [self._behind_clock(line)[1] for line in lines if not board_message(line)]
        lines = [line for line in lines if not board_message(line)]
        self.ends = self.records = False
        self._find_ends(lines)
        lines = [part for line in lines for part in self._parts(line)]
        self.form = chosen_form(lines) or _form_at_end(lines)

    def _find_ends(self, lines: Sequence[str]) -> None:
        semicolons = sum(line.rstrip().endswith(";") for line in lines)
        others = sum(line.rstrip().endswith((",", "|", ";")) for line in lines[1:])
        self.records = semicolons > _MOST * len(lines) and any("," in line for line in lines)
        first = len(lines[0].split(",")) if lines else 0
        usual = columns_of([line.split(",") for line in lines[1:]])
        header_ends = bool(lines) and lines[0].rstrip().endswith((",", ";", "|"))
        self.ends = others > _MOST * len(lines[1:]) and (header_ends or len(usual) == first + 1)

    def _behind_clock(self, line: str) -> tuple[str, str]:
        match = MONITOR_CLOCK.match(line)
        if match is None:
            return "", line
        return match[0].replace("->", "").strip(" []\t"), line[match.end() :]

    def _parts(self, line: str) -> list[str]:
        if self.records:
            return [part for part in line.split(";") if part.strip()]
        return [line.rstrip().rstrip(";,|").rstrip()] if self.ends else [line]

    def rows(self, line: str) -> list[list[str] | str]:
        """Return the rows of a line, mostly one; for a part that is no row, its kind instead."""
        line = cleaned(line)
        if not line.strip():
            return []
        if message := board_message(line):
            return [message]
        clock = ""
        if self.clocked:
            clock, line = self._behind_clock(line)
            if message := board_message(line):
                return [message]
        assert self.form is not None
        result: list[list[str] | str] = []
        for part in self._parts(line):
            cells = self.form.split(part)
            if cells is None or len(cells) != self.form.cells:
                result.append(self._odd(part, cells))
            else:
                result.append([clock, *cells] if self.clocked else cells)
        return result

    def _odd(self, line: str, cells: list[str] | None) -> list[str] | str:
        """Return a row of another length, or the kind of the line."""
        if cells is None:
            cells = re.split(r"[,;|\t\s]+|(?<=:)\s", line.strip())
            named = re.search(r"[:=]\s*[+-]?[\d.]", line)
            return [line.strip()] if named or all(map(_is_number, cells)) else TEXT
        return cells if any(map(_is_number, cells)) else TEXT


def _form_at_end(lines: Sequence[str]) -> LineForm | None:
    """Return the form of the last lines, if lines of text in front of these hide it, or None."""
    for start in range(1, min(len(lines) - 1, _MOST_TEXT)):
        end = lines[start:]
        form = chosen_form(end)
        cells = [form.split(line) for line in end] if form else []
        same = all(row and len(row) == len(cells[0] or ()) for row in cells)
        if same and any(map(looks_like_number, columns_of([row or [] for row in cells[1:]]))):
            return form
    return None


def _is_of_words(row: list[str] | str) -> bool:
    """Return whether a row has no digit and no missing cell."""
    return isinstance(row, list) and not any(
        number_of(cell) is not None or re.search(r"\d", cell) for cell in row
    )


def _is_number(cell: str) -> bool:
    known = cell not in MISSING_CELLS
    return known and (number_of(cell) is not None or affixes([cell]) is not None)


def log_rows(head: Sequence[str], lines: Lines) -> CellRows | None:
    """Return the rows of a text with these first lines; None if they show no form."""
    reader = LogReader(head)
    form = reader.form
    if form is None or form.cells > MOST_CELLS:
        return None
    if form.what == "LibSVM's":
        reader.form = form = _whole_sparse(lines)
    early = [row for line in head for row in reader.rows(line)]
    rows = [row for row in early if isinstance(row, list) and len(row) == _cells(reader)]
    if len(rows) < 1:
        return None
    names = list(form.names) or None
    if names is not None and reader.clocked:
        names = [CLOCK, *names]
    cells = [row[int(reader.clocked) :] for row in rows]  # the clock differs in each header
    units = cells[1] if len(cells) > 2 and tells_units(cells[1], cells[2:]) else None
    if units:
        del cells[1]
    repeated = rows[0] if names is None and names_columns(cells[0], cells[1:]) else None
    if repeated and reader.clocked:
        names = [CLOCK, *repeated[1:]]
    result = CellRows(iter(()), names)
    result.notes += _notes(reader, form)
    if reader.clocked:
        result.notes.append("the clock in front of each line is the column time")
    numeric = any(map(looks_like_number, columns_of(cells[1:])))
    units = units if repeated else None
    result.rows = _samples(lines, reader, repeated, units, result.left_out, bool(names), numeric)
    return result


def late_rows(head: Sequence[str], lines: Lines, limit: int | None) -> CellRows | None:
    """Return the rows of a CSV file whose first lines are plain but later ones may not be.

    None if no line, up to the limit, would be left out, or if a line has quotation marks.
    """
    if plain_rows(head) is None:
        return None
    result = log_rows(head, lines)
    if result is None or result.names is not None:
        return None
    with closing(lines()) as whole:
        if any('"' in line for line in islice(whole, limit)):
            return None  # a cell may span several lines
    for _ in islice(result.rows, limit):
        if result.left_out.counts:
            break
    any_left_out = bool(result.left_out.counts)
    return log_rows(head, lines) if any_left_out else None


def _notes(reader: LogReader, form: LineForm) -> Iterator[str]:
    """Yield notes on the form of the lines."""
    if form.names:
        yield f"the lines are {'LibSVM' if form.what.startswith('LibSVM') else 'names and values'}"
    elif not form.delimiter or form.numbered:
        yield f"cells are separated by {form.what}"
    if form.numbered:
        yield "the number in front of each line is left out"
    if reader.ends:
        yield "what separates cells stands at the end of each line, too, and is left out there"
    if reader.records:
        yield "each semicolon ends a row"


def _cells(reader: LogReader) -> int:
    assert reader.form is not None
    return reader.form.cells + reader.clocked


def _whole_sparse(lines: Lines) -> LineForm:
    """Return the form with the indices of all features in the file."""
    indices: set[int] = set()
    with closing(lines()) as whole:
        for line in whole:
            row = sparse_of(line.rstrip())
            if row:
                indices.update(row[1])
    return sparse(indices)


def _samples(
    lines: Lines,
    reader: LogReader,
    header: list[str] | None,
    units: list[str] | None,
    left_out: LinesLeftOut,
    named: bool,
    numeric: bool,
) -> Iterator[Row]:
    """Yield the rows in order, the header first unless the columns are already named.

    Other lines are counted in left_out. units is the row below the header, if it has units;
    numeric: there are columns of numbers, so a line of words is no row.
    """
    cells = _cells(reader)
    waiting: Row | None = None  # a row of another length: incomplete if no sample follows
    broken = True  # whether the previous line was no sample
    seen = False  # whether the header was read
    skip = int(reader.clocked)  # the clock in front of a header
    number = 0
    whole = lines()
    line = ""
    with closing(whole):
        for number, line in enumerate(whole, 1):
            for row in reader.rows(line):
                is_header = header is not None and row[skip:] == header[skip:]
                if seen and units is not None and row[skip:] == units:
                    units = None
                elif numeric and not is_header and _is_of_words(row[skip:]):
                    row = TEXT
                if isinstance(row, str) or (is_header and seen):
                    left_out.add(HEADER if is_header else str(row), f"line {number:,}")
                    if waiting:
                        left_out.add(CUT, f"line {waiting[0]:,}")
                        waiting = None
                    broken = True
                    continue
                if waiting:
                    yield waiting
                    waiting = None
                if len(row) != cells and not is_header:
                    if broken:
                        above = header is not None and not seen  # nothing to cut above the header
                        left_out.add(TEXT if above else CUT, f"line {number:,}")
                        broken = False
                    else:
                        waiting = number, row
                    continue
                broken = False
                if is_header:
                    seen = True
                    if named:
                        continue
                yield number, row
    if waiting and not line.endswith(("\n", "\r")):
        left_out.add(CUT, f"line {waiting[0]:,}")
    elif waiting:
        yield waiting

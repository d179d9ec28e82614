"""CSV and ARFF files as streams.

The two differ in their header only: an ARFF header declares what each column is and which values
it may take, while the columns of a CSV file are judged by their first cells (columns.py).
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..base.text import did_you_mean
from .class_names import encode_labels
from .columns import MISSING, Column, number_of
from .stream import MAX_FEATURES, DataError, Progress, Stream, stream_order
from .text_lines import text_lines

# ARFF types that are neither numbers nor one of a few values
_UNFIT_ATTRIBUTE = re.compile(
    r"""^\s*@attribute\s+('[^']*'|"[^"]*"|\S+)\s+(string|date|relational)\b""", re.I | re.M
)

Row = tuple[int, list[str]]  # line number in the file, cells


@dataclass
class _Table:
    """A file as it is read, before its samples are put in order."""

    name: str
    columns: list[Column]
    label: Column  # its declared values, if any, are the classes
    label_place: int
    rows: Iterator[Row]
    label_cells: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def where(self, column: Column, row: int) -> str:
        return f"{self.name}, line {self.lines[row]}, column {column.name}"


def read_table(
    path: Path,
    label: str | None,
    classes: tuple[str, ...] | None,
    limit: int | None,
    shuffle: int | None,
    warmup: int,
    progress: Progress | None = None,
) -> Stream:
    """Read a file; see `open_stream` for the arguments and the errors."""
    with closing(text_lines(path, progress)) as lines:
        is_arff = path.name.lower().removesuffix(".gz").endswith(".arff")
        if is_arff:
            columns, rows = _open_arff(path.name, lines)
        else:
            columns, rows = _open_csv(path.name, lines, label)
        table = _choose_label(path.name, columns, rows, label)
        _fill(table, limit if shuffle is None else None)
    if progress is not None:
        progress(path.stat().st_size, path.stat().st_size)
    order = stream_order(len(table.lines), limit, shuffle)
    labels, class_names = _encode_labels(table, order.tolist(), classes, warmup)
    values = np.column_stack(
        [each.encode(order, warmup, partial(table.where, each)) for each in table.columns]
    )
    names = tuple(column.name for column in table.columns)
    return Stream(path.name, values, labels, names, class_names)


# Rows


def _rows(
    name: str, lines: Iterable[str], first_line: int, delimiter: str, quote: str
) -> Iterator[Row]:
    reader = csv.reader(
        lines, delimiter=delimiter, quotechar=quote, skipinitialspace=True, strict=True
    )
    start = first_line
    try:
        for cells in reader:
            if len(cells) > 1 or "".join(cells).strip():
                yield start, [cell.strip() for cell in cells]
            start = first_line + reader.line_num
    except csv.Error as error:
        raise DataError(
            f"{name}, line {start}: this row cannot be read ({error}). "
            f"Look for a stray {quote} in it."
        ) from error


# Headers


def _open_csv(
    name: str, lines: Iterator[str], label: str | None
) -> tuple[list[Column], Iterator[Row]]:
    head = []  # up to the first line that is not empty
    for line in lines:
        head.append(line)
        if line.strip():
            break
    rows = _rows(name, chain(head, lines), 1, _delimiter("".join(head)), '"')
    header = next(rows, None)
    if header is None:
        raise DataError(f"{name} is empty. It needs a header row and a row per sample.")
    line_number, names = header
    _check_names(f"{name}, line {line_number}", names, label)
    return [Column(column) for column in names], rows


def _check_names(where: str, names: list[str], label: str | None) -> None:
    class_place = names.index(label) if label in names else len(names) - 1
    for place, column in enumerate(names):
        if place != class_place and _is_measurement(column, names):
            raise DataError(
                f"{where}: {column} is a number and no name, so this is a sample. "
                "A header row is needed. Add a row of column names."
            )
    for place, column in enumerate(names, 1):
        if column == "":
            raise DataError(f"{where}: column {place} has no name. Name it, or delete the column.")
        if column in names[: place - 1]:
            raise DataError(f"{where}: two columns are named {column}. Rename one of them.")
    if all(number_of(column) is not None for column in names):
        raise DataError(f"{where}: only numbers, so not a header. Add a row of column names.")


def _is_measurement(cell: str, header: list[str]) -> bool:
    """Whether a header's cell is a number but not one of pandas' names, which are 0, 1, 2 ..."""
    number = number_of(cell)
    if number is None or not math.isfinite(number):
        return False
    return re.fullmatch("[0-9]+", cell) is None or header.count(cell) > 1


def _delimiter(header: str) -> str:
    unquoted = re.sub(r'"[^"]*"', "", header)
    return max(",;\t", key=unquoted.count)  # a comma if there is none


def _open_arff(name: str, lines: Iterator[str]) -> tuple[list[Column], Iterator[Row]]:
    """Let SciPy read the header; the data rows go the way of a CSV file's.

    SciPy's own data reader has no line numbers, drops surplus cells and refuses class names
    that are not ASCII.
    """
    header = []
    for line in lines:
        header.append(line)
        if line.lstrip().lower().startswith("@data"):
            break
    else:
        raise DataError(f"{name} has no @data line, so it is not an ARFF file.")
    columns = _arff_columns(name, "".join(header[:-1]) + "@data\n")
    data = _arff_data(name, lines, len(header) + 1)
    skipped = []  # comments and empty lines before the first row
    for line in data:
        skipped.append(line)
        if line.strip():
            break
    first = skipped[-1] if skipped else ""
    delimiter = "\t" if "\t" in first and "," not in first else ","
    quote = '"' if '"' in first else "'"
    return columns, _rows(name, chain(skipped, data), len(header) + 1, delimiter, quote)


def _arff_columns(name: str, header: str) -> list[Column]:
    from scipy.io import arff  # imported here since it is slow

    unfit = _UNFIT_ATTRIBUTE.search(header)
    if unfit is not None:
        raise DataError(
            f"{name}: attribute {unfit[1]} is of type {unfit[2].lower()}; "
            "only numeric and nominal attributes can be learned from. Remove it."
        )
    try:
        _, meta = arff.loadarff(io.StringIO(header))
    except Exception as error:  # besides ParseArffError: IndexError, StopIteration and others
        raise DataError(
            f"{name}: the ARFF header cannot be read ({error or type(error).__name__}). "
            "Attributes are numeric or nominal, each with a name of its own."
        ) from error
    columns = []
    for attribute in meta:
        kind, values = meta[attribute]
        declared = tuple(value.strip(" '\"") for value in values) if kind == "nominal" else None
        columns.append(Column(attribute.strip("'\""), kind == "numeric", declared))
    return columns


def _arff_data(name: str, lines: Iterator[str], first_line: int) -> Iterator[str]:
    """Blank the comments, so that line numbers stay true."""
    for number, line in enumerate(lines, first_line):
        text = line.lstrip()
        if text.startswith("{"):
            raise DataError(
                f"{name}, line {number}: sparse ARFF rows are not read. Convert it to dense rows."
            )
        yield "" if text.startswith("%") else line


def _choose_label(
    name: str, columns: list[Column], rows: Iterator[Row], label: str | None
) -> _Table:
    names = [column.name for column in columns]
    if label is not None and label not in names:
        raise DataError(f"{name} has no column {label}. {did_you_mean(label, names)}")
    if not 2 <= len(columns) <= MAX_FEATURES + 1:
        raise DataError(
            f"{name} has {len(columns) - 1} feature columns beside the class; "
            f"1 to {MAX_FEATURES} are possible. Cells are separated by commas, semicolons or tabs."
        )
    place = len(names) - 1 if label is None else names.index(label)
    return _Table(name, columns[:place] + columns[place + 1 :], columns[place], place, rows)


# Cells


def _fill(table: _Table, limit: int | None) -> None:
    expected = len(table.columns) + 1
    for line, cells in islice(table.rows, limit):
        if len(cells) != expected:
            raise DataError(
                f"{table.name}, line {line}: {expected} cells expected, as in the header, but "
                f"{len(cells)} found. Complete the row or delete it."
            )
        table.label_cells.append(cells.pop(table.label_place))
        for column, cell in zip(table.columns, cells, strict=True):
            column.append(cell)
        table.lines.append(line)
    if not table.lines:
        raise DataError(f"{table.name} has a header but no samples. Add a row per sample.")


def _encode_labels(
    table: _Table, rows: list[int], classes: tuple[str, ...] | None, warmup: int
) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    cells = [table.label_cells[row] for row in rows]
    known = classes or table.label.declared
    missing = MISSING.difference(known or ())
    for row, cell in zip(rows, cells, strict=True):
        if cell in missing:
            raise DataError(f"{table.where(table.label, row)}: {_missing_class(cell)}")
    return encode_labels(cells, lambda i: table.where(table.label, rows[i]), known, warmup)


def _missing_class(cell: str) -> str:
    if cell == "":
        way_out = "--label NAME takes another column as the class."
    else:
        way_out = f"if {cell} is a class, name it and all others with --classes."
    return f"the class is missing. Fill it in or delete the row; {way_out}"

"""CSV and ARFF files as streams.

The two differ in their header only: an ARFF header declares what each column is and which values
it may take, while the columns of a CSV file are judged by their first cells (columns.py).
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from .columns import MISSING, Column, number_of
from .streams import (
    MAX_FEATURES,
    DataError,
    Progress,
    Stream,
    did_you_mean,
    encode_labels,
    stream_order,
)

_LINES_PER_PROGRESS = 1000

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
    with closing(_lines(path, progress)) as lines:
        is_arff = path.name.lower().removesuffix(".gz").endswith(".arff")
        columns, rows = (_open_arff if is_arff else _open_csv)(path.name, lines)
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


# The file, line by line


def _lines(path: Path, progress: Progress | None) -> Generator[str, None, None]:
    """Decode one line at a time, so that an error can name it and a limit stops the reading."""
    number = 0
    try:
        with path.open("rb") as raw, _unpacked(path, raw) as file:
            for number, line in enumerate(file, 1):
                if progress is not None and number % _LINES_PER_PROGRESS == 0:
                    progress(raw.tell(), path.stat().st_size)
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path.name}, line {number}: not UTF-8 text. Save the file as CSV in UTF-8."
        ) from error
    except EOFError as error:
        raise DataError(
            f"{path.name} is cut short after line {number}: its gzip data ends too early. "
            "Copy or download it again."
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(
            f"{path.name} is not a gzip file, or it is damaged ({error}). "
            "Copy it again, or take .gz off its name if it is plain text."
        ) from error
    except FileNotFoundError as error:
        raise DataError(
            f"There is no file {path}. Check the name, or use river:NAME or synth:NAME."
        ) from error
    except IsADirectoryError as error:
        raise DataError(f"{path} is a folder. Name a CSV or ARFF file in it.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error


def _unpacked(path: Path, raw: IO[bytes]) -> IO[bytes]:
    if path.name.lower().endswith(".gz"):
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]  # it is one in all but name
    return raw


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


def _open_csv(name: str, lines: Iterator[str]) -> tuple[list[Column], Iterator[Row]]:
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
    where = f"{name}, line {line_number}"
    for place, column in enumerate(names, 1):
        if column == "":
            raise DataError(f"{where}: column {place} has no name. Name it, or delete the column.")
        if column in names[: place - 1]:
            raise DataError(f"{where}: two columns are named {column}. Rename one of them.")
    if all(number_of(column) is not None for column in names):
        raise DataError(f"{where}: only numbers, so not a header. Add a row of column names.")
    return [Column(column) for column in names], rows


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
        if kind not in ("numeric", "nominal"):
            raise DataError(
                f"{name}: attribute {attribute} is of type {kind}; "
                "only numeric and nominal attributes can be learned from. Remove it."
            )
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
    for row, cell in zip(rows, cells, strict=True):
        if cell in MISSING:
            raise DataError(
                f"{table.where(table.label, row)}: the class is missing. "
                "Fill it in or delete the row; --label NAME takes another column as the class."
            )
    known = classes or table.label.declared
    return encode_labels(cells, lambda i: table.where(table.label, rows[i]), known, warmup)

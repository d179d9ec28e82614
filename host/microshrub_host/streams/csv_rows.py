"""The rows of a CSV file, or of an ARFF file's data, and whether the first row is a header."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from statistics import median

from ..base.errors import DataError
from .columns import CLOCK, is_measurement, number_of
from .source_file import opened_source
from .text_lines import text_lines

Row = tuple[int, list[str]]  # line number in the file, cells with trailing spaces


def stripped(cells: Iterable[str]) -> list[str]:
    """Return cells without surrounding spaces."""
    return [cell.strip() for cell in cells]


def rows(
    name: str, lines: Iterable[str], first_line: int, delimiter: str, quote: str
) -> Iterator[Row]:
    """Yield the rows that are not blank; first_line is the number of lines[0]."""
    reader = csv.reader(
        lines, delimiter=delimiter, quotechar=quote, skipinitialspace=True, strict=True
    )
    start = first_line
    try:
        for cells in reader:
            if len(cells) > 1 or "".join(cells).strip():
                yield start, cells
            start = first_line + reader.line_num
    except csv.Error as error:
        raise DataError(
            f"{name}, line {start}: this row cannot be read ({error}). "
            f"Look for a stray {quote} in it."
        ) from error


def csv_rows(name: str, lines: Iterator[str]) -> tuple[Iterator[Row], str]:
    """Return the rows of a CSV file, and the separator of its cells, by its first line."""
    head = []  # up to the first line that is not empty
    for line in lines:
        head.append(line)
        if line.strip():
            break
    delimiter = delimiter_of("".join(head))
    return rows(name, chain(head, lines), 1, delimiter, '"'), delimiter


def first_row(name: str, numbered_rows: Iterator[Row]) -> Row:
    """Return the next row. Raises DataError for none, a comment, or Excel's line sep=."""
    row = next(numbered_rows, None)
    if row is None:
        raise DataError(f"{name} is empty. It needs a header row and a row per sample.")
    line, cells = row[0], stripped(row[1])
    if re.match(r"#+\s*[^#\s]", cells[0]):
        raise DataError(
            f"{name}, line {line} begins with #. If it is the header, take the # away; if it is a "
            "comment, delete the line, and others like it: comments are not read."
        )
    if cells[0].lower().startswith("sep="):
        raise DataError(f"{name}, line {line} is {cells[0]}, a word to Excel. Delete the line.")
    return row


def check_names(where: str, named: Sequence[tuple[int, str]], label: str | None) -> None:
    """Raise DataError if these cells of the first row, with their places, cannot be a header."""
    if not named:
        return
    counts = Counter(name for _, name in named)
    class_place = next((at for at, name in named if name == label), named[-1][0])
    for place, column in named:
        if place != class_place and is_measurement(column, counts):
            raise DataError(
                f"{where}: {column} is a number and no name, so this is a sample. "
                "A header row is needed. Add a row of column names, or use --no-header."
            )
    for place, column in named:
        if column == "":
            raise DataError(
                f"{where}: column {place + 1} has no name. Name it, or leave it out: use --drop ''"
            )
    twice = [name for name, times in counts.items() if times > 1]
    if twice:
        places = [", ".join(str(at + 1) for at, name in named if name == each) for each in twice]
        each = "; ".join(f"two columns are named {name} ({of})" if counts[name] == 2 else
                         f"{counts[name]} columns are named {name} ({of})"
                         for name, of in zip(twice, places, strict=True))  # fmt: skip
        raise DataError(f"{where}: {each}. Rename all but one.")
    if all(number_of(column) is not None for _, column in named):
        raise DataError(
            f"{where}: only numbers, so not a header. Add a row of column names, or use "
            "--no-header."
        )


def delimiter_of(header: str) -> str:
    """Return the separator of the cells of a file with this first line."""
    unquoted = re.sub(r'"[^"]*"', "", header)
    return max(",;\t", key=unquoted.count)  # a comma if there is none


_ROWS = 2001  # rows to check
_SPAN = 100  # rows: several arrive at once on a slow line


def recorded_rate(source: str) -> float | None:
    """Return the approximate rows per second, the median over spans of 100 rows.

    None if the file has no times, or cannot be read.
    """
    if not Path(source).is_file():
        return None
    try:
        with opened_source(source) as file:
            lines = islice(text_lines(file, None), _ROWS)
            rows = csv.reader(lines)
            if next(rows, [""])[0] != CLOCK:
                return None
            times = [float(row[0]) for row in rows if row]
    except (DataError, ValueError, csv.Error):  # the data's reader reports faults
        return None
    last = len(times) - 1
    spans = [(at, min(at + _SPAN, last)) for at in range(0, last, _SPAN)]
    rates = [
        1000 * (end - at) / (times[end] - times[at]) for at, end in spans if times[end] > times[at]
    ]
    return median(rates) if rates else None

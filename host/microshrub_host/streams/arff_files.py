"""The header of an ARFF file, which declares the type of each column and its values."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator
from itertools import chain

from ..base.errors import DataError
from .columns import Column, ColumnChoice
from .csv_rows import Row, rows

# ARFF types that are neither numeric nor nominal
_UNFIT_ATTRIBUTE = re.compile(
    r"""^(\s*@attribute\s+('[^']*'|"[^"]*"|\S+)\s+)(string|(?:date|relational)\b.*)""",
    re.I | re.M,
)


def open_arff(
    name: str, lines: Iterator[str], choice: ColumnChoice
) -> tuple[list[Column], Iterator[Row]]:
    """Return the columns and the data rows, which are read like CSV; SciPy reads the header.

    SciPy's own data reader has no line numbers, drops surplus cells and refuses class names that
    are not ASCII.
    """
    header = []
    for line in lines:
        header.append(line)
        if line.lstrip().lower().startswith("@data"):
            break
    else:
        raise DataError(f"{name} has no @data line, so it is not an ARFF file.")
    columns = _arff_columns(name, "".join(header[:-1]) + "@data\n", choice)
    data = _arff_data(name, lines, len(header) + 1)
    skipped = []  # comments and empty lines before the first row
    for line in data:
        skipped.append(line)
        if line.strip():
            break
    first = skipped[-1] if skipped else ""
    delimiter = "\t" if "\t" in first and "," not in first else ","
    quote = '"' if '"' in first else "'"
    return columns, rows(name, chain(skipped, data), len(header) + 1, delimiter, quote)


def _arff_columns(name: str, header: str, choice: ColumnChoice) -> list[Column]:
    from scipy.io import arff  # imported only here, as it is slow

    def fit(match: re.Match[str]) -> str:
        attribute = match[2].strip("'\"")
        if not choice.leaves_out(attribute):
            raise DataError(
                f"{name}: attribute {match[2]} is of type {match[3].lower()}; only numeric and "
                "nominal attributes can be learned from. Leave it out with --drop "
                f"{shlex.quote(attribute)}."
            )
        return f"{match[1]}numeric"

    header = _UNFIT_ATTRIBUTE.sub(fit, header)
    try:
        _, meta = arff.loadarff(io.StringIO(header))
    except Exception as error:  # ParseArffError, IndexError, StopIteration and others
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
    """Yield the data lines with blank lines for comments, so that line numbers stay true."""
    for number, line in enumerate(lines, first_line):
        text = line.lstrip()
        if text.startswith("{"):
            raise DataError(
                f"{name}, line {number}: sparse ARFF rows are not read. Convert it to dense rows."
            )
        yield "" if text.startswith("%") else line

"""Rows of cells from any kind of file, and whether the first row names the columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .cell_forms import affixes
from .clock_cells import clock_reader
from .columns import MISSING_CELLS, is_measurement, number_of
from .log_lines import LinesLeftOut

_LONGEST_UNIT = 16
Row = tuple[int, list[str]]  # number of the line, or of the record, and cells


@dataclass
class CellRows:
    """Rows as they come, and notes; left_out and notes are complete only at the end."""

    rows: Iterator[Row]
    names: list[str] | None  # of the columns; None: the first row may name them
    left_out: LinesLeftOut = field(default_factory=LinesLeftOut)
    notes: list[str] = field(default_factory=list)
    clocks: tuple[str, ...] = ()  # columns with the time of a row


def columns_of(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the columns of rows, leaving out rows with an unusual number of cells."""
    lengths = [len(row) for row in rows]
    usual = max(set(lengths), key=lengths.count) if lengths else 0
    return [list(column) for column in zip(*(r for r in rows if len(r) == usual), strict=True)]


def looks_like_number(cells: Sequence[str]) -> bool:
    """Return whether cells are numbers, possibly with a unit or the like, or dates."""
    known = [cell for cell in cells if cell not in MISSING_CELLS]
    if not known:
        return False
    if sum(number_of(cell) is not None for cell in known) >= 0.9 * len(known):
        return True
    return clock_reader(known) is not None or affixes(known) is not None


def tells_units(row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Return whether a row below the header has the units of the columns.

    Units are short texts in number columns; the other cells are empty or differ from the columns'
    texts.
    """
    columns = columns_of(body)
    if not columns or len(columns) != len(row):
        return False
    numeric = [looks_like_number(cells) for cells in columns]
    units = [cell for cell, of in zip(row, numeric, strict=True) if of and cell]
    others = zip(row, columns, numeric, strict=True)
    return (
        any(cell not in MISSING_CELLS for cell in units)
        and all(len(cell) <= _LONGEST_UNIT and not looks_like_number([cell]) for cell in units)
        and not any(cell and cell in cells for cell, cells, of in others if not of)
    )


def names_columns(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool | None:
    """Return whether a row names the columns of these rows; None if that is unclear."""
    columns = columns_of([row for row in body if row != first])  # the header may be repeated
    if len(columns) != len(first):
        return None
    of_numbers = [place for place, cells in enumerate(columns) if looks_like_number(cells)]
    if not of_numbers:
        return None
    known = [first[place] for place in of_numbers if first[place] not in MISSING_CELLS]
    if any(not looks_like_number([cell]) for cell in known):
        return True
    texts = [place for place in range(len(first)) if place not in of_numbers]
    if not texts or any(first[place] in columns[place] for place in texts):
        return False
    counts = Counter(known)
    # 2024, 2025 and class may be names
    return False if any(is_measurement(cell, counts) for cell in known) else None

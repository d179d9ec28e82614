"""A column of a file as numbers: what each cell stands for.

A feature holds numbers, or texts that are replaced by codes. An ARFF header declares which; a CSV
file's column holds texts if all its cells among the first samples do. A board has no dictionary:
texts have to be categories, few and met again and again.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..base.text import did_you_mean
from .stream import DataError

# As pandas, R, SQL and Weka write them. What an ARFF header or --classes declares is a value.
MISSING_CELLS = frozenset(
    {"", "?", "-", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL", "None", "none"}
)
MAX_CATEGORIES = 64  # of a column of texts
MAX_DECLARED = 256  # of a nominal attribute
_FEW = 16  # different texts among the first samples that say nothing against a column
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")

Where = Callable[[int], str]  # says in words where a row's cell stands


@dataclass
class Column:
    """A feature as it is read: a number per row, and aside, by row, the cells that are none."""

    name: str
    numeric: bool = False  # declared to be so
    declared: tuple[str, ...] | None = None  # the values of a nominal attribute; a code is a place
    numbers: array[float] = field(default_factory=lambda: array("d"))
    texts: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._codes = {text: float(code) for code, text in enumerate(self.declared or ())}

    def append(self, cell: str) -> None:
        """Read the next row's cell, stripped of blanks."""
        number = number_of(cell) if self.declared is None else self._code(cell)
        if number is None:
            self.texts[len(self.numbers)] = cell
            number = math.nan
        self.numbers.append(number)

    def _code(self, cell: str) -> float | None:
        return self._codes.get(cell, math.nan if cell in MISSING_CELLS else None)

    def encode(self, order: NDArray[np.intp], warmup: int, where: Where) -> NDArray[np.float64]:
        """The values in stream order, (samples,); missing ones are NaN.

        `order` holds the rows of the samples, (samples,), the first `warmup` of which decide
        whether the column is one of texts. Raises DataError at a cell that does not fit.
        """
        rows = order.tolist()
        self._refuse_many_declared(rows, where)
        text = next((row for row in rows if row in self.texts), None) if self.texts else None
        if text is not None:
            if not self._is_of_texts(rows[:warmup]):
                raise DataError(f"{where(text)}: {self._stray(self.texts[text])}")
            self._refuse_decimal_commas(rows[:warmup], where)
            return self._category_codes(rows, warmup, where)
        numbers = np.frombuffer(self.numbers, dtype=np.float64)[order]
        if np.isinf(numbers).any():
            row = rows[int(np.flatnonzero(np.isinf(numbers))[0])]
            raise DataError(
                f"{where(row)}: an infinite number. Leave the cell empty if the value is unknown."
            )
        return numbers

    def _is_of_texts(self, early: list[int]) -> bool:
        if self.numeric or self.declared is not None:
            return False
        present = [r for r in early if r in self.texts or not math.isnan(self.numbers[r])]
        return bool(present) and all(row in self.texts for row in present)

    def _stray(self, cell: str) -> str:
        if self.declared is not None:
            return f"{cell!r} is not declared. {did_you_mean(cell, self.declared)}"
        return (
            f"{cell!r} is text, but this column holds numbers. "
            "Write a number, or leave the cell empty if the value is missing."
        )

    def _refuse_decimal_commas(self, early: list[int], where: Where) -> None:
        for row in early:
            cell = self.texts.get(row, "")
            if _DECIMAL_COMMA.fullmatch(cell):
                raise DataError(
                    f"{where(row)}: {cell!r} has a decimal comma. Write "
                    f"{cell.replace(',', '.')}, here and in the rest of the file."
                )

    def _refuse_many_declared(self, rows: list[int], where: Where) -> None:
        if len(self._codes) > MAX_DECLARED:
            raise DataError(
                f"{where(rows[0])}: {len(self._codes)} values are declared and {MAX_DECLARED} is "
                "the most. Leave the column out, or turn it into numbers."
            )

    def _category_codes(self, rows: list[int], warmup: int, where: Where) -> NDArray[np.float64]:
        codes: dict[str | float, int] = {}  # a number that turns up later is one more category
        values = np.full(len(rows), math.nan)
        present, last_early = 0, min(warmup, len(rows))
        for place, row in enumerate(rows):
            cell = self.texts.get(row, self.numbers[row])
            if isinstance(cell, str) or not math.isnan(cell):
                values[place] = codes.setdefault(cell, len(codes))
                present += 1
            is_most = place + 1 == last_early and len(codes) > max(_FEW, present / 2)
            if is_most or len(codes) > MAX_CATEGORIES:
                raise DataError(
                    f"{where(row)} holds {len(codes)} different texts in the first {place + 1} "
                    "rows; it looks like a date or an identifier: leave it out, or turn it into "
                    "numbers."
                )
        return values


def number_of(cell: str) -> float | None:
    """The cell as a number; NaN if it is missing, None if it is text."""
    if cell in MISSING_CELLS:
        return math.nan
    try:
        number = float(cell)
    except ValueError:
        return None
    return None if "_" in cell else number  # float() takes 1_000

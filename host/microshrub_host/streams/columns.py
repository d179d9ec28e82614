"""Turns the cells of a column into numbers.

A feature holds numbers, or texts that are replaced by codes. An ARFF header declares which; a CSV
file's column holds texts if all its cells among the first samples do. As a board has no
dictionary, texts have to be categories: few, and repeated.
"""

from __future__ import annotations

import math
import re
import shlex
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..base.errors import DataError
from ..base.text import did_you_mean
from .stream import MAX_FEATURES

CLOCK = "time"  # first column of a file of `record --time`


@dataclass(frozen=True)
class ColumnChoice:
    """The arguments `columns` and `drop` of open_stream, at most one of which is given."""

    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()

    @staticmethod
    def of(columns: Sequence[str] | None, drop: Sequence[str] | None) -> ColumnChoice:
        """Return the choice for these arguments.

        Raises DataError if both are given, TypeError for a text in place of a list.
        """
        for option, names in {"columns": columns, "drop": drop}.items():
            if isinstance(names, str):
                raise TypeError(f"{option}= takes a list of names, such as {[names]}")
        if columns is not None and drop is not None:
            raise DataError(
                "--columns names the columns that are learned and --drop those that are not: "
                "use one of the two."
            )
        return ColumnChoice(None if columns is None else tuple(columns), tuple(drop or ()))

    @property
    def is_given(self) -> bool:
        """Whether any column was chosen or dropped."""
        return self.columns is not None or bool(self.drop)

    def places(self, source: str, names: Sequence[str], label: int | None) -> list[int]:
        """Return the places of the features among the names, without the class's place.

        Raises DataError for a chosen or dropped name that is not among these, or a dropped class.
        """
        option = "--drop" if self.columns is None else "--columns"
        for name in (*self.drop, *(self.columns or ())):
            if name not in names:
                raise DataError(
                    f"{source} has no column {name}, which {option} names. "
                    f"{did_you_mean(name, names)}"
                )
        if label is not None and names[label] in self.drop:
            raise DataError(
                f"{source}: --drop names {names[label]}, the column that is to be told. "
                "--label NAME takes another one for the class, --target NAME for the target."
            )
        kept = {*self.columns} if self.columns is not None else {*names}.difference(self.drop)
        return [place for place, name in enumerate(names) if place != label and name in kept]

    def leaves_out(self, name: str) -> bool:
        """Return whether the choice leaves out a column with this name, be it a feature or not."""
        return name in self.drop or (self.columns is not None and name not in self.columns)

    def named(self, names: Sequence[str], label: str | None) -> list[tuple[int, str]]:
        """Return place and name of the columns that are used: features and class."""
        last = len(names) - 1
        return [
            (place, name)
            for place, name in enumerate(names)
            if name == label or (place == last and label is None) or not self.leaves_out(name)
        ]

    def without_clocks(
        self, names: Sequence[str], label: int | None, features: int, dates: Sequence[str] = ()
    ) -> ColumnChoice | None:
        """Return a choice that leaves out dates, and the time that `record` writes.

        The time stays if columns were dropped, or if fewer than `features` columns would be left
        without it. None if the columns were chosen, or if there is nothing to leave out.
        """
        if self.columns is not None:
            return None
        clocks = [name for name in dates if name not in self.drop]
        left = len(names) - (1 if label is None else 2)
        if names[0] == CLOCK and label != 0 and left >= features and not self.drop:
            clocks += [CLOCK] if CLOCK not in clocks else []
        return ColumnChoice(drop=(*self.drop, *clocks)) if clocks else None

    def note(self, source: str, before: ColumnChoice) -> str:
        """Return the note on clocks that are left out in addition to the choice before."""
        clocks = self.drop[len(before.drop) :]
        one = len(clocks) == 1
        return (
            f"{source}: the column{'' if one else 's'} {', '.join(clocks)} "
            f"{'is' if one else 'are'} left out: {'it says' if one else 'they say'} when a row "
            "was recorded, which a board that learns cannot know. --columns names the columns to "
            f"learn, if {'it is one' if one else 'they are some'}."
        )


ALL = ColumnChoice()


def check_count(source: str, features: int, least: int, role: str) -> None:
    """Raise DataError unless the number of feature columns is from `least` to MAX_FEATURES."""
    if least <= features <= MAX_FEATURES:
        return
    message = (
        f"{source} has {features:,} feature columns beside the {role}; {least} to "
        f"{MAX_FEATURES} are possible. "
    )
    if features:
        raise DataError(
            f"{message}--columns names those that are to be learned. If each row is a whole "
            "recording of a sensor, --wide axes=3 says how many values a reading has; the class "
            "is in the last column, or in the names of several files."
        )
    message += (
        "Cells are separated by commas, semicolons, tabs or blanks. To forecast a column from its "
        "own last values: --target NAME --horizon 1 --lags K."
    )
    raise DataError(message)


# As pandas, R, SQL and Weka write missing values; an ARFF header or --classes can declare them as
# values.
MISSING_CELLS = frozenset(
    {"", "?", "-", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL", "None", "none"}
)
MAX_CATEGORIES = 64  # in a column of texts
MAX_DECLARED = 256  # in a nominal attribute
_FEW = 16  # different texts among the first samples that any column may have
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_APART = re.compile(r"[ \u00a0\u2009\u202f'\u2019]")  # blanks and apostrophes in thousands
_GROUPED = re.compile(rf"[+-]?\d{{1,3}}({_APART.pattern}\d{{3}})+([.,]\d+)?")
_NEARLY = 0.95  # share of a column's texts that counts as nearly all
_DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+")
_WITH_UNIT = re.compile(
    r"([+-]?\d+(?:\.\d*)?|[+-]?\.\d+)(\s*)([^\W\d_][^\s,;:]{0,9}|[%°‰µ]\S{0,9})"
)

_DECIMAL = re.compile(r"\d[.,]\d")

Where = Callable[[int], str]  # describes the place of a row's cell


class ColumnError(DataError):
    """A column cannot be learned as it is; `drop`: it is no measurement."""

    def __init__(self, message: str, *, drop: bool = False) -> None:
        super().__init__(message)
        self.drop = drop


@dataclass
class Column:
    """A feature as it is read: a number for each row, NaN for a text, and the texts by row."""

    name: str
    numeric: bool = False  # declared as numeric
    declared: tuple[str, ...] | None = None  # values of a nominal attribute; a code is an index
    numbers: array[float] = field(default_factory=lambda: array("d"))
    texts: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._codes = {text: float(code) for code, text in enumerate(self.declared or ())}

    def append(self, cell: str) -> None:
        """Read the next row's cell, without surrounding blanks."""
        number = number_of(cell) if self.declared is None else self._code(cell)
        if number is None:
            self.texts[len(self.numbers)] = cell
            number = math.nan
        self.numbers.append(number)

    def _code(self, cell: str) -> float | None:
        return self._codes.get(cell, math.nan if cell in MISSING_CELLS else None)

    def encode(self, order: NDArray[np.intp], warmup: int, where: Where) -> NDArray[np.float64]:
        """Return the values in stream order, (samples,); missing ones are NaN.

        `order` holds the rows of the samples, (samples,), the first `warmup` of which decide
        whether the column holds texts. Raises DataError at a cell that does not fit.
        """
        rows = order.tolist()
        self._refuse_many_declared(rows, where)
        text = next((row for row in rows if row in self.texts), None) if self.texts else None
        if text is not None:
            if not self._is_of_texts(rows[:warmup]):
                raise ColumnError(f"{where(text)}: {self._stray(self.texts[text])}")
            self._refuse_numbers(rows[:warmup], where)
            return self._category_codes(rows, warmup, where)
        numbers = np.frombuffer(self.numbers, dtype=np.float64)[order]
        if np.isinf(numbers).any():
            row = rows[int(np.flatnonzero(np.isinf(numbers))[0])]
            raise ColumnError(
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
        if message := number_in_words(cell):
            return f"{message}, here and in the rest of the file."
        return (
            f"{cell!r} is text, but this column holds numbers. "
            "Write a number, or leave the cell empty if the value is missing."
        )

    def _refuse_numbers(self, early: list[int], where: Where) -> None:
        """Raise DataError if texts are numbers with commas, with units, or with grouped thousands.

        Units count only if all cells have one, grouped thousands only if nearly all do.
        """
        texts = {row: self.texts[row] for row in early if row in self.texts}
        with_units = all(_has_unit(cell) for cell in texts.values())
        grouped = sum(map(_is_grouped, texts.values())) >= _NEARLY * len(texts)
        for row, cell in texts.items():
            message = number_in_words(cell)
            is_text = (_has_unit(cell) and not with_units) or (_is_grouped(cell) and not grouped)
            if message and not is_text:
                says = " --decimal , or --decimal . says what a comma is." * (
                    "decimal comma" in message
                )
                raise ColumnError(
                    f"{where(row)}: {message}, here and in the rest of the file.{says}"
                )

    @property
    def _drop(self) -> str:
        return f"--drop {shlex.quote(self.name)}"

    def _refuse_many_declared(self, rows: list[int], where: Where) -> None:
        if len(self._codes) > MAX_DECLARED:
            raise ColumnError(
                f"{where(rows[0])}: {len(self._codes)} values are declared and {MAX_DECLARED} is "
                f"the most. Turn it into numbers, or leave the column out: {self._drop}.",
                drop=True,
            )

    def _category_codes(self, rows: list[int], warmup: int, where: Where) -> NDArray[np.float64]:
        codes: dict[str | float, int] = {}  # a later number is a category, too
        values = np.full(len(rows), math.nan)
        present, last_early = 0, min(warmup, len(rows))
        for place, row in enumerate(rows):
            cell = self.texts.get(row, self.numbers[row])
            if isinstance(cell, str) or not math.isnan(cell):
                values[place] = codes.setdefault(cell, len(codes))
                present += 1
            is_most = place + 1 == last_early and len(codes) > max(_FEW, present / 2)
            if is_most or len(codes) > MAX_CATEGORIES:
                raise self._many_texts(where(row), list(codes), place + 1)
        return values

    def _many_texts(self, where: str, texts: list[str | float], rows: int) -> ColumnError:
        """Return the error for dates, identifiers, or numbers with varying text around them."""
        message = f"{where} holds {len(texts)} different texts in the first {rows} rows; "
        numbers = [text for text in texts if isinstance(text, str) and _DECIMAL.search(text)]
        if 2 * len(numbers) > len(texts):
            return ColumnError(
                f"{message}they are numbers with something around them that is not always the "
                f"same, such as {numbers[0]!r}. Write each number in a cell of its own."
            )
        return ColumnError(
            f"{message}it looks like a date or an identifier: leave it out with {self._drop}, or "
            "turn it into numbers.",
            drop=True,
        )


def together(
    faults: Sequence[DataError], drop: Sequence[str], options: Sequence[str] = ()
) -> DataError:
    """Return one error for all faults, with the options that avoid some of them.

    The options are --drop with all columns to leave out, and others.
    """
    mend = [f"--drop {shlex.join(drop)}"] if drop else []
    mend += options
    if len(faults) == 1 and not options:
        return faults[0]
    all_of_them = "Use" if len(faults) == 1 else "All at once:"
    end = f" {all_of_them} {' '.join(mend)}" if mend else ""
    return DataError(" ".join(map(str, faults)) + end)


MOST = 1e150  # larger numbers are no measurements, and their squares may overflow


def number_of(cell: str) -> float | None:
    """Return the cell as a number; NaN if it is missing, None if it is text."""
    if cell in MISSING_CELLS:
        return math.nan
    try:
        number = float(cell)
    except ValueError:
        return None
    return None if "_" in cell else number  # float() accepts 1_000


def is_measurement(cell: str, counts: Counter[str]) -> bool:
    """Return whether a header's cell is a number, but not one of pandas' names 0, 1, 2 ..."""
    number = number_of(cell)
    if number is None or not math.isfinite(number):
        return False
    return re.fullmatch("[0-9]+", cell) is None or counts[cell] > 1


def number_in_words(cell: str) -> str:
    """Return a message about a text that people read as a number, with a correction, else ""."""
    if _THOUSANDS.fullmatch(cell):
        plain = cell.replace(",", "")
        if cell.count(",") == 1 and "." not in cell:
            return (
                f"{cell!r} has a comma between thousands, or a decimal comma. Write {plain} or "
                f"{cell.replace(',', '.')}, whichever is meant"
            )
        return f"{cell!r} has commas between thousands. Write {plain}"
    if _is_grouped(cell):
        plain, text = _APART.sub("", cell).replace(",", "."), _APART.sub("_", cell)
        return (
            f"{cell!r} has thousands set apart, or is a text. Write {plain} or {text}, whichever "
            "is meant"
        )
    if _DECIMAL_COMMA.fullmatch(cell):
        plain = cell.replace(".", "").replace(",", ".")
        return f"{cell!r} has a decimal comma. Write {plain}"
    if _has_unit(cell):
        number = _WITH_UNIT.fullmatch(cell)[1]  # type: ignore[index]
        return f"{cell!r} is a number with a unit. Write {number}, and the unit in the header"
    return ""


def _is_grouped(cell: str) -> bool:
    """Return whether the cell is like 1 000 or 1'000, with any blank or apostrophe."""
    return _GROUPED.fullmatch(cell) is not None


def _has_unit(cell: str) -> bool:
    """Return whether the cell is like 1.5g, 2 m/s or 3%, but not like 3rd."""
    match = _WITH_UNIT.fullmatch(cell)
    return match is not None and ("." in match[1] or bool(match[2]) or not match[3][0].isalpha())

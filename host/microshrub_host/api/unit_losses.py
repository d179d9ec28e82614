"""Units of the estimators, and warnings of values that their units or ranges cannot hold.

The first samples set the unit. If all of them are whole, a later 0.37 becomes 0; if all of them
are small, a later 1e7 may be too large. The first samples also set the ranges. If these do not
grow, later values far outside can hardly be told apart. Such samples are learned all the same, so
there is a warning.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..base.errors import AdapterError
from ..streams.unit_losses import UnitLosses, Values
from ..streams.units import MISSING, RAW_MAX, RowScale, Scale

_ADVICE = "let some of the first samples have such values, with a larger first call or warmup="
_LARGE = f"They are learned as the largest value that fits. If they are right, {_ADVICE}"
_FINE = f"To keep them apart, {_ADVICE}"
_FAR = f"They can hardly be told apart. If they are right, {_ADVICE}"
_OFTEN = 8  # consecutive values far outside of a range that give a warning
_RARE = 16  # values inside the range that outweigh one far outside


def decimals(digits: int, values: Values) -> Scale:
    """Return units that keep this number of decimal places of all features of these rows.

    Raises AdapterError if a value is too large for that number.
    """
    if type(digits) is not int:
        raise AdapterError(f"digits has to be a whole number or None, not {digits!r}")
    most = float(np.max(np.abs(values), initial=0, where=np.isfinite(values)))
    if most and math.log10(most) + digits > math.log10(RAW_MAX):
        raise AdapterError(f"digits={digits} is too many for {most:g}: 29 bits have to hold it")
    features = values.shape[1]
    return Scale(np.zeros(features), np.full(features, digits, dtype=np.int64))


class LossWarnings:
    """Warnings about learned rows: at most one about a column's unit, and one about its range."""

    def __init__(
        self,
        scale: Scale,
        names: Sequence[str],
        more: str = "",
        meant: bool = False,
        quiet: bool = False,
    ) -> None:
        """Take the columns' names for messages, such as "the feature 'a'"; more is further advice.

        With meant, the user has chosen the units, so there is no warning of rounded values.
        """
        self._scale, self._names, self._more = scale, tuple(names), more
        self._losses = UnitLosses(len(names), meant)
        self._ranges: Ranges | None = None
        self._quiet = quiet
        self._one = RowScale(scale)
        self._limits = self._losses.limits()

    def freeze(self, ranges: Sequence[tuple[int, int]], wide: bool = False) -> None:
        """Fix the ranges of the columns, each (low, span) in the column's unit.

        With wide, every value outside of a range counts as far outside.
        """
        self._ranges = Ranges(ranges, 0 if wide else 1)
        self._note_limits()

    def learned_row(self, row: Sequence[float]) -> list[int]:
        """Return the raw integers of a row to learn, NaN missing; warn as look() does."""
        raw = []
        for value, (least, most, off) in zip(self._one.exact(row), self._limits, strict=True):
            if least <= value <= most:
                whole = round(value)
                if -off <= value - whole <= off:
                    raw.append(whole)
                    continue
            elif value != value:
                raw.append(MISSING)
                continue
            values = np.array([row], dtype=np.float64)
            self.look(values, self._scale.exact(values))
            return self._one.apply(row)
        if self._ranges:
            self._ranges.rows += 1
        return raw

    def asked_row(self, row: Sequence[float]) -> list[int]:
        """Return the raw integers of a row to predict, NaN missing."""
        return self._one.apply(row)

    def value(self, column: int, raw: int) -> float:
        """Return the value of a raw integer."""
        return self._one.value(column, raw)

    def _note_limits(self) -> None:
        """Note the limits within which a row needs no warning."""
        self._limits = self._losses.limits()
        if self._ranges:
            both = zip(self._limits, self._ranges.limits(), strict=True)
            self._limits = [
                (max(least, low), min(most, high), off) for (least, most, off), (low, high) in both
            ]

    def look(self, values: Values, exact: Values) -> None:
        """Check rows, shape (rows, columns), NaN missing, and the same rows in their units.

        Warns with a UserWarning.
        """
        if self._quiet:
            return
        for column, row, too_large in self._losses.look(exact):
            what, advice = ("too large for", _LARGE) if too_large else ("rounded to", _FINE)
            unit = 10.0 ** -self._scale.digits[column]
            self._warn(column, values[row, column], f"are {what} its unit of {unit:g}", advice)
        if self._ranges:
            for column, row in self._ranges.look(exact):
                low, high = self._scale.values(self._ranges.ends)[:, column]
                where = f"are far outside of its range, {low:.6g} to {high:.6g}"
                self._warn(column, values[row, column], where, _FAR)
        self._note_limits()

    def _warn(self, column: int, value: float, what: str, advice: str) -> None:
        warnings.warn(
            f"{self._names[column]} has values such as {value:.6g}, which {what}. "
            f"{advice}{'' if advice == _FAR else self._more}.",
            UserWarning,
            stacklevel=5,
        )


class Ranges:
    """Ranges that do not grow, and the columns whose values often lie far outside."""

    def __init__(self, ranges: Sequence[tuple[int, int]], widths: int) -> None:
        """Take ranges, each (low, span); a value more than `widths` spans outside is far."""
        low, span = np.array(ranges, dtype=np.float64).T
        self.ends = np.stack([low, low + span]).astype(np.int32)
        self._least, self._most = low - widths * span, low + (1 + widths) * span
        self.rows = 0  # rows so far
        self._score = [0] * len(ranges)
        self._last = [-1] * len(ranges)  # last row with a value far outside

    def look(self, exact: Values) -> list[tuple[int, int]]:
        """Return the columns that leave their ranges with these rows, each with the row's index.

        A column has left its range when _OFTEN values were far outside; _RARE values inside
        outweigh one of them.
        """
        before = self.rows
        self.rows += len(exact)
        far = (exact < self._least) | (exact > self._most)
        if not far.any():
            return []
        rows = [(int(c), self._first(int(c), far[:, c], before)) for c in range(far.shape[1])]
        return [(column, row) for column, row in rows if row >= 0]

    def _first(self, column: int, far: NDArray[np.bool_], before: int) -> int:
        """Return the row with which a column has left its range; -1 if the column has not."""
        row: int
        for row in np.flatnonzero(far).tolist():
            inside = before + row - self._last[column] - 1
            score = max(self._score[column] - inside, 0) + _RARE
            self._score[column], self._last[column] = score, before + row
            if score >= _OFTEN * _RARE:
                self._least[column], self._most[column] = -math.inf, math.inf
                return row
        return -1

    def limits(self) -> list[tuple[float, float]]:
        """Return, for each column, the least and the greatest value that is not far outside."""
        return list(zip(self._least.tolist(), self._most.tolist(), strict=True))

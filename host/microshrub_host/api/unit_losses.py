"""Units of the estimators, and warnings of values that their units or ranges cannot hold.

A unit is chosen by the first samples. If all of these are whole, a later 0.37 becomes 0; if all of
them are small, a later 1e7 may be too large. So are ranges, where they do not grow: of later
values far outside, only the size is known. All are learned all the same, so a warning says it.
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
_OFTEN = 8  # values far outside of a range, in a row
_RARE = 16


def decimals(digits: int, values: Values) -> Scale:
    """Units that keep so many digits behind the point of all features of these rows.

    Raises AdapterError if a value is too large for that.
    """
    if type(digits) is not int:
        raise AdapterError(f"digits has to be a whole number or None, not {digits!r}")
    most = float(np.max(np.abs(values), initial=0, where=np.isfinite(values)))
    if most and math.log10(most) + digits > math.log10(RAW_MAX):
        raise AdapterError(f"digits={digits} is too many for {most:g}: 29 bits have to hold it")
    features = values.shape[1]
    return Scale(np.zeros(features), np.full(features, digits, dtype=np.int64))


class LossWarnings:
    """Looks at all rows that are learned, and warns of a column once for each kind of loss."""

    def __init__(
        self,
        scale: Scale,
        names: Sequence[str],
        more: str = "",
        meant: bool = False,
        quiet: bool = False,
    ) -> None:
        """names say which columns these are, such as "the feature 'a'"; more is further advice.

        If the units are meant to be so, nothing is said of what is rounded.
        """
        self._scale, self._names, self._more = scale, tuple(names), more
        self._losses = UnitLosses(len(names), meant)
        self._ranges: Ranges | None = None
        self._quiet = quiet
        self._one = RowScale(scale)
        self._limits = self._losses.limits()

    def freeze(self, ranges: Sequence[tuple[int, int]], wide: bool = False) -> None:
        """From now on, values have these ranges, (low, span) of each column in its unit.

        wide ones have all the room that is to be had.
        """
        self._ranges = Ranges(ranges, 0 if wide else 1)
        self._note_limits()

    def learned_row(self, row: Sequence[float]) -> list[int]:
        """The raw integers of a row that is learned, NaN missing; warns as look()."""
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
        """The raw integers of a row that is asked for, NaN missing."""
        return self._one.apply(row)

    def value(self, column: int, raw: int) -> float:
        """The value that a raw integer stands for."""
        return self._one.value(column, raw)

    def _note_limits(self) -> None:
        """Of rows in which there is nothing to tell."""
        self._limits = self._losses.limits()
        if self._ranges:
            both = zip(self._limits, self._ranges.limits(), strict=True)
            self._limits = [
                (max(least, low), min(most, high), off) for (least, most, off), (low, high) in both
            ]

    def look(self, values: Values, exact: Values) -> None:
        """Look at rows, shape (rows, columns), NaN missing, and at the same in their units.

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
        """Far is more than so many widths of a range, (low, span), away from it."""
        low, span = np.array(ranges, dtype=np.float64).T
        self.ends = np.stack([low, low + span]).astype(np.int32)
        self._least, self._most = low - widths * span, low + (1 + widths) * span
        self.rows = 0  # so far
        self._score = [0] * len(ranges)
        self._last = [-1] * len(ranges)  # row with a value that was far outside

    def look(self, exact: Values) -> list[tuple[int, int]]:
        """The columns that left their ranges with these rows, each once, and a row that shows it.

        A column has when _OFTEN values were far outside, less one for each _RARE that were not.
        """
        before = self.rows
        self.rows += len(exact)
        far = (exact < self._least) | (exact > self._most)
        if not far.any():
            return []
        rows = [(int(c), self._first(int(c), far[:, c], before)) for c in range(far.shape[1])]
        return [(column, row) for column, row in rows if row >= 0]

    def _first(self, column: int, far: NDArray[np.bool_], before: int) -> int:
        """The row with which a column has left its range; -1 if it has not."""
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
        """Of each column the least and the greatest value that is not far outside."""
        return list(zip(self._least.tolist(), self._most.tolist(), strict=True))

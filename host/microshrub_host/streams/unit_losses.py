"""Values that a unit cannot hold: too large, or too fine."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .units import RAW_MAX

Values = NDArray[np.float64]
_STEPS = 256  # steps, at least, of a range in which rounding to whole units does not matter
_NEARLY = 0.01  # part of a unit: the largest error of a float that should be whole
_ROOM = RAW_MAX // 40  # up to this size, units could have been ten times as fine


class UnitLosses:
    """Checks rows in the order of their arrival, and reports each column once."""

    def __init__(self, columns: int, meant: bool = False) -> None:
        """Set up for that many columns; if the units are `meant`, rounding is not reported."""
        self._meant = meant
        self._least = np.full(columns, np.nan)  # least number so far, in units
        self._most = np.full(columns, np.nan)
        self._reported = np.zeros(columns, dtype=np.bool_)
        self._may_lose = True

    def look(self, exact: Values) -> Iterator[tuple[int, int, bool]]:
        """Check rows in units before rounding, shape (rows, columns), NaN missing.

        Yields losses: column, row, and whether the value is too large; otherwise it is rounded.
        """
        if self._is_as_before(exact):
            return
        self._least = np.fmin(self._least, np.fmin.reduce(exact))
        self._most = np.fmax(self._most, np.fmax.reduce(exact))
        size = np.fmax(-self._least, self._most)
        if (size > RAW_MAX).any():
            yield from self._tell(np.abs(exact) > RAW_MAX, too_large=True)
        few = (self._most - self._least < _STEPS) & (size <= _ROOM)
        self._may_lose = bool(few.any()) and not self._meant
        if self._may_lose:
            lost = (np.abs(exact - np.rint(exact)) > _NEARLY) & few
            yield from self._tell(lost, too_large=False)

    def _is_as_before(self, exact: Values) -> bool:
        """Return whether these rows extend no range, and no column has losses within its range.

        This is so for nearly all rows, and takes only three comparisons.
        """
        if self._may_lose:
            return False
        return bool(((exact >= self._least) & (exact <= self._most)).all())

    def limits(self) -> list[tuple[float, float, float]]:
        """Return for each column the limits within which a row cannot change look()'s outcome.

        The limits are the least and the greatest value, and the distance from a whole number.
        """
        few = (self._most - self._least < _STEPS) & (np.fmax(-self._least, self._most) <= _ROOM)
        off = np.where(few & ~self._reported & (not self._meant), _NEARLY, 1.0)
        least, most = np.fmax(self._least, -RAW_MAX), np.fmin(self._most, RAW_MAX)
        return list(zip(least.tolist(), most.tolist(), off.tolist(), strict=True))

    def _tell(self, lost: NDArray[np.bool_], too_large: bool) -> Iterator[tuple[int, int, bool]]:
        for column in np.flatnonzero(lost.any(axis=0) & ~self._reported):
            self._reported[column] = True
            yield int(column), int(np.argmax(lost[:, column])), too_large

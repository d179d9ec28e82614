"""Units of the adapters, and warnings of values that these units cannot hold.

A unit is chosen by the first samples. If all of these are whole, a later 0.37 becomes 0; if all of
them are small, a later 1e7 may be too large. Both are learned all the same, so a warning says it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..base.errors import AdapterError
from ..streams.units import RAW_MAX, Scale

Values = NDArray[np.float64]
_STEPS = 256  # of a range in which rounding to whole units does not matter
_ADVICE = "let some of the first samples have such values, with a larger first call or warmup="
_LARGE = f"They are learned as the largest value that fits. If they are right, {_ADVICE}"
_FINE = f"To keep them apart, {_ADVICE}"
_NEARLY = 0.01  # of a unit: no more is lost where a float should be whole
_ROOM = RAW_MAX // 40  # up to this size, units could have been ten times as fine


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


class UnitLosses:
    """Looks at all rows that are learned, and warns of a column once."""

    def __init__(
        self, scale: Scale, names: Sequence[str], more: str = "", meant: bool = False
    ) -> None:
        """names say which columns these are, such as "the feature 'a'"; more is further advice.

        If the units are meant to be so, nothing is said of what is rounded.
        """
        self._scale, self._names, self._more = scale, tuple(names), more
        self._meant = meant
        self._least = np.full(len(names), np.nan)  # of the numbers so far, in units
        self._most = np.full(len(names), np.nan)
        self._told = np.zeros(len(names), dtype=np.bool_)
        self._may_lose = True

    def look(self, values: Values, exact: Values) -> None:
        """Look at rows, shape (rows, columns), NaN missing, and at the same in their units.

        Warns with a UserWarning.
        """
        if self._is_as_before(exact):
            return
        self._least = np.fmin(self._least, np.fmin.reduce(exact))
        self._most = np.fmax(self._most, np.fmax.reduce(exact))
        size = np.fmax(-self._least, self._most)
        if (size > RAW_MAX).any():
            self._tell(values, np.abs(exact) > RAW_MAX, "too large for", _LARGE)
        few = (self._most - self._least < _STEPS) & (size <= _ROOM)
        self._may_lose = bool(few.any()) and not self._meant
        if self._may_lose:
            lost = (np.abs(exact - np.rint(exact)) > _NEARLY) & few
            self._tell(values, lost, "rounded to", _FINE)

    def _is_as_before(self, exact: Values) -> bool:
        """Whether no range grows with these rows, and no column loses anything within its range.

        So it is with nearly all rows, and three comparisons tell it.
        """
        if self._may_lose:
            return False
        return bool(((exact >= self._least) & (exact <= self._most)).all())

    def _tell(self, values: Values, lost: NDArray[np.bool_], what: str, advice: str) -> None:
        for f in np.flatnonzero(lost.any(axis=0) & ~self._told):
            self._told[f] = True
            value, unit = values[np.argmax(lost[:, f]), f], 10.0 ** -self._scale.digits[f]
            warnings.warn(
                f"{self._names[f]} has values such as {value:.6g}, which are {what} its unit of "
                f"{unit:g}. {advice}{self._more}.",
                UserWarning,
                stacklevel=5,
            )

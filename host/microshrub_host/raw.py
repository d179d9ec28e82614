"""Decimal numbers of a data set to the raw integers that a quantizer takes.

A board's driver hands out integers, say hundredths of a degree. A file has decimals; each column
is scaled by a power of ten, chosen on the warm-up rows alone, so that what they hold becomes whole
(as far as 29 bits carry) with room for values sixteen times as large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Raw = NDArray[np.int32]
RAW_MAX = (1 << 29) - 1
MISSING = -(1 << 29)
_HEADROOM = 16
_MOST_DIGITS = 9


@dataclass(frozen=True)
class Scale:
    """Powers of ten of the columns, shape (features,): raw = value * 10**digits."""

    digits: NDArray[np.int64]

    @staticmethod
    def fit(values: NDArray[np.float64]) -> Scale:
        """Choose the digits on warm-up rows, shape (rows, features), NaN where missing."""
        return Scale(np.array([_digits(column) for column in values.T], dtype=np.int64))

    def apply(self, values: NDArray[np.float64]) -> Raw:
        """Raw integers of rows; NaN becomes MISSING, what is too large the largest."""
        # np.power of whole exponents is exact up to 10**22; division keeps 0.1 * 10 at 1
        up = 10.0 ** np.maximum(self.digits, 0)
        down = 10.0 ** np.maximum(-self.digits, 0)
        scaled = np.clip(np.rint(values * up / down), -RAW_MAX, RAW_MAX)
        return np.where(np.isnan(values), MISSING, scaled).astype(np.int32)


def _digits(column: NDArray[np.float64]) -> int:
    known = column[~np.isnan(column)]
    largest = float(np.max(np.abs(known), initial=0.0))
    most = _MOST_DIGITS
    while most > -300 and largest * 10.0**most > RAW_MAX / _HEADROOM:
        most -= 1
    for digits in range(min(most, 0), most):
        scaled = known * 10.0**digits
        if np.all(np.abs(scaled - np.rint(scaled)) < 1e-6):
            return digits
    return most

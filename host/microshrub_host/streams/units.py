"""Converts decimal numbers of a data set to the raw integers that a quantizer takes.

A board's driver returns integers in a unit of its own, such as hundredths of a degree. A file has
decimals: each column gets a unit, a power of ten, and an offset if its numbers are large and close
together (a time stamp). The unit makes all of the column's numbers whole as far as 29 bits allow.
It is determined from the whole column; the ranges of the codes, which the model sees, come from
the first samples alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .stored_values import PART, Numbers, let_go, taken_out

Raw = NDArray[np.int32]
RAW_MAX = (1 << 29) - 1
MISSING = -(1 << 29)
_HEADROOM = 4
_USUAL = 0.999  # share of a column that has to fit; other values are clamped
_ROUNDING = 1e-9  # relative error of a float that should be whole
_FAR = 1000  # ratio of size to spread above which an offset pays
_MOST = 0.99  # share of a column that shows which values are plausible
_SOME = 0.02  # part of a column that is larger than the rest beyond _USUAL or _MOST
_FEW = 1000  # numbers that are checked first
_BYTES_AT_ONCE = 1 << 21  # bytes of values read from a file at once
_ABSURD = 1e6  # factor above the plausible numbers, beyond which a number does not affect the unit


@dataclass(frozen=True)
class Scale:
    """Units of the columns, both of shape (features,): raw = (value - offset) * 10**digits."""

    offset: NDArray[np.float64]
    digits: NDArray[np.int64]

    @staticmethod
    def fit(values: NDArray[np.float64]) -> Scale:
        """Choose the units of columns, shape (rows, features), NaN where missing."""
        units = []
        for column in values.T:
            units.append(_unit(column))
            let_go(values)
        return Scale(
            np.array([offset for offset, _ in units]),
            np.array([digits for _, digits in units], dtype=np.int64),
        )

    def apply(self, values: NDArray[np.float64]) -> Raw:
        """Return raw integers of rows; NaN becomes MISSING, too large values the largest."""
        return self.rounded(self.exact(values))

    def exact(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows in these units, before rounding; NaN stays."""
        return _scaled(values - self.offset, self.digits)

    def rounded(self, exact: NDArray[np.float64]) -> Raw:
        """Return raw integers of rows from exact(), which are overwritten."""
        np.rint(exact, out=exact)
        np.clip(exact, -RAW_MAX, RAW_MAX, out=exact)
        exact[np.isnan(exact)] = MISSING
        return exact.astype(np.int32)

    def blocks(self, values: NDArray[np.float64], size: int) -> Iterator[tuple[int, Raw]]:
        """Yield the start of each block of `size` rows, and its raw integers.

        If the values are in a file, only a part is in memory.
        """
        most = size * max(1, _BYTES_AT_ONCE // (values.itemsize * values.shape[1] * size))
        for start in range(0, len(values), most):
            part = taken_out(values, slice(start, start + most))
            for at in range(0, len(part), size):
                yield start + at, self.apply(part[at : at + size])

    def apply_numbers(self, numbers: list[float]) -> list[int]:
        """Return raw integers of numbers; the scale has only one column."""
        return [int(raw) for raw in self.apply(np.array(numbers)[:, None])[:, 0]]

    def values(self, raw: Raw) -> NDArray[np.float64]:
        """Return the values of rows of raw integers, none of them missing."""
        return _scaled(raw.astype(np.float64), -self.digits) + self.offset

    def too_large(self, column: NDArray[np.float64], place: int) -> NDArray[np.intp]:
        """Return the rows of the column at `place` with values too large for a raw integer."""
        result = []
        for at in range(0, len(column), PART):
            part = column[at : at + PART]
            # The extremes suffice, as raw integers grow with the numbers
            if self._far(np.array([np.fmin.reduce(part), np.fmax.reduce(part)]), place).any():
                result.append(at + np.flatnonzero(self._far(part, place)))
            let_go(column)
        return np.concatenate(result) if result else np.empty(0, dtype=np.intp)

    def _far(self, numbers: NDArray[np.float64], place: int) -> NDArray[np.bool_]:
        scaled = np.rint(_scaled(numbers - self.offset[place], self.digits[place]))
        return np.abs(scaled) > RAW_MAX

    def units(self) -> list[tuple[int, int]]:
        """Return offset and digits of each column, the offset as an integer."""
        return [(int(o), int(d)) for o, d in zip(self.offset, self.digits, strict=True)]


class RowScale:
    """A Scale for single rows of Python's numbers, ten times as fast there."""

    def __init__(self, scale: Scale) -> None:
        up = 10.0 ** np.maximum(scale.digits, 0)
        down = 10.0 ** np.maximum(-scale.digits, 0)
        units = (scale.offset.tolist(), up.tolist(), down.tolist())
        self._units: list[tuple[float, float, float]] = list(zip(*units, strict=True))

    def exact(self, row: Sequence[float]) -> list[float]:
        """Return a row in these units, as Scale.exact() does."""
        units = zip(row, self._units, strict=True)
        return [(value - offset) * up / down for value, (offset, up, down) in units]

    def apply(self, row: Sequence[float]) -> list[int]:
        """Return raw integers of a row, as Scale.apply() does."""
        return [
            MISSING if value != value else round(max(-RAW_MAX, min(value, RAW_MAX)))
            for value in self.exact(row)
        ]

    def value(self, column: int, raw: int) -> float:
        """Return the value of one raw integer, as Scale.values() does."""
        offset, up, down = self._units[column]
        return raw * down / up + offset


def _scaled(values: NDArray[np.float64], digits: NDArray[np.int64] | int) -> NDArray[np.float64]:
    # Powers of ten are exact up to 10**22; dividing where digits are negative keeps 30 / 10 at 3.
    with np.errstate(over="ignore"):
        scaled = values * 10.0 ** np.maximum(digits, 0)
        down = 10.0 ** np.maximum(-np.asarray(digits), 0)
        return np.asarray(scaled / down if np.any(down > 1) else scaled)


def _unit(column: NDArray[np.float64]) -> tuple[float, int]:
    known = Numbers(column)
    if not known.count:
        return 0.0, 0
    known = _plausible(known)
    size = known.size(_USUAL, math.ceil)
    offset, spread = _offset(known, size)
    most = _most_digits(spread if offset else size)
    return offset, _fewest_digits(known.minus(offset) if offset else known, most)


def _offset(known: Numbers, size: float) -> tuple[float, float]:
    """Return the offset and, if it is not 0, the numbers' spread around it."""
    far, some = size * (2 / _FAR), _SOME * known.count + 2
    if known.wider_than(2 * far, some):
        return 0.0, 0.0  # the spread is large, whatever the median
    middle = float(np.rint(known.median()))
    apart = known.minus(middle)
    if apart.larger_than(far) > some:
        return 0.0, 0.0  # the spread is large
    spread = apart.size(_USUAL, math.ceil)
    return (middle, spread) if spread * _FAR < size else (0.0, 0.0)


def _plausible(known: Numbers) -> Numbers:
    """Return the plausible numbers: a mistyped 1e308 would turn all others into 0."""
    largest = known.largest()
    if known.larger_than(largest * (2 / _ABSURD)) > _SOME * known.count + 2:
        return known
    most = known.size(_MOST, math.floor)
    return known.up_to(most * _ABSURD) if most else known


def _most_digits(size: float) -> int:
    """Return the most decimal digits with which numbers of that size fit."""
    if size == 0:
        return 0
    return int(np.floor(np.log10(RAW_MAX / _HEADROOM) - np.log10(size)))


def _fewest_digits(known: Numbers, most: int) -> int:
    """Return the fewest digits that make all numbers whole, but at most `most`."""
    with np.errstate(over="ignore", invalid="ignore"):
        for digits in range(min(most, 0), most):
            if all(_whole(part[:_FEW], digits) and _whole(part, digits) for part in known.parts()):
                return digits
    return most


def _whole(numbers: NDArray[np.float64], digits: int) -> bool:
    # as _scaled(), but faster for a single number of digits
    power = np.power(10.0, abs(digits))
    scaled = numbers * power if digits >= 0 else numbers / power
    return bool((np.abs(scaled - np.rint(scaled)) <= _ROUNDING * np.abs(scaled)).all())

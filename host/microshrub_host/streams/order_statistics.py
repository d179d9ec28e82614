"""The order statistics of a column's numbers; of a long one, only a part is in memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..base.mapped_memory import let_go

PART = 1 << 16  # numbers that are looked at at once: they fit into a processor's cache
_KEPT = 1 << 20  # numbers of a column that are looked at often, and stay in memory
_SAMPLE = 1 << 16  # numbers that show where to look
_MARGIN = 800  # of these, to either side
_FEW = 1000  # numbers that show how wide a column is,
_LOW, _HIGH = 0.1, 0.9  # from this rank to this one

Floats = NDArray[np.float64]


class Numbers:
    """The numbers of a column, NaN left out; those that are larger than `most`, too."""

    def __init__(self, column: Floats, offset: float = 0.0, most: float = math.inf) -> None:
        self._column, self._offset, self._most = column, offset, most
        self._only = list(self._parts()) if len(column) <= _KEPT else None
        self.count = sum(len(part) for part in self.parts())

    def minus(self, offset: float) -> Numbers:
        """The same, less an offset."""
        return Numbers(self._column, offset, self._most)

    def up_to(self, most: float) -> Numbers:
        """Only those whose size is no larger."""
        return Numbers(self._column, self._offset, most)

    def parts(self) -> Iterator[Floats]:
        """The numbers, a part at a time."""
        return self._parts() if self._only is None else iter(self._only)

    def _parts(self) -> Iterator[Floats]:
        for at in range(0, len(self._column), PART):
            part = self._column[at : at + PART]
            missing = np.isnan(part)
            if missing.any():
                part = part[~missing]
            if self._most < math.inf:
                part = part[np.abs(part) <= self._most]
            yield part - self._offset if self._offset else part
            let_go(self._column)

    def larger_than(self, size: float) -> int:
        """How many have a larger size."""
        return sum(int(np.count_nonzero(np.abs(part) > size)) for part in self.parts())

    def largest(self) -> float:
        """The largest size."""
        return max(float(np.abs(part).max(initial=0)) for part in self.parts())

    def wider_than(self, width: float, count: float) -> bool:
        """Whether more than `count` of them lie below, and more than `count` above, two numbers
        that are so far apart. False if that is not known after one look at some of them."""
        some = _every(self.count // _FEW + 1, self.parts())
        low, high = (float(some[int(place * (len(some) - 1))]) for place in (_LOW, _HIGH))
        if high - low <= width:
            return False
        below = above = 0
        for part in self.parts():
            below += int(np.count_nonzero(part <= low))
            above += int(np.count_nonzero(part >= high))
        return min(below, above) > count

    def median(self) -> float:
        """The middle one, or the mean of the two in the middle."""
        low = _ranked(self.parts, (self.count - 1) // 2, self.count)
        if self.count % 2:
            return low
        return float(np.mean([low, _ranked(self.parts, self.count // 2, self.count)]))

    def size(self, share: float, rounded: Callable[[float], int]) -> float:
        """The size that this share of them does not exceed; rounded makes a whole rank."""
        rank = rounded(share * (self.count - 1))
        return _ranked(lambda: (np.abs(part) for part in self.parts()), rank, self.count)


def _every(step: int, parts: Iterator[Floats]) -> Floats:
    """One of so many numbers, sorted."""
    some = [part[::step].copy() for part in parts]  # a view would keep its whole part
    return np.sort(np.concatenate(some))


def _ranked(parts: Callable[[], Iterator[Floats]], rank: int, count: int) -> float:
    """The number that so many of these are before, in their order."""
    if count <= 4 * _SAMPLE:
        return float(np.partition(np.concatenate(list(parts())), rank)[rank])
    some = _every(count // _SAMPLE, parts())
    place, margin = rank * len(some) // count, _MARGIN
    while True:
        low = some[place - margin] if place >= margin else -math.inf
        high = some[place + margin] if place + margin < len(some) else math.inf
        found = _between(parts, rank, float(low), float(high))
        if found is not None:
            return found
        margin *= 4


def _between(
    parts: Callable[[], Iterator[Floats]], rank: int, low: float, high: float
) -> float | None:
    """That number if it is in low..high, else None."""
    before = lowest = highest = 0
    inside = []
    for part in parts():
        before += int(np.count_nonzero(part < low))
        lowest += int(np.count_nonzero(part == low))
        highest += int(np.count_nonzero(part == high)) if high > low else 0
        inside.append(part[(part > low) & (part < high)])
    rank -= before
    if 0 <= rank < lowest:
        return low
    within = np.concatenate(inside)
    rank -= lowest
    if 0 <= rank < len(within):
        return float(np.partition(within, rank)[rank])
    return high if 0 <= rank - len(within) < highest else None

"""The values of a stream, in a file if they may not fit into memory.

The file is in the cache's folder, has no name, and is deleted with the array. Parts that were read
stay in memory until let_go(); a column's order statistics need only a part in memory.
"""

from __future__ import annotations

import math
import mmap
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.cache import cache_folder
from ..base.errors import DataError

if TYPE_CHECKING:
    Item = TypeVar("Item", bound=np.generic[Any])


def let_go(values: NDArray[np.generic[Any]]) -> None:
    """Release the memory of values in a file, which are read again when needed.

    Other values are not changed.
    """
    mapped = _mapping(values)
    if sys.platform == "win32":
        return
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def taken_out(values: NDArray[Item], rows: slice) -> NDArray[Item]:
    """Return these rows of (rows, columns); for values in a file, a copy in memory.

    Reading one number can load two megabytes of a file into memory, so the columns are copied one
    after the other.
    """
    result = values[rows]
    if _mapping(values) is None:
        return result
    copy = np.empty(result.shape, result.dtype)
    for place in range(result.shape[1]):
        copy[:, place] = result[:, place]
        let_go(values)
    return copy


def _mapping(values: NDArray[np.generic[Any]]) -> mmap.mmap | None:
    return getattr(values, "_mmap", None)  # numpy.memmap and its views have it


IN_MEMORY = 1 << 26  # bytes of all values; a larger array is kept in a file
COLUMN_IN_MEMORY = 1 << 22  # bytes of any other column


class Room:
    """Room for the values of a stream, of shape (rows, features), stored column by column.

    It is a context manager: values in a file can be written until its end, and read from then on.
    Raises DataError if the disk has too little room.
    """

    def __init__(self, rows: int, features: int) -> None:
        columns, self._file = _array((features, rows), np.float64, IN_MEMORY)
        self.values: NDArray[np.float64] = columns.T

    def __enter__(self) -> Room:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, at: int, place: int, numbers: NDArray[np.float64]) -> None:
        """Write numbers to the column at that place, from row `at` on."""
        if self._file is None or not hasattr(os, "pwrite"):
            self.values[at : at + len(numbers), place] = numbers
            return
        begin = (place * len(self.values) + at) * numbers.itemsize
        try:  # writing to mapped memory takes four times as long
            written = os.pwrite(self._file.fileno(), numbers.data, begin)
        except OSError as error:
            raise _no_room(self.values.nbytes, len(self.values), error) from error
        if written < numbers.nbytes:
            raise _no_room(self.values.nbytes, len(self.values), OSError("the disk is full"))


def column_room(rows: int, item_type: type[Item]) -> NDArray[Item]:
    """Return an array of zeros of shape (rows,), to be written. Raises DataError as Room does."""
    column, file = _array((rows,), item_type, COLUMN_IN_MEMORY)
    if file is not None:
        file.close()
    return column


def _array(
    shape: tuple[int, ...], item_type: type[Item], most: int
) -> tuple[NDArray[Item], IO[bytes] | None]:
    """Return an array, and its file if it takes more than `most` bytes."""
    size = max(math.prod(shape), 1) * np.dtype(item_type).itemsize
    if size <= most:
        return np.zeros(shape, item_type), None
    try:
        folder = cache_folder("streams")
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            file = opened.enter_context(tempfile.TemporaryFile(dir=folder))
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            array: NDArray[Item] = np.memmap(file, dtype=item_type, shape=shape)
            opened.pop_all()  # the caller closes the file
            return array, file
    except OSError as error:
        raise _no_room(size, shape[-1], error) from error


def _no_room(size: int, samples: int, error: OSError) -> DataError:
    return DataError(
        f"{size:,} bytes for {samples:,} samples cannot be kept in {cache_folder('streams')}: "
        f"{error.strerror or error}."
    )


PART = 1 << 16  # numbers processed at once: they fit into a processor's cache
_KEPT = 1 << 20  # numbers of a column that stay in memory, as they are read often
_SAMPLE = 1 << 16  # sampled numbers that show where a rank lies
_MARGIN = 800  # sampled numbers to either side of the rank, at first
_FEW = 1000  # sampled numbers that show how wide a column is
_LOW, _HIGH = 0.1, 0.9  # ranks between which the width counts

Floats = NDArray[np.float64]


class Numbers:
    """The numbers of a column, without NaN and without numbers larger than `most` in size."""

    def __init__(self, column: Floats, offset: float = 0.0, most: float = math.inf) -> None:
        self._column, self._offset, self._most = column, offset, most
        self._only = list(self._parts()) if len(column) <= _KEPT else None
        self.count = sum(len(part) for part in self.parts())

    def minus(self, offset: float) -> Numbers:
        """Return the numbers less an offset."""
        return Numbers(self._column, offset, self._most)

    def up_to(self, most: float) -> Numbers:
        """Return only the numbers up to a size."""
        return Numbers(self._column, self._offset, most)

    def parts(self) -> Iterator[Floats]:
        """Return the numbers, a part at a time."""
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
        """Return how many numbers are larger in size."""
        return sum(int(np.count_nonzero(np.abs(part) > size)) for part in self.parts())

    def largest(self) -> float:
        """Return the largest size."""
        return max(float(np.abs(part).max(initial=0)) for part in self.parts())

    def wider_than(self, width: float, count: float) -> bool:
        """Return whether an interval of that width has more than `count` numbers on either side.

        False if a sample of the numbers shows no such interval.
        """
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
        """Return the median."""
        low = _ranked(self.parts, (self.count - 1) // 2, self.count)
        if self.count % 2:
            return low
        return float(np.mean([low, _ranked(self.parts, self.count // 2, self.count)]))

    def size(self, share: float, rounded: Callable[[float], int]) -> float:
        """Return the size that this share of the numbers does not exceed.

        rounded() converts a rank to a whole one.
        """
        rank = rounded(share * (self.count - 1))
        return _ranked(lambda: (np.abs(part) for part in self.parts()), rank, self.count)


def _every(step: int, parts: Iterator[Floats]) -> Floats:
    """Return every `step`-th number of each part, sorted."""
    some = [part[::step].copy() for part in parts]  # a view would keep its whole part
    return np.sort(np.concatenate(some))


def _ranked(parts: Callable[[], Iterator[Floats]], rank: int, count: int) -> float:
    """Return the number at a rank among these numbers."""
    if count <= 4 * _SAMPLE:
        return float(np.partition(np.concatenate(list(parts())), rank)[rank])
    some = _every(count // _SAMPLE, parts())
    place, margin = rank * len(some) // count, _MARGIN
    while True:
        low = some[place - margin] if place >= margin else -math.inf
        high = some[place + margin] if place + margin < len(some) else math.inf
        result = _between(parts, rank, float(low), float(high))
        if result is not None:
            return result
        margin *= 4


def _between(
    parts: Callable[[], Iterator[Floats]], rank: int, low: float, high: float
) -> float | None:
    """Return the number if it is in low..high, else None."""
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

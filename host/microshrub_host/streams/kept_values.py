"""Where the numbers of a stream are kept: in memory, or, of a long one, in a file.

A file is in the cache's folder, without a name, and gone when the array is.
"""

from __future__ import annotations

import math
import os
import tempfile
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.cache import cache_folder
from .stream import DataError

if TYPE_CHECKING:
    Kind = TypeVar("Kind", bound=np.generic[Any])

IN_MEMORY = 1 << 26  # bytes of all values; what takes more is kept in a file
COLUMN_IN_MEMORY = 1 << 22  # and bytes of a column of something else


class Room:
    """Room for the values of a stream, of shape (rows, features), whose columns lie together.

    A context: what lies in a file can be written until it ends, and read from then on. Raises
    DataError if the disk has too little room.
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
        """Put numbers into the column at that place, from row `at` on."""
        if self._file is None or not hasattr(os, "pwrite"):
            self.values[at : at + len(numbers), place] = numbers
            return
        begin = (place * len(self.values) + at) * numbers.itemsize
        try:  # to write to memory that stands for a file takes four times as long
            written = os.pwrite(self._file.fileno(), numbers.data, begin)
        except OSError as error:
            raise _no_room(self.values.nbytes, len(self.values), error) from error
        if written < numbers.nbytes:
            raise _no_room(self.values.nbytes, len(self.values), OSError("the disk is full"))


def column_room(rows: int, kind: type[Kind]) -> NDArray[Kind]:
    """An array of shape (rows,) to be written, zeros to begin with. Raises DataError as Room."""
    column, file = _array((rows,), kind, COLUMN_IN_MEMORY)
    if file is not None:
        file.close()
    return column


def _array(
    shape: tuple[int, ...], kind: type[Kind], most: int
) -> tuple[NDArray[Kind], IO[bytes] | None]:
    """An array, and the file in which it lies if it takes more than so many bytes."""
    size = max(math.prod(shape), 1) * np.dtype(kind).itemsize
    if size <= most:
        return np.zeros(shape, kind), None
    try:
        folder = cache_folder("streams")
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            file = opened.enter_context(tempfile.TemporaryFile(dir=folder))
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            array: NDArray[Kind] = np.memmap(file, dtype=kind, shape=shape)
            opened.pop_all()  # who asked for the array closes its file
            return array, file
    except OSError as error:
        raise _no_room(size, shape[-1], error) from error


def _no_room(size: int, samples: int, error: OSError) -> DataError:
    return DataError(
        f"{size:,} bytes for {samples:,} samples cannot be kept in {cache_folder('streams')}: "
        f"{error.strerror or error}."
    )

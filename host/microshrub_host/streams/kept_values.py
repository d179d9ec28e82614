"""Where the numbers of a stream are kept: in memory, or, of a long one, in a file."""

from __future__ import annotations

import math
import os
import tempfile
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.cache import cache_folder
from .stream import DataError

if TYPE_CHECKING:
    Kind = TypeVar("Kind", bound=np.generic[Any])

IN_MEMORY = 1 << 26  # bytes of all values; what takes more is kept in a file
COLUMN_IN_MEMORY = 1 << 22  # and bytes of a column of something else


def room(rows: int, features: int) -> NDArray[np.float64]:
    """An array of shape (rows, features) to be written, whose columns lie together.

    The file of a long one is in the cache's folder, without a name, and gone when the array is.
    Raises DataError if the disk has too little room.
    """
    columns: NDArray[np.float64] = _room((features, rows), np.float64, IN_MEMORY).T
    return columns


def column_room(rows: int, kind: type[Kind]) -> NDArray[Kind]:
    """The same, of shape (rows,) and of another kind, zeros to begin with."""
    return _room((rows,), kind, COLUMN_IN_MEMORY)


def _room(shape: tuple[int, ...], kind: type[Kind], most: int) -> NDArray[Kind]:
    size = max(math.prod(shape), 1) * np.dtype(kind).itemsize
    if size <= most:
        return np.zeros(shape, kind)
    folder = cache_folder("streams")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            kept: NDArray[Kind] = np.memmap(file, dtype=kind, shape=shape)
    except OSError as error:
        raise DataError(
            f"{size:,} bytes for {shape[-1]:,} samples cannot be kept in {folder}: "
            f"{error.strerror or error}."
        ) from error
    return kept

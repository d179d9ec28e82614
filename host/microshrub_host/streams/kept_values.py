"""Where the values of a stream are kept: in memory, or, of a long one, in a file."""

from __future__ import annotations

import os
import tempfile

import numpy as np
from numpy.typing import NDArray

from ..base.cache import cache_folder
from .stream import DataError

IN_MEMORY = 1 << 26  # bytes; what takes more is kept in a file


def room(rows: int, features: int) -> NDArray[np.float64]:
    """An array of shape (rows, features) to be written; columns of one in a file lie together.

    The file is in the cache's folder, without a name, and gone when the array is. Raises DataError
    if the disk has too little room.
    """
    size = max(rows, 1) * features * 8
    if size <= IN_MEMORY:
        return np.empty((rows, features))
    folder = cache_folder("streams")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            kept = np.memmap(file, dtype=np.float64, shape=(features, rows))
    except OSError as error:
        raise DataError(
            f"{size:,} bytes for the values of {rows:,} samples cannot be kept in {folder}: "
            f"{error.strerror or error}."
        ) from error
    columns: NDArray[np.float64] = kept.T
    return columns

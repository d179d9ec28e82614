"""Arrays that lie in a file and are mapped into memory."""

from __future__ import annotations

import mmap
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    Kind = TypeVar("Kind", bound=np.generic[Any])


def let_go(values: NDArray[np.generic[Any]]) -> None:
    """Give back the memory of values that lie in a file; they are read again when needed.

    Values that do not are left as they are.
    """
    mapped = _mapping(values)
    if sys.platform == "win32":
        return
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def taken_out(values: NDArray[Kind], rows: slice) -> NDArray[Kind]:
    """Those rows of (rows, columns); of values that lie in a file, a copy in memory.

    To look at one number can bring two megabytes of a file into memory, so the columns are copied
    one after the other.
    """
    found = values[rows]
    if _mapping(values) is None:
        return found
    copy = np.empty(found.shape, found.dtype)
    for place in range(found.shape[1]):
        copy[:, place] = found[:, place]
        let_go(values)
    return copy


def _mapping(values: NDArray[np.generic[Any]]) -> mmap.mmap | None:
    return getattr(values, "_mmap", None)  # of numpy.memmap and of its views

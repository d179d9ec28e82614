"""Arrays that lie in a file and are mapped into memory."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray


def let_go(values: NDArray[np.generic[Any]]) -> None:
    """Give back the memory of values that lie in a file; they are read again when needed.

    Values that do not are left as they are.
    """
    mapped = getattr(values, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)

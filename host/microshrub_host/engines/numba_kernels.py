"""Kernels compiled by numba, and where they are kept."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..base.cache import cache_folder


def folder(digest: str) -> Path:
    """Where numba keeps what it compiled of sources with that hash.

    What a cached function calls is compiled into it, but numba only looks at the file that the
    function itself is in; so each state of the sources gets a folder of its own.
    """
    return cache_folder(f"numba-{digest}")


def compiler(digest: str) -> Callable[[Any], Any]:
    """What turns a function of sources with that hash into a compiled one. Imports numba."""
    os.environ["NUMBA_CACHE_DIR"] = str(folder(digest))
    os.environ.setdefault("NUMBA_OPT", "2")  # 3 compiles an eighth longer, for kernels no faster
    import numba

    numba.config.reload_config()
    # Kernels create no arrays, so there are no references to count: _nrt is numba's switch for it.
    options = {"error_model": "numpy", "nogil": True, "_nrt": False}
    return functools.partial(numba.njit, cache=True, **options)


def word() -> Any:
    """The type of a kernel's integers, which makes one of a number. Imports numba."""
    import numba

    return numba.int64

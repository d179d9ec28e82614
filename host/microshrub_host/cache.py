"""Where the host keeps what it can make again: streams, MicroPython, compiled kernels."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_folder(name: str) -> Path:
    """A folder of that name in the user's cache, made if need be, as an absolute path.

    The environment variable MICROSHRUB_CACHE moves the cache. Raises OSError if the folder cannot
    be made.
    """
    base = os.environ.get("MICROSHRUB_CACHE") or platformdirs.user_cache_dir("microshrub")
    path = Path(base).absolute() / name
    path.mkdir(parents=True, exist_ok=True)
    return path

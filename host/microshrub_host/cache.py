"""Where the host keeps what it can make again: streams, MicroPython, compiled kernels."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

_VARIABLE = "MICROSHRUB_CACHE"


def cache_folder(name: str) -> Path:
    """A folder of that name in the user's cache, made if need be, as an absolute path.

    The environment variable MICROSHRUB_CACHE moves the cache. Raises OSError if the folder cannot
    be made.
    """
    path = _base() / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def _base() -> Path:
    return Path(os.environ.get(_VARIABLE) or platformdirs.user_cache_dir("microshrub")).absolute()


@contextmanager
def usable(warn: Callable[[str], object]) -> Iterator[None]:
    """Within it the cache can be written; if need be it is elsewhere, which warn is told."""
    reason = _refusal()
    if not reason:
        yield
        return
    before = os.environ.get(_VARIABLE)
    with tempfile.TemporaryDirectory(prefix="microshrub-", ignore_cleanup_errors=True) as folder:
        warn(f"The cache {_base()} cannot be written ({reason}); a temporary folder has to do.")
        os.environ[_VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[_VARIABLE]
            if before is not None:
                os.environ[_VARIABLE] = before


def _refusal() -> str:
    try:
        with tempfile.TemporaryFile(dir=cache_folder("")):
            return ""
    except OSError as error:
        return error.strerror or str(error)

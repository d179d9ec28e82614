"""Where the host keeps what it can make again: streams, MicroPython, compiled kernels."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

_VARIABLE = "MICROSHRUB_CACHE"
_WORK = "fetch-"
_DAY = 86400  # seconds


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
def work_folder(folder: Path) -> Iterator[Path]:
    """A new folder in a folder of the cache, gone afterwards; Ctrl-C waits for its removal.

    What others left there that were killed more than a day ago goes, too.
    """
    for left in folder.glob(f"{_WORK}*"):
        if left.stat().st_mtime < time.time() - _DAY:
            shutil.rmtree(left, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=_WORK, dir=folder))
    try:
        yield work
    finally:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        shutil.rmtree(work, ignore_errors=True)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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

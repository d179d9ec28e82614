"""Locks between processes: on a file that one of them writes, or on work that one does for all.

They are the system's, so one that is killed leaves none behind.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .errors import UserError

if sys.platform != "win32":
    import fcntl

_PATIENCE = 60  # seconds; what is kept in the cache takes a few
_LONGEST = 0.05  # seconds between two looks


def lock(file: IO[bytes], name: object) -> None:
    """Keep other processes out until the file is closed; where no such locks exist, do nothing.

    Raises UserError, with the name that the user knows the file by, if another process is in.
    """
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{name}: another run is writing there") from None


@contextmanager
def alone(path: Path, patience: float = _PATIENCE) -> Iterator[None]:
    """Within it, no other process or thread is in an alone() of that file, which is made.

    For work that others would do once more, and that is right even so: it goes on without where
    no such locks exist, where the file cannot be made, and if one that was stopped, or hangs,
    stays in for longer than `patience`, in seconds.
    """
    with contextlib.ExitStack() as opened:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            _wait(opened.enter_context(path.open("ab")), patience)
        yield


def _wait(file: IO[bytes], patience: float) -> None:
    end, pause = time.monotonic() + patience, 0.001
    while not _taken(file) and time.monotonic() < end:
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST)


def _taken(file: IO[bytes]) -> bool:
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True

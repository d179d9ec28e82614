"""A lock on a file that one process writes, for as long as it has the file open."""

from __future__ import annotations

import sys
from typing import IO

from .errors import UserError

if sys.platform != "win32":
    import fcntl


def lock(file: IO[bytes], name: object) -> None:
    """Keep other processes out until the file is closed; where no such locks exist, do nothing.

    Raises UserError, with the name that the user knows the file by, if another process is in.
    """
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{name}: another run is writing there") from None

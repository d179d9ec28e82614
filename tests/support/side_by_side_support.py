"""Tasks that may be slow, be refused, crash or never end."""

from __future__ import annotations

import os
import signal
import time

from microshrub_host.base.errors import UserError
from microshrub_host.base.side_by_side import Progress


def odd(task: str, progress: Progress) -> tuple[str, int]:
    """Return the task and the process that did it."""
    progress(1, 2, task)
    if task == "slow":
        time.sleep(3)
    elif task == "refuse":
        raise UserError("no such stream")
    elif task == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif task == "ever":
        time.sleep(3600)
    return task, os.getpid()

"""Tasks for the tests of workers; they run in the worker processes."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.worker_process import Apart, Send, wait_for_any


def square(task: int) -> int:
    return task * task


def misbehave(shared: dict[str, str], task: str) -> str:
    """Misbehave in the way that the task names."""
    if task == "raise":
        raise ZeroDivisionError("it came to this")
    if task == "refuse":
        raise UserError("that is no model")
    if task == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if task == "start a process":
        apart = Apart(send_word, limit=60)
        wait_for_any([apart])
        word = str(apart.receive())
        apart.close()
        return word
    return shared["word"]


def send_word(send: Send) -> None:
    send("from a process of its own")


def linger(folder: Path, task: int) -> tuple[int, int]:
    """Mark the process and the task in a file, wait a while, return the two."""
    (folder / f"{task}-{os.getpid()}").touch()
    time.sleep(0.3)
    return task, os.getpid()


def kill_together(folder: Path, task: str) -> str:
    """Kill the process of the other task, which waits for three shots, and then this one.

    Neither waits for ever: one process may get both tasks, one after the other.
    """
    if task == "other":
        (folder / f"other-{os.getpid()}").touch()
        for _ in range(400):
            if len(list(folder.glob("shot-*"))) >= 3:
                break
            time.sleep(0.05)
        return "done"
    (folder / f"shot-{os.getpid()}").touch()
    for _ in range(100):
        if others := list(folder.glob("other-*")):
            others[0].unlink()
            with contextlib.suppress(ProcessLookupError):  # its worker may have ended already
                os.kill(int(others[0].name.split("-")[1]), signal.SIGKILL)
            break
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def wait_apart(folder: Path, task: int) -> str:
    """Wait for a process of its own, which never ends."""
    apart = Apart(wait_for_ever, folder, limit=3600)
    wait_for_any([apart])
    apart.close()
    return f"{task}: it ended"


def wait_for_ever(send: Send, folder: Path) -> None:
    """Create a file to show that the process has started, then sleep."""
    (folder / "apart").touch()
    time.sleep(3600)

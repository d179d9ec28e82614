"""Work in a separate process, which may crash or take too long without harm to others.

Ctrl-C is held back while a process starts and cannot report it yet.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.resource_tracker
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from . import child_process


class CtrlC:
    """A `with` block that can hold Ctrl-C back, and restores its handler at the end.

    A process that is just starting cannot be ended in order, and an interrupted import prints a
    traceback. So Ctrl-C is held back meanwhile, in two ways. The signal is blocked, and new
    processes inherit that until they ignore Ctrl-C. The signal is also noted, as numpy's threads
    do not block it. Meanwhile, SIGTERM ends this process at once; the new processes end when this
    process is gone.
    """

    def __init__(self) -> None:
        self._came = False
        self._main = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> CtrlC:
        self._before: Any = signal.getsignal(signal.SIGINT)
        self._ended: Any = signal.getsignal(signal.SIGTERM)
        self._holds = False
        return self

    def __exit__(self, *_: object) -> None:
        if self._main:
            signal.signal(signal.SIGINT, self._before)
            signal.signal(signal.SIGTERM, self._ended)
        self.release()

    def hold(self) -> None:
        """Hold Ctrl-C back until release() or the end of the block; it is not lost."""
        child_process.guard_multiprocessing()
        if not self._main:
            return
        if sys.platform != "win32":
            multiprocessing.resource_tracker.ensure_running()  # a later start would unblock Ctrl-C
        self._holds = True
        signal.signal(signal.SIGINT, self._note)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if sys.platform != "win32":
            self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

    def release(self) -> None:
        """Stop holding Ctrl-C back; deliver one that came meanwhile."""
        if not self._holds:
            return
        self._holds = False
        if sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        signal.signal(signal.SIGINT, self._before)
        signal.signal(signal.SIGTERM, self._ended)
        if self._came:
            signal.raise_signal(signal.SIGINT)

    def ignore(self) -> None:
        """Ignore Ctrl-C from now on."""
        if self._main:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _note(self, *_: object) -> None:
        self._came = True


_PATIENCE = 60.0  # seconds for a process to end after closing its pipe

Send = Callable[[object], None]
Work = Callable[..., None]  # called with Send and the arguments


class Ended(Exception):  # noqa: N818  (not an error: the work may be done)
    """The work sends nothing more; the message gives the reason unless the work is done."""


class TimeLimit(Ended):
    """The work did not end within its limit of `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"time limit of {seconds:g} s")
        self.seconds = seconds


class Apart:
    """`work(send, *arguments)` in a new process, until close().

    Work and arguments are pickled; the work is a module's function. Its output is written to a
    file, whose last line is the message if the work fails. limit is in seconds.
    """

    def __init__(self, work: Work, *arguments: object, limit: float) -> None:
        self._limit = limit
        context = multiprocessing.get_context("spawn")
        made = False
        try:
            with CtrlC() as ctrl_c:
                ctrl_c.hold()  # the process inherits that until _run
                handle, log = tempfile.mkstemp(prefix="microshrub-")
                os.close(handle)
                self._log = Path(log)
                self.pipe, theirs = context.Pipe(duplex=False)
                self._process = context.Process(
                    target=_run, args=(theirs, log, work, arguments), daemon=True
                )
                self._deadline = time.monotonic() + limit
                self._process.start()
                theirs.close()
                made = True
        except KeyboardInterrupt:  # before the process was made, or while it runs
            if made:
                self.close()
            raise

    def left(self) -> float:
        """Return the seconds until the limit, at least 0."""
        return max(0.0, self._deadline - time.monotonic())

    def receive(self) -> Any:
        """Return the next object that was sent, or None if there is no object yet.

        Raises Ended when the work has ended or crashed, TimeLimit at the limit.
        """
        try:
            if self.pipe.poll():
                return self.pipe.recv()
        except (EOFError, OSError):
            raise Ended(self._reason()) from None
        if not self.left():
            raise TimeLimit(self._limit)
        return None

    def _reason(self) -> str:
        self._process.join(_PATIENCE)
        code = self._process.exitcode
        if code == 0:
            return ""
        if code is not None and code < 0:
            return f"crashed: ended by {signal.Signals(-code).name}"
        log_text = self._log.read_text(encoding="utf-8", errors="replace").split("\n")
        lines = [line.strip() for line in log_text if line.strip()]
        return f"crashed: {lines[-1] if lines else f'exit code {code}'}"

    def close(self) -> None:
        """End the process if need be, and release its resources."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self.pipe.close()
        self._log.unlink(missing_ok=True)


def wait_for_any(works: list[Apart]) -> None:
    """Wait until one of the works has sent an object, has ended, or has reached its limit."""
    wait([work.pipe for work in works], timeout=min(work.left() for work in works))


def _run(pipe: Connection, log: str, work: Work, arguments: tuple[object, ...]) -> None:
    """Do the work in the new process, and ignore Ctrl-C, which is for the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with open(log, "ab", buffering=0) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    with contextlib.suppress(BrokenPipeError):  # the parent has closed the pipe
        work(pipe.send, *arguments)


def _end_with_parent() -> None:
    """End this process when its parent is gone, as no other process would."""
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)

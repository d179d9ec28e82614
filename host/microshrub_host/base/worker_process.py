"""Work in a process of its own, which may crash or take too long without harm to others.

Ctrl-C is held back while processes start, which must not be struck before they can say so.
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
    """What Ctrl-C does in this process: after the `with` it is what it was before.

    A process that is about to start cannot be ended in order, and what strikes its imports is a
    traceback. So Ctrl-C is held back meanwhile. It is blocked, which new processes inherit: they
    see none before they ignore it. And it is noted: threads of numpy do not block it. SIGTERM
    ends this process at once meanwhile; its new ones end when they see that it is gone.
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
        """Let nothing be struck until release() or the end; a Ctrl-C is not lost."""
        child_process.guard_multiprocessing()
        if not self._main:
            return
        if sys.platform != "win32":
            multiprocessing.resource_tracker.ensure_running()  # its start lets Ctrl-C through
        self._holds = True
        signal.signal(signal.SIGINT, self._note)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if sys.platform != "win32":
            self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

    def release(self) -> None:
        """Let Ctrl-C strike, also one that came meanwhile."""
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
        """From now on Ctrl-C does nothing."""
        if self._main:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _note(self, *_: object) -> None:
        self._came = True


_PATIENCE = 60.0  # seconds for a process that closed its pipe to be gone

Send = Callable[[object], None]
Work = Callable[..., None]  # called with Send and the arguments


class Ended(Exception):  # noqa: N818  (no error: the work may just be done)
    """The work sends nothing more; the message says why if it did not get to its end."""


class TimeLimit(Ended):
    """It ended, or was ended, after its limit of so many `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"time limit of {seconds:g} s")
        self.seconds = seconds


class Apart:
    """`work(send, *arguments)` in a fresh process, until close().

    Work and arguments are pickled, the work being a function of a module. What it prints goes to a
    file, of which the last line is told if the work fails. limit is in seconds.
    """

    def __init__(self, work: Work, *arguments: object, limit: float) -> None:
        self._limit = limit
        context = multiprocessing.get_context("spawn")
        made = False
        try:
            with CtrlC() as ctrl_c:
                ctrl_c.hold()  # the process inherits that, and is not struck before _run
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
        except KeyboardInterrupt:  # before anything was made, or once it runs
            if made:
                self.close()
            raise

    def left(self) -> float:
        """Seconds until the limit, at least 0."""
        return max(0.0, self._deadline - time.monotonic())

    def receive(self) -> Any:
        """The next object that was sent, or None if there is none yet.

        Raises Ended when the work is at its end or has crashed, TimeLimit at the limit.
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
        """End the process if need be, and let go of what it took."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self.pipe.close()
        self._log.unlink(missing_ok=True)


def wait_for_any(works: list[Apart]) -> None:
    """Wait until one of them has sent something or has ended, or has come to its limit."""
    wait([work.pipe for work in works], timeout=min(work.left() for work in works))


def _run(pipe: Connection, log: str, work: Work, arguments: tuple[object, ...]) -> None:
    """In the new process: do the work; Ctrl-C is for the process that waits for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with open(log, "ab", buffering=0) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    with contextlib.suppress(BrokenPipeError):  # nobody waits any more
        work(pipe.send, *arguments)


def _end_with_parent() -> None:
    """Nobody waits for this process any more, and nobody else would end it."""
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)

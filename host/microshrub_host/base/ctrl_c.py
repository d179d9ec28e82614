"""Ctrl-C held back while processes start, which must not be struck before they can say so."""

from __future__ import annotations

import multiprocessing.resource_tracker
import signal
import sys
import threading
from typing import Any


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

"""Ctrl-C as a request: a write in progress is finished first."""

from __future__ import annotations

import signal
import threading
from typing import Any


class Interrupts:
    """`with Interrupts() as ctrl_c: while not ctrl_c.came`; a second Ctrl-C interrupts."""

    def __init__(self) -> None:
        self.came = False

    def __enter__(self) -> Interrupts:
        self._before: Any = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, *_: object) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True

"""Reads pressed keys without Enter, while the program does other work."""

from __future__ import annotations

import os
import select
import sys
from typing import Any

from microshrub_host.base.errors import UserError

if sys.platform == "win32":
    import msvcrt
else:
    import termios
    import tty


class Keyboard:
    """Reads the standard input, a terminal or not; on Windows, the console."""

    def __init__(self) -> None:
        try:
            self._source = sys.stdin.fileno()
        except (AttributeError, OSError, ValueError):
            raise UserError("there is no standard input that keys could come from") from None
        self._open = True

    def __enter__(self) -> Keyboard:
        self._before: list[Any] | None = None
        if sys.platform != "win32" and os.isatty(self._source):
            self._before = termios.tcgetattr(self._source)
            tty.setcbreak(self._source)  # Ctrl-C stays Ctrl-C
        return self

    def __exit__(self, *_: object) -> None:
        if sys.platform != "win32" and self._before is not None:
            termios.tcsetattr(self._source, termios.TCSADRAIN, self._before)

    def pressed(self) -> str:
        """Return the keys since the last call, without waiting."""
        if sys.platform == "win32":
            result = ""
            while msvcrt.kbhit():
                result += msvcrt.getwch()
            return result
        if not self._open or not select.select([self._source], [], [], 0)[0]:
            return ""
        data = os.read(self._source, 1024)
        self._open = bool(data)
        return data.decode(errors="replace")

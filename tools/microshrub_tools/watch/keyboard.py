"""Keys as they are pressed, without Enter, while something else goes on."""

from __future__ import annotations

import os
import select
import sys

from microshrub_host.base.errors import UserError


class Keyboard:
    """Reads the standard input, a terminal or what else is there; not on Windows."""

    def __init__(self) -> None:
        try:
            import termios
            import tty
        except ImportError:
            raise UserError("keys can only be read on Linux and macOS") from None
        self._termios, self._tty = termios, tty
        try:
            self._source = sys.stdin.fileno()
        except (AttributeError, OSError, ValueError):
            raise UserError("there is no standard input that keys could come from") from None
        self._open = True

    def __enter__(self) -> Keyboard:
        self._before = None
        if os.isatty(self._source):
            self._before = self._termios.tcgetattr(self._source)
            self._tty.setcbreak(self._source)  # Ctrl-C stays Ctrl-C
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            self._termios.tcsetattr(self._source, self._termios.TCSADRAIN, self._before)

    def pressed(self) -> str:
        """The keys since the last call; waits for none."""
        if not self._open or not select.select([self._source], [], [], 0)[0]:
            return ""
        data = os.read(self._source, 1024)
        self._open = bool(data)
        return data.decode(errors="replace")

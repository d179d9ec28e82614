"""A pseudo-terminal that looks like a serial port; an error where Python has no pty."""

from __future__ import annotations

import os
import sys

from .errors import UserError

if sys.platform != "win32":
    import pty
    import termios
    import tty

    def pseudo_terminal() -> tuple[int, int, str]:
        """Open a raw pseudo-terminal; return both ends, and the name that opens the second one."""
        first, second = pty.openpty()
        tty.setraw(second)
        return first, second, os.ttyname(second)

    def never_wait(first: int) -> None:
        """Make a write to the first end take only the bytes that fit, or raise BlockingIOError."""
        os.set_blocking(first, False)

    def drop_unread(second: int) -> None:
        """Drop the bytes written to the first end and not yet read from the second one."""
        termios.tcflush(second, termios.TCIFLUSH)

else:

    def pseudo_terminal() -> tuple[int, int, str]:
        """Raise UserError, as Windows has no pseudo-terminal."""
        raise UserError("Windows has no pseudo-terminal: this needs Linux or macOS")

    def never_wait(first: int) -> None:
        """Do nothing, as Windows has no such end."""

    def drop_unread(second: int) -> None:
        """Do nothing, as Windows has no such end."""

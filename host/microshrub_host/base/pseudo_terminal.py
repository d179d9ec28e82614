"""A line that looks like a serial port to whoever opens it; where Python has no pty, an error."""

from __future__ import annotations

import os
import sys

from .errors import UserError

if sys.platform != "win32":
    import pty
    import tty

    def pseudo_terminal() -> tuple[int, int, str]:
        """Two ends, raw, and the name by which the second one is opened."""
        first, second = pty.openpty()
        tty.setraw(second)
        return first, second, os.ttyname(second)

else:

    def pseudo_terminal() -> tuple[int, int, str]:
        """Raises UserError."""
        raise UserError("Windows has no pseudo-terminal: this needs Linux or macOS")

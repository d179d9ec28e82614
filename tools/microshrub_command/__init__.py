"""The command `microshrub`, which Ctrl-C stops with one line from its first moment on.

All else is imported in main(): what is imported before it, only Python itself could stop.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys

_OBJECTS = 50_000  # made before Python looks for garbage: its 700 cost an eighth of a command
_codes: list[int] = []  # that of a command that has come to its end


def main() -> int:
    """Run the command line; returns the exit code."""
    atexit.register(_end)  # before all others, so it is called behind them
    gc.set_threshold(_OBJECTS)
    try:
        from microshrub_tools.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("microshrub: stopped\n")
        return 130
    _codes.append(run())
    return _codes[-1]


def _end() -> None:
    """End at once, without the destructors of C++: those of pyarrow's threads may abort.

    https://github.com/apache/arrow/issues/34314
    """
    if not _codes:
        return  # Python tells the exception
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(_codes[-1])

"""The command `microshrub`, which Ctrl-C stops with one line from the start.

All other modules are imported in main(): Python would report Ctrl-C during an earlier import.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys

_OBJECTS = 50_000  # made between garbage collections: Python's 700 cost an eighth of a command
_codes: list[int] = []  # the exit code of a finished command


def main() -> int:
    """Run the command line; return the exit code."""
    atexit.register(_end)  # registered first, so called last
    gc.set_threshold(_OBJECTS)
    try:
        from microshrub_tools.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("microshrub: stopped\n")
        return 130
    _codes.append(run())
    return _codes[-1]


def _end() -> None:
    """Exit at once, without C++ destructors, as those of pyarrow's threads may abort.

    https://github.com/apache/arrow/issues/34314
    """
    if not _codes:
        return  # Python reports the exception
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(_codes[-1])

"""The command `microshrub`, which Ctrl-C stops with one line from its first moment on.

All else is imported in main(): what is imported before it, only Python itself could stop.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; returns the exit code."""
    try:
        from microshrub_tools.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("microshrub: stopped\n")
        return 130
    return run()

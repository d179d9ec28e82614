"""The virtual board in tests, and its output after power-on."""

from __future__ import annotations

import subprocess
from pathlib import Path

from patience import PATIENCE

from microshrub_tools.board.pc_board import SCRIPTS
from microshrub_tools.board.pc_board import PcBoard as UnixBoard

__all__ = ["UnixBoard", "what_starts"]


def what_starts(command: tuple[str, ...], flash: Path) -> str:
    """Return the output of a board with this flash, from power-on until it waits for input."""
    done = subprocess.run(
        [*command, str(SCRIPTS / "repl.py"), str(flash), "boot"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.stdout.lstrip("\0")

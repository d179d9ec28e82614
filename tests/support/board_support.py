"""The virtual board, as tests call it, and what a board prints when it is switched on."""

from __future__ import annotations

import subprocess
from pathlib import Path

from patience import PATIENCE

from microshrub_tools.board.pc_board import SCRIPTS
from microshrub_tools.board.pc_board import PcBoard as UnixBoard

__all__ = ["UnixBoard", "what_starts"]


def what_starts(command: tuple[str, ...], flash: Path) -> str:
    """What a board with this flash prints when it is switched on, until it waits for input."""
    done = subprocess.run(
        [*command, str(SCRIPTS / "repl.py"), str(flash), "boot"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.stdout.lstrip("\0")

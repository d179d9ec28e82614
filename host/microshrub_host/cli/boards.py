"""`microshrub boards`: the boards that --board knows, and where their figures are from."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.table import Table

from ..base import files
from ..base.terminal import console, messages
from ..boards import board_files
from ..reports import board_page

_SHOWN = (0, 1, 2, 4, 6)  # columns of the page that a terminal has room for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--markdown",
        metavar="FILE.md",
        type=Path,
        help="also write the page docs/reference/boards.md",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the table and write the page."""
    if arguments.markdown is not None:
        files.check_target("--markdown", arguments.markdown)
    table = Table(*(board_page.HEAD[c].replace("`", "") for c in _SHOWN))
    boards = [board_files.load(name) for name in board_files.names()]
    for row in board_page.rows(boards):
        table.add_row(*(row[c].replace("`", "") for c in _SHOWN))
    console.print(table)
    if arguments.markdown is not None:
        text = board_page.page(f"microshrub boards --markdown {arguments.markdown}")
        files.replace(arguments.markdown, text.encode())
        messages.say(f"written to {arguments.markdown}")
    return 0

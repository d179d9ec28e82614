"""`microshrub boards`: the boards for --board, and the sources of their figures."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.table import Table

from ..base import files
from ..base.errors import UserError
from ..base.terminal import console, messages
from ..boards import board_files, energy
from ..reports import board_page
from ..reports.markdown import markdown_table
from .energy_options import add_energy_options, rate_of

_SHOWN = (0, 1, 2, 4, 6)  # columns of the page that fit a terminal
_ASLEEP_HEAD = (
    "asleep between samples", "uJ to predict", "to learn", "with the program", "mW", "days",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_energy_options(parser)
    parser.add_argument(
        "--markdown",
        metavar="FILE.md",
        type=Path,
        help="also write the page docs/reference/boards.md; with --battery, that table",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print a table, and write the table or its page."""
    if arguments.markdown is not None:
        files.check_target("--markdown", arguments.markdown)
    boards = [board_files.load(name) for name in board_files.names()]
    if arguments.battery is not None:
        battery = energy.battery(arguments.battery)
        result = board_page.battery_rows(boards, battery, rate_of(arguments))
        _print(_ASLEEP_HEAD, _by_board(result))
        text = markdown_table(board_page.BATTERY_HEAD, result) + "\n"
    elif arguments.sample_rate is not None:
        raise UserError("--sample-rate needs --battery.")
    else:
        cells = board_page.rows(boards)
        head, *result = [tuple(row[c] for c in _SHOWN) for row in (board_page.HEAD, *cells)]
        _print(head, result)
        text = board_page.page(f"microshrub boards --markdown {arguments.markdown}")
    if arguments.markdown is not None:
        files.replace(arguments.markdown, text.encode())
        messages.say(f"written to {arguments.markdown}")
    return 0


def _by_board(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Convert rows of BATTERY_HEAD to rows of _ASLEEP_HEAD, which fit 80 columns."""
    shown: list[tuple[str, ...]] = []
    known = ""
    for name, learner, predict, learn, sample, awake, asleep, days, days_asleep in rows:
        if name != known:
            shown.append((f"{name}, awake", "", "", "", awake, days))
        known = name
        shown.append((f"  {learner}", predict, learn, sample, asleep, days_asleep))
    return shown


def _print(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    table = Table(*(word.replace("`", "") for word in head))
    for row in rows:
        table.add_row(*(cell.replace("`", "") for cell in row))
    console.print(table)

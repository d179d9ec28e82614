"""`microshrub bench`: microseconds of predict and learn on a device, as a table for its board."""

from __future__ import annotations

import argparse
import datetime

from microshrub_host.base.terminal import messages
from microshrub_host.boards import board_files

from ..board.bench import measure, table
from ..board.ports import add_port_option, chosen_port
from ..link.serial_line import SerialLine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Measure microseconds per predict and per learn on the device, and print a table for "
        "boards/NAME.toml, so that simulate and budget can show the time per sample."
    )
    add_port_option(parser)
    parser.add_argument(
        "--board",
        metavar="NAME",
        help="warn if its clock rate differs from the board file's (default: off)",
    )
    parser.add_argument(
        "--mount",
        action="store_true",
        help="let the device import this PC's library (default: the one on the device)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the table."""
    board = board_files.load(arguments.board) if arguments.board else None
    port = chosen_port(arguments.port)
    SerialLine(port).close()  # raises our own error if the port cannot be used
    hertz, device, rows = measure(port, mount=arguments.mount)
    if board and hertz and hertz != board.clock_hz:
        messages.say(
            f"Note: the device runs at {hertz:,} Hz, {board.name}'s file says {board.clock_hz:,}."
        )
    today = datetime.date.today().isoformat()
    print(table(f"microshrub bench on {today}: {device}", rows), end="")
    if board:
        messages.say(f"Paste it into boards/{board.key}.toml, before [serial] or at the end.")
    return 0

"""`microshrub report`: measurements on a real board, as a text that its owner can send."""

from __future__ import annotations

import argparse
import datetime
import math
from pathlib import Path

from microshrub_host.base import files
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console, messages, showing
from microshrub_host.boards import board_files
from microshrub_host.boards.board_files import Board, CostRow
from microshrub_host.cli.plain_parser import show_first

from ..board import bench, flash
from ..board.board_repl import Device
from ..board.ports import add_port_option, chosen_port
from ..board.report_facts import Facts, board_of, facts_of
from ..watch import board_report

_SECONDS = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Measure a board, and print a report to send to microshrub: firmware, heap, self-test, "
        "a minute of serving, and times of models. It takes some minutes, in which the board's "
        "program is stopped; its files stay as they are, and it starts again at the end."
    )
    add_port_option(parser)
    parser.add_argument(
        "--board",
        metavar="NAME",
        help="the board, or the path of a .toml file (default: the one with this firmware)",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=_seconds,
        default=_SECONDS,
        help=f"how long it serves (default {_SECONDS:g})",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE.txt",
        type=Path,
        help="also write the report to a file (default: only print it)",
    )
    show_first(parser, "--port", "--board", "--seconds", "--output")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"has to be a number of at least 1, not {text!r}")
    return seconds


def run(arguments: argparse.Namespace) -> int:
    """Print the report."""
    if arguments.output is not None:
        files.check_target("--output", arguments.output)
    named = board_files.load(arguments.board) if arguments.board else None
    port = chosen_port(arguments.port)
    with Device(port, named.serial.baud if named else 115_200) as device:
        try:
            facts = facts_of(device)
            board = named or _known_board(facts)
            messages.say(f"{board.name}, {facts.firmware}")
            tried, served = _on_board(device, board, facts, arguments.seconds)
        except BaseException:
            device.close()
            bench.start_again(port)
            raise
    rows, notes = _times(port)
    today = datetime.date.today().isoformat()
    report = board_report.text(board, today, tried, served, rows, notes)
    console.say(report)
    if arguments.output is not None:
        files.replace(arguments.output, report.encode())
        messages.say(f"written to {arguments.output}")
    return 0


def _known_board(facts: Facts) -> Board:
    board = board_of(facts)
    if board is None:
        raise UserError(
            f"No board is known for the firmware {facts.build or facts.uname!r}: name it with "
            "--board. `microshrub boards` lists the boards."
        )
    return board


def _on_board(
    device: Device, board: Board, facts: Facts, seconds: float
) -> tuple[board_report.Tried, board_report.Served]:
    """Try the program out, stream samples to it, and remove it even after an error."""
    with board_report.TrialProgram(board, seconds) as program:
        try:
            with showing("copying", announce=True) as update:
                tried = board_report.try_out(device, facts, program, update)
            with showing("serving", announce=True) as update:
                served = board_report.serve(device, program, update)
        finally:
            device.regain()
            flash.leave_no_trace(device)
    return tried, served


def _times(port: str) -> tuple[list[CostRow], list[str]]:
    """Return the measurements of bench with this PC's library, or the reason for none."""
    try:
        return bench.measure(port, mount=True)[2], []
    except UserError as error:
        bench.start_again(port)
        return [], [f"not measured: {error}"]

"""`microshrub device`: a virtual board, for users without a real one."""

from __future__ import annotations

import argparse
import math
import signal
import sys
import tempfile
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console
from microshrub_host.cli.parsed import columns_read
from microshrub_host.cli.plain_parser import show_first
from microshrub_host.cli.stream_options import add_column_options

_HEAP = "1m"  # the PC's library is in separate modules, which take more RAM than on a board


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Run a virtual board until Ctrl-C: a real 32-bit MicroPython at a port, whose sensors "
        "play a recording. In the same folder, flash, record, stream and monitor find the board "
        "without --port. It needs Linux."
    )
    parser.add_argument(
        "program",
        metavar="PROGRAM",
        nargs="?",
        type=Path,
        help="a folder that `build` wrote, or a main.py of your own (default: an empty board)",
    )
    parser.add_argument(
        "--sensor",
        metavar="FILE.csv",
        type=Path,
        help="the recording that its sensors play; to analog pins, an MPU-6050, and the other "
        "sensors of `build --sensor` whose columns it has (default: no sensors)",
    )
    parser.add_argument(
        "--rate",
        metavar="HZ",
        type=_rate,
        default=100.0,
        help="rows of the recording a second, or 1/60 (default 100)",
    )
    parser.add_argument(
        "--speed",
        metavar="N",
        type=int,
        default=1,
        help="the clock's speed, a multiple of real time (default 1)",
    )
    add_column_options(parser)
    parser.add_argument(
        "--no-label", action="store_true", help="the last column is also a sensor's, not the label"
    )
    parser.add_argument(
        "--press",
        metavar="PIN=LABEL",
        nargs="+",
        type=_button,
        default=[],
        help="buttons, each pressed while the recording has that label (default: none)",
    )
    parser.add_argument(
        "--flash",
        metavar="FOLDER",
        type=Path,
        help="a folder to keep the board's files in (default: they are deleted at the end)",
    )
    show_first(parser, "--sensor", "--rate", "--press", "--speed", "--drop", "--no-label")


def _rate(text: str) -> float:
    one, _, seconds = text.partition("/")
    return float(one) / (float(seconds or 1) or math.nan)


def _button(text: str) -> tuple[int, str]:
    pin, _, label = text.partition("=")
    if not pin.isdecimal() or not label:
        raise argparse.ArgumentTypeError(f"has to be like 15=walk, not {text!r}")
    return int(pin), label


def run(arguments: argparse.Namespace) -> int:
    """Run the board until Ctrl-C."""
    if sys.platform == "win32" or not Path("/proc/self").exists():
        raise UserError(
            "a virtual board needs Linux, which has a 32-bit MicroPython. On other "
            "systems, `microshrub web` has one in the browser."
        )
    from microshrub_host.base.micropython_binary import find_or_fetch

    from ..board import simulated_board
    from ..board.pc_board import PcBoard

    if arguments.no_label and (arguments.label or arguments.classes):
        raise UserError("--no-label says that no column is the label: no --label, no --classes")
    if arguments.press and not arguments.sensor:
        raise UserError("--press needs --sensor, whose labels press the buttons")
    command = find_or_fetch().command
    with tempfile.TemporaryDirectory(prefix="microshrub-board-") as name:
        folder = Path(name)
        flash = arguments.flash or folder / "flash"
        flash.mkdir(parents=True, exist_ok=True)
        sensors = simulated_board.write_sensors(
            folder,
            arguments.sensor,
            arguments.rate,
            dict(arguments.press),
            speed=arguments.speed,
            labelled=not arguments.no_label,
            label=arguments.label,
            classes=arguments.classes,
            **columns_read(arguments),
        )
        if arguments.program:
            simulated_board.put_program(flash, arguments.program)
        board = PcBoard(command, flash, _HEAP, sensors=sensors)
        with board, simulated_board.announced(board.port):
            console.say(f"A virtual board is at {board.port}. Ctrl-C ends it.")
            while True:
                signal.pause()

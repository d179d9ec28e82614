"""`microshrub micropython`: a 32-bit MicroPython, found or fetched."""

from __future__ import annotations

import argparse

from ..base import micropython_binary
from ..base.errors import UserError
from ..base.terminal import messages
from ..boards import emulated_boards


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.set_defaults(temporary_cache=False)  # a fetch into a temporary cache would be useless
    parser.add_argument(
        "--find-only",
        action="store_true",
        help="do not fetch anything (default: fetch what is missing)",
    )
    parser.add_argument(
        "--newest",
        action="store_true",
        help="the newest version that Debian has, beside the usual one; to run it, name it "
        "in the environment variable MICROPYTHON (default: the version that all tests run)",
    )
    parser.add_argument(
        "--board",
        metavar="BOARD",
        choices=list(emulated_boards.BOARDS),
        help=f"{', '.join(emulated_boards.BOARDS)}: a MicroPython for this processor, emulated by "
        "QEMU (default: for this PC)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Find or fetch a MicroPython, and print its place."""
    if arguments.newest and (arguments.board or arguments.find_only):
        raise UserError("--newest is for this PC, and fetches what is missing")
    if arguments.board and arguments.find_only:
        print(emulated_boards.describe(emulated_boards.find(arguments.board)))
        return 0
    if arguments.board:
        emulator = emulated_boards.find_or_build(arguments.board, messages.say)
        print(emulated_boards.describe(emulator))
        return 0
    if arguments.newest:
        result = micropython_binary.fetch_newest(messages.say)
    elif arguments.find_only:
        result = micropython_binary.find()
    else:
        result = micropython_binary.find_or_fetch(messages.say)
    print(micropython_binary.describe(result))
    return 0

"""`microshrub share exchange`: boards teach each other missing classes, once or at intervals."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console, messages

from ..board import exchange
from ..board.exchange import Offered, Way
from ..link.lines import is_network
from ..watch.interrupts import Interrupts
from .share_broker import add_store, check_store, open_store
from .share_files import add_classes, check_known, chosen_classes

_LENGTHS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_NAMED = re.compile(r"([A-Za-z0-9_-]{1,32})=(.+)")
_LOOK = 0.5  # seconds between two checks for Ctrl-C


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Have boards teach each other: each gives samples of the classes that you name, and "
        "learns what it lacks of the others'. Each board's program is stopped meanwhile, and "
        "continues afterwards; it is stopped a second time only if there is something to learn. A "
        "board that does not answer is reported and skipped."
    )
    parser.add_argument(
        "--port",
        metavar="[NAME=]PORT",
        action="append",
        help="a board, once for each: a serial device, tcp://HOST[:PORT] of a board in the "
        "network, or socket://HOST:PORT; NAME is the board's name (default: the name given to "
        "`build --mqtt --name`)",
    )
    parser.add_argument(
        "--key",
        metavar="FILE",
        type=Path,
        action="append",
        help="the key of boards in the network: one for all, or one for each in the order of "
        "--port (default: the only one in build/)",
    )
    add_classes(parser, "a board")
    parser.add_argument(
        "--every",
        metavar="TIME",
        help="repeat the exchange after this time, such as 30m, 12h or 1d, until Ctrl-C (default: "
        "once)",
    )
    add_store(
        parser, "Also publish the boards' packets, and offer them the packets of other boards."
    )


def run(arguments: argparse.Namespace) -> int:
    """Exchange samples; without --every, return 1 if a board was skipped."""
    check_store(arguments)
    ways = _ways(arguments.port or [], arguments.key or [])
    if len(ways) < 2 - (arguments.mqtt is not None):
        raise UserError("give --port for each of two boards or more, or for one with --mqtt")
    if not arguments.classes:
        raise UserError("--classes is missing: nothing leaves a board that nobody chose")
    pause = None if arguments.every is None else _seconds(arguments.every)
    with Interrupts() as ctrl_c:
        while True:
            skipped = _round(arguments, ways)
            if pause is None:
                return int(skipped)
            end = time.monotonic() + pause
            if not ctrl_c.came:
                messages.say(f"The next exchange is in {arguments.every}; Ctrl-C ends this.")
            while time.monotonic() < end and not ctrl_c.came:
                time.sleep(_LOOK)
            if ctrl_c.came:
                return 0


def _round(arguments: argparse.Namespace, ways: Sequence[Way]) -> bool:
    """Do one exchange; return whether a board or the broker was left out."""
    wanted = () if arguments.classes == "all" else chosen_classes(arguments.classes)
    broker = arguments.mqtt is not None
    visited = exchange.visit(ways, wanted, messages.say, named=broker)
    if visited:
        check_known(wanted, [name for each in visited for name in each.sharer.classes])
    more, away = {}, False
    if broker:
        try:
            with open_store(arguments) as store:
                more = exchange.at_broker(store, visited, messages.say)
        except UserError as error:
            messages.say(f"{arguments.mqtt} is skipped: {error}")
            away = True
    lessons, gone = exchange.teach(visited, more, messages.say)
    if visited and len(visited) + len(more) > 1:
        _tell(lessons)
    else:
        console.say(
            "Nothing is exchanged: that takes a board that answers, and packets of another one."
        )
    return away or bool(gone) or len(visited) < len(ways)


def _tell(lessons: Sequence[Offered]) -> None:
    """Print the learned and the refused classes."""
    shown = [each for each in lessons if each.what not in exchange.SILENT]
    if not shown:
        console.say("No board lacks anything that another one has.")
        return
    table = Table("board", "class", "from", "samples", "learned", "")
    for each in shown:
        what = "" if each.what == "learned" else each.what
        table.add_row(
            each.receiver, each.name, each.sender, str(each.samples), str(each.learned), what
        )
    console.print(table)


def _ways(ports: Sequence[str], keys: Sequence[Path]) -> list[Way]:
    """Return how to reach the boards. Raises UserError."""
    pairs = [_pair(text) for text in ports]
    names = [name for name, _ in pairs if name]
    if len(set(names)) < len(names) or len({port for _, port in pairs}) < len(pairs):
        raise UserError("each --port has to be another board, with another name")
    far = [port for _, port in pairs if is_network(port)]
    if keys and len(keys) not in (1, len(far)):
        raise UserError(f"give one --key, or one for each of the {len(far)} boards in the network")
    each_key = dict(zip(far, keys, strict=True)) if len(keys) == len(far) else {}
    return [Way(port, each_key.get(port, keys[0] if keys else None), name) for name, port in pairs]


def _pair(text: str) -> tuple[str | None, str]:
    """Return the name and the port of [NAME=]PORT."""
    match = _NAMED.fullmatch(text)
    return (match[1], match[2]) if match else (None, text)


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+)([smhd])", text)
    if not match or int(match[1]) == 0:
        raise UserError(f"--every has to be like 30m, 12h or 1d, not {text!r}")
    return int(match[1]) * _LENGTHS[match[2]]

"""`microshrub dev house-load`: many simulated boards and one real MQTT broker."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from rich.table import Table

from microshrub_host.base import files
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console, messages, showing
from microshrub_host.cli.parsed import add_whole_numbers, check_at_least_one

from ..house_load import local_broker, report
from ..house_load.board_programs import DAY, Fleet
from ..house_load.example_parcels import example_parcels
from ..house_load.measured import HouseLoad, measure

_USUAL = {"boards": 1000, "minutes": 5, "speed": 10, "changes": 96}
_STEPS = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Start a mosquitto on this PC and many simulated boards that report to it, as programs of "
        "`build --mqtt` do. Print what a board sends in a day, and what the broker carries. Exit "
        "with 1 if a message was lost."
    )
    texts = {
        "boards": "how many boards there are",
        "minutes": "minutes of the boards' time that are counted",
        "speed": "how fast the boards' clocks run, a multiple of real time, if this PC keeps up",
        "changes": "how often a day the class that a board sees changes",
    }
    add_whole_numbers(parser, [(name, _USUAL[name], text) for name, text in texts.items()])
    parser.add_argument(
        "--markdown",
        metavar="FILE.md",
        type=Path,
        help="also write the page docs/explanation/ten-thousand-boards.md",
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure, and print it; 1 if a message was lost."""
    check_at_least_one(**{name: getattr(arguments, name) for name in _USUAL})
    if arguments.changes > DAY // 10:
        raise UserError(f"--changes has to be at most {DAY // 10:,}, not {arguments.changes:,}")
    if arguments.boards > 20_000:
        raise UserError(f"--boards has to be at most 20,000, not {arguments.boards:,}")
    if arguments.markdown is not None:
        files.check_target("--markdown", arguments.markdown)
    local_broker.version()  # before the work: raises UserError if there is none
    load = _measured(arguments)
    for head, rows in (
        (("a board and day", "count"), report.day_rows(load)),
        (report.CARRIED_HEAD, report.carried_rows(load)),
        (("mosquitto", "memory"), report.broker_rows(load)),
        (("parcels", "size"), report.parcel_rows(load)),
    ):
        table = Table(*head)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    if arguments.markdown is not None:
        files.replace(arguments.markdown, report.page(load, _command(arguments)).encode())
        messages.say(f"written to {arguments.markdown}")
    return int(load.carried.lost + load.flood.lost > 0)


def _measured(arguments: argparse.Namespace) -> HouseLoad:
    done = 0
    with tempfile.TemporaryDirectory() as name, showing("house-load") as update:

        def tell(text: str) -> None:
            nonlocal done
            update(done, _STEPS, text)
            done += 1

        folder = Path(name)
        tell("an example is learned")
        parcels = example_parcels(folder)
        fleet = Fleet(arguments.boards, tuple(parcels), arguments.changes)
        return measure(fleet, arguments.minutes, arguments.speed, parcels, folder, tell)


def _command(arguments: argparse.Namespace) -> str:
    words = ["microshrub dev house-load"]
    for name, usual in _USUAL.items():
        value = getattr(arguments, name)
        if value != usual:
            words.append(f"--{name} {value}")
    return " ".join([*words, f"--markdown {arguments.markdown}"])

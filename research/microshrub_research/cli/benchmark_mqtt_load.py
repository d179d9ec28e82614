"""`microshrub benchmark mqtt-load`: many simulated boards and one real MQTT broker."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from rich.table import Table

from microshrub_host.base import files
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console, messages, showing
from microshrub_host.cli.parsed import add_whole_numbers, check_at_least_one

from ..benchmarks import local_broker
from ..benchmarks import mqtt_load as loads
from ..benchmarks.mqtt_load import DAY, Fleet, MqttLoad, example_packets, measure

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
    """Measure and print the results; return 1 if a message was lost."""
    check_at_least_one(**{name: getattr(arguments, name) for name in _USUAL})
    if arguments.changes > DAY // 10:
        raise UserError(f"--changes has to be at most {DAY // 10:,}, not {arguments.changes:,}")
    if arguments.boards > 20_000:
        raise UserError(f"--boards has to be at most 20,000, not {arguments.boards:,}")
    if arguments.markdown is not None:
        files.check_target("--markdown", arguments.markdown)
    local_broker.version()  # before the work: raises UserError if there is no mosquitto
    load = _measured(arguments)
    for head, rows in (
        (("a board and day", "count"), loads.day_rows(load)),
        (loads.CARRIED_HEAD, loads.carried_rows(load)),
        (("mosquitto", "memory"), loads.broker_rows(load)),
        (("packets", "size"), loads.packet_rows(load)),
    ):
        table = Table(*head)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    if arguments.markdown is not None:
        files.replace(arguments.markdown, loads.page(load, _command(arguments)).encode())
        messages.say(f"written to {arguments.markdown}")
    return int(load.carried.lost + load.flood.lost > 0)


def _measured(arguments: argparse.Namespace) -> MqttLoad:
    done = 0
    with tempfile.TemporaryDirectory() as name, showing("mqtt-load") as update:

        def tell(text: str) -> None:
            nonlocal done
            update(done, _STEPS, text)
            done += 1

        folder = Path(name)
        tell("an example is learned")
        packets = example_packets(folder)
        fleet = Fleet(arguments.boards, tuple(packets), arguments.changes)
        return measure(fleet, arguments.minutes, arguments.speed, packets, folder, tell)


def _command(arguments: argparse.Namespace) -> str:
    words = ["microshrub benchmark mqtt-load"]
    for name, usual in _USUAL.items():
        value = getattr(arguments, name)
        if value != usual:
            words.append(f"--{name} {value}")
    return " ".join([*words, f"--markdown {arguments.markdown}"])

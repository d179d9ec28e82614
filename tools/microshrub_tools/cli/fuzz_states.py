"""`microshrub dev fuzz-states`: altered states with a right checksum are refused, or usable."""

from __future__ import annotations

import argparse

from microshrub_host.base.terminal import console, showing
from microshrub_host.cli.parsed import add_whole_numbers
from microshrub_host.library import loader
from microshrub_host.simulation import engines

from ..state_fuzz.altered_states import targets
from ..state_fuzz.fuzz import NATIVE, fuzz


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    rows = (
        ("states", 10_000, "states to alter"),
        ("seed", 1, "seed of the damage"),
    )
    add_whole_numbers(parser, rows)
    parser.add_argument(
        "--engine",
        choices=(*engines.NAMES, NATIVE),
        default="python",
        help="the engine that loads them; native is a MicroPython with machine code made of C, as "
        "`build` puts on boards (default python)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print how many states were refused; an error is raised."""
    count = len(targets(loader.load("python")))
    each = -(-arguments.states // count)
    refused = used = 0
    with showing("altered states", announce=True) as update:
        for number in range(count):
            result = fuzz(arguments.engine, number, arguments.seed, each)
            refused, used = refused + result[0], used + result[1]
            update(number + 1, count)
    console.say(
        f"{refused + used:,} altered states with a valid checksum: {refused:,} were refused, "
        f"{used:,} learned 30 samples. No crash, no traceback, no state taken over by half."
    )
    return 0

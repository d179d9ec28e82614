"""`microshrub simulate-year`: a device's life with power cuts, beside the simulator."""

from __future__ import annotations

import argparse
import gc

from microshrub_host.base.progress import showing
from microshrub_host.base.terminal import console
from microshrub_host.cli.parsed import whole_number

from ..state_fuzz.year import Year

_DAYS = 365


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Let the device's program learn for a year at a sample a minute, over its link, with late "
        "labels, drift, power cuts and full disks drawn from a seed. After every sample its state "
        "has to be that of a simulator on another engine, and after each restart the one that was "
        "saved; exit with an error that names the seed if it is not."
    )
    parser.add_argument(
        "--days", type=whole_number, default=_DAYS, metavar="N", help="(default 365)"
    )
    parser.add_argument(
        "--rate",
        type=whole_number,
        default=1,
        metavar="N",
        help="samples a minute; 3000 are 50 a second (default 1)",
    )
    parser.add_argument(
        "--seed", type=whole_number, default=1, metavar="N", help="seed of all (default 1)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Live it, and say what happened."""
    year = Year(arguments.seed, arguments.rate)
    gc.freeze()  # the device collects its own garbage now and then, and need not look at the PC's
    with showing("simulate-year", announce=True) as update:
        for day in range(arguments.days):
            year.day()
            update(day + 1, arguments.days)
    told = year.told
    console.say(
        f"{arguments.days:,} days, {told.samples:,} samples, {told.late:,} labels late, "
        f"{told.too_late:,} too late, {told.saved:,} checkpoints; {told.cuts:,} power cuts, "
        f"{told.torn:,} of them while a checkpoint was written, {told.full:,} saves to a full "
        "disk."
    )
    console.say(
        "After every sample the state was the simulator's, bit by bit, and after each restart "
        "the one that was saved."
    )
    return 0

"""`microshrub dev fuzz-link`: both ends of the serial link, with a line that damages data."""

from __future__ import annotations

import argparse

from microshrub_host.base.terminal import console, showing
from microshrub_host.cli.parsed import add_whole_numbers

from ..link_fuzz.fuzz import fuzz


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    rows = (
        ("frames", 1_000_000, "requests to apply"),
        ("seed", 1, "seed of the damage"),
        ("every", 400, "bytes between two faults, on average"),
    )
    add_whole_numbers(parser, rows)


def run(arguments: argparse.Namespace) -> int:
    """Print the counts; return 1 if anything was wrong."""
    with showing("fuzzing the link") as update:
        r = fuzz(arguments.frames, arguments.seed, max(arguments.every, 1), update)
    console.say(
        f"{r.frames:,} requests applied, {r.faults:,} faults on the line, {r.resent:,} sent "
        f"again; {r.programs:,} hellos, {r.pulled:,} pulled cables, {r.resets:,} resets, "
        f"{r.lost:,} programs that gave up."
    )
    console.say(
        f"{r.wrong:,} were wrong."
        if r.wrong
        else "Each was applied once and in order, none wrong."
    )
    return int(r.wrong > 0)

"""--battery and --sample-rate: the life of a battery, and the number of samples a second."""

from __future__ import annotations

import argparse
from dataclasses import replace

from ..base.errors import UserError
from ..base.terminal import messages
from ..boards import energy
from ..boards.board_files import Board
from ..boards.sample_time import SampleTime
from .parsed import parsed

MOST = 1000.0  # samples a second, as a sensor's rate


def add_energy_options(parser: argparse.ArgumentParser) -> None:
    """Add both options."""
    add_battery_option(parser)
    parser.add_argument(
        "--sample-rate",
        type=parsed(float),
        metavar="HZ",
        help="samples a second, for which milliwatts and days are estimated (default 1)",
    )


def add_battery_option(parser: argparse.ArgumentParser) -> None:
    """Add --battery."""
    parser.add_argument(
        "--battery",
        metavar="2000mAh",
        help="estimate how many days this battery lasts; 2000mAh are at 3.7 V, or 2000mAh@3.0V, "
        "7.4Wh (default: no battery)",
    )


def check_energy(arguments: argparse.Namespace) -> None:
    """Raise UserError for an invalid rate or battery, before anything is fetched."""
    rate_of(arguments)
    if arguments.battery is not None:
        energy.battery(arguments.battery)


def with_energy(
    arguments: argparse.Namespace, board: Board, time: SampleTime | None
) -> SampleTime | None:
    """Return the time of a sample with its energy, if the board's currents are known."""
    rate = rate_of(arguments)
    battery = battery_of(arguments, board, time)
    if time is not None and (note := time.note_on(rate, "--sample-rate")):
        messages.say(note)
    if time is None or board.currents is None:
        return time
    us = (time.predict[0], time.learn[0], time.asleep_us())
    looks, words = {}, ""
    if window := time.window:
        looks = {"looks": rate * window.readings, "look_us": window.reading_us}
        words = "its features and "
    result = energy.estimate(board.currents, *us, rate, battery, **looks)
    return replace(time, energy=replace(result, words=words))


def rate_of(arguments: argparse.Namespace) -> float:
    """Return the value of --sample-rate, by default 1. Raises UserError if it is out of range."""
    rate = 1.0 if arguments.sample_rate is None else float(arguments.sample_rate)
    if not 0 < rate <= MOST:
        raise UserError(f"--sample-rate has to be above 0, at most {MOST:g}, not {rate:g}")
    return rate


def battery_of(
    arguments: argparse.Namespace, board: Board, time: SampleTime | None
) -> energy.Battery | None:
    """Return the battery of --battery; print a note if its life is unknown. Raises UserError."""
    if arguments.battery is None:
        return None
    result = energy.battery(arguments.battery)
    if board.currents is None:
        messages.say(f"Note: nothing is known of what {board.name} draws, so not of --battery.")
    elif time is None:
        days = energy.amount(result.days(board.currents.volts * board.currents.awake_ma))
        messages.say(
            f"Note: it is not known how long a sample takes on {board.name}. Always awake, it "
            f"runs for {days} days on {result.text}, an estimate from {board.currents}."
        )
    return result

"""`microshrub dev simulate-year`: a device's year with power cuts, compared with the simulator."""

from __future__ import annotations

import argparse

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console, showing
from microshrub_host.boards import board_files, energy
from microshrub_host.boards.board_files import Board
from microshrub_host.cli.energy_options import add_battery_option
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.cli.plain_parser import show_first
from microshrub_host.cli.stream_options import DEFAULT_BOARD, add_board_option

from ..board import program_words
from ..state_fuzz.year import Lost, Year
from ..state_fuzz.year_sleep import YearSleep

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
        "--days", type=whole_number, default=_DAYS, metavar="N", help="how many days (default 365)"
    )
    parser.add_argument(
        "--rate",
        type=whole_number,
        default=1,
        metavar="N",
        help="samples a minute; 3000 are 50 a second (default 1)",
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        default=1,
        metavar="N",
        help="seed of all that happens (default 1)",
    )
    parser.add_argument(
        "--sleep",
        nargs="*",
        metavar="SETTING",
        help="sleep between samples, as with `build --sleep`; takes its settings, and "
        "the time awake is counted (default: it does not sleep)",
    )
    add_board_option(parser, None, f"the board that sleeps (default {DEFAULT_BOARD})")
    add_battery_option(parser)
    show_first(parser, "--days", "--rate", "--seed", "--sleep", "--board", "--battery")


def run(arguments: argparse.Namespace) -> int:
    """Simulate the days, and print the counts."""
    check_at_least_one(days=arguments.days, rate=arguments.rate)
    sleeping = _sleeping(arguments)
    battery = energy.battery(arguments.battery) if arguments.battery else None
    year = Year(arguments.seed, arguments.rate, sleeping)
    with showing("simulate-year", announce=True) as update:
        for day in range(arguments.days):
            year.day()
            update(day + 1, arguments.days)
    report = year.report
    console.say(
        f"{arguments.days:,} days, {report.samples:,} samples, {report.late:,} labels late, "
        f"{report.too_late:,} too late, {report.saved:,} checkpoints; {report.cuts:,} power cuts, "
        f"{report.torn:,} of them while a checkpoint was written, {report.full:,} saves to a full "
        "disk."
    )
    console.say("Labels that the power cuts lost, by what kept them from flash:")
    _tell_lost("what is saved within seconds", report.soon)
    _tell_lost("the allowance of saves was used up", report.sparing)
    _tell_lost("the disk was full", report.failed)
    console.say(
        "After every sample the state was the simulator's, bit by bit, and after each restart "
        "the one that was saved."
    )
    if year.sleep and sleeping:
        _tell_sleep(year.sleep, sleeping, battery)
    return 0


def _tell_lost(why: str, lost: Lost) -> None:
    console.say(
        f"  {why:<35} {lost.labels:9,}, at most {lost.most:,} in one cut, the oldest "
        f"{lost.oldest:,.0f} seconds before it"
    )


def _sleeping(arguments: argparse.Namespace) -> tuple[Board, dict[str, int]] | None:
    """Return the board that sleeps and the settings of its sleep. Raises UserError."""
    asked = program_words.sleep(arguments.sleep)
    if asked is None:
        if arguments.battery or arguments.board:
            raise UserError("--battery and --board are of a board that sleeps: add --sleep")
        return None
    board = board_files.load(arguments.board or DEFAULT_BOARD)
    if board.currents is None:
        raise UserError(f"nothing is known of what {board.name} draws")
    result = asked.config(board)
    if "pin" in result:
        raise UserError("--sleep pin: nobody presses a button here")
    if "deep" in result:
        raise UserError("--sleep deep: the board of the simulated year keeps its RAM")
    if 60 % arguments.rate:
        raise UserError(
            f"--rate {arguments.rate} is not a whole number of seconds from sample to sample, "
            "which --sleep wants: 1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30 or 60 a minute"
        )
    return board, result


def _tell_sleep(
    sleep: YearSleep, sleeping: tuple[Board, dict[str, int]], battery: energy.Battery | None
) -> None:
    """Print how long the board was awake, and its power: counted, and as `build` estimates it."""
    board, options = sleeping
    assert board.currents
    awake = sleep.seconds - sleep.asleep
    console.say(
        f"{board.name}: awake for {awake / 3600:,.2f} of {sleep.seconds / 3600:,.2f} hours "
        f"({100 * awake / sleep.seconds:.2f} %), of which {sleep.visited:,.0f} seconds for a PC "
        f"and {sleep.flash:,.0f} for checkpoints; the program counted "
        f"{sleep.counted_asleep:,} seconds asleep, the clock {sleep.asleep:,.0f}."
    )
    rate = sleep.samples / sleep.seconds
    listening = options["window"] / options["every"]
    guess = energy.estimate(board.currents, 0, 0, sleep.sample_us, rate, battery, listening)
    counted = energy.mean_power(board.currents, awake / sleep.seconds)
    assert guess.asleep
    console.say(
        f"That is {energy.amount(counted)} mW in the mean; `build --sleep` estimates "
        f"{energy.amount(guess.asleep)}, without starts, visits and checkpoints: both by "
        f"{board.currents}."
    )
    if battery:
        days = energy.amount(battery.days(counted))
        console.say(f"{battery.text} would last for {days} days, an estimate.")

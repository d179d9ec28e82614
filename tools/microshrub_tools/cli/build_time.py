"""The report of `build` on a sample's time and energy, and on battery life."""

from __future__ import annotations

import argparse
import dataclasses

from microshrub_host.base.terminal import console, messages
from microshrub_host.boards import board_files, counted_times, energy, sample_time
from microshrub_host.boards.program import Program
from microshrub_host.cli.energy_options import battery_of
from microshrub_host.library.learners import MODELS
from microshrub_host.simulation import companion_registry

from ..board import build, program_options, program_readings

_RARE = 1.0  # samples a second, so few that the learner takes little compared with the program


def print_time(
    made: build.Build, board: board_files.Board, program: Program, arguments: argparse.Namespace
) -> None:
    """Print the time of a sample, and a note if it is too long for the sensor's rate, if known."""
    names = {learner: model for model, learner in MODELS.items()}
    has_sensor = program.config["sensor"]["kind"] != "serial"
    readings = program_readings.of(program, board)
    result = None
    if program.learner in names and made.emit != "bytecode":
        model = names[program.learner]
        result = sample_time.sample_time(board, model, program.parameters, made.emit)
    result = result and result.with_kernels(made.budget.kernels)
    battery = battery_of(arguments, board, result)
    if made.emit == "bytecode":  # bytecode's instructions were not counted
        return
    features = program.parameters["features"]
    program_us = readings.more_us + counted_times.outside_learner_us(
        board, features, made.emit, sensor=has_sensor, saves=bool(program.config["checkpoint"])
    )
    line_us = counted_times.line_us(board, features) if program.config["text"] else 0.0
    if not result:
        total_us = program_us + line_us
        console.say(f"time    {total_us / 1000:>9,.1f} ms a sample beside the learner, about")
        _print_energy(board, program, (0.0, 0.0, program_us), battery, known=False)
        return
    result = dataclasses.replace(
        result, sensor=program_us, link=program_us + line_us, line=line_us
    )
    median, most = (us / 1000 for us in result.served(has_sensor))
    but = _left_out(arguments)
    console.say(
        f"time    {median:>9,.1f} ms a labelled sample with {readings.words}the program around "
        f"it{but}, p99 {most:,.1f}: estimated, {1000 / median:,.0f} a second"
    )
    wanted = program_options.rate_of(program.config)
    if wanted:
        note = result.note_on(wanted, "the rate of --sensor", has_sensor)
        if note:
            messages.say(note)
    us = (result.predict[0], result.learn[0], result.asleep_us())
    _print_energy(board, program, us, battery)


def _left_out(arguments: argparse.Namespace) -> str:
    """Return words for the time of companions, which the figures leave out."""
    companions = companion_registry.of_options(vars(arguments), 1.0)
    names = [each.cost for each in companions if each.cost]
    return f", without {' and '.join(names)}" if names else ""


def _print_energy(
    board: board_files.Board,
    program: Program,
    us: tuple[float, float, float],
    battery: energy.Battery | None,
    known: bool = True,
) -> None:
    """Print the energy of a sample, and how long a battery lasts, if known.

    us are microseconds of a predict, of a learn and of a sample with the program. If the learner's
    times are not known, the figures of a program that sleeps are lower bounds.
    """
    sleep = program.config.get("sleep")
    readings = program_readings.of(program, board)
    if sleep and not energy.sleeps(readings.looks, readings.look_us or us[2]):
        messages.say(
            f"Note: --sleep never sleeps here: the board wakes {readings.looks:g} times a second, "
            f"and sleeps only where there are {energy.LEAST_US // 1000} ms or more to the next "
            "time. Lower the rate of --sensor."
        )
    rate = program_options.rate_of(program.config) or 1.0
    if board.currents is None or not (known or (sleep and rate <= _RARE)):
        return
    listening = sleep["window"] / sleep["every"] if sleep else 0.0
    looks = (readings.looks, readings.look_us) if readings.look_us else ()
    result = energy.estimate(board.currents, *us, rate, battery, listening, *looks)
    if not known:
        _print_asleep(result, battery)
        return
    power = result.between(result.awake, result.asleep)
    console.say(
        f"energy  {energy.amount(result.sample):>9} microjoules a labelled sample; milliwatts at "
        f"{result.rate:.3g} a second: {power}: estimated from {board.currents}"
    )
    if battery:
        asleep = result.asleep and battery.days(result.asleep)
        days = result.between(battery.days(result.awake), asleep)
        console.say(f"        days on {battery.text}: {days}: estimated")


def _print_asleep(estimate: energy.Energy, battery: energy.Battery | None) -> None:
    """Print the least power of a program that sleeps, if the learner's part is not known."""
    assert estimate.asleep is not None  # `build` refuses --sleep otherwise
    days = battery and energy.amount(battery.days(estimate.asleep))
    lasts = f", {days} days on {battery.text}" if battery else ""
    console.say(
        f"energy  at {estimate.rate:.3g} a second {energy.amount(estimate.asleep)} mW asleep "
        f"between samples{lasts}, without what the learner takes: estimated from "
        f"{estimate.currents}"
    )

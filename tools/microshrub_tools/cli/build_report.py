"""What `build` says of the program that it has made: flash, RAM, time and energy."""

from __future__ import annotations

import argparse
import dataclasses

from microshrub_host.base.terminal import console, messages
from microshrub_host.base.text import count
from microshrub_host.boards import board_files, energy, program_time, sample_time
from microshrub_host.boards.program import Program
from microshrub_host.cli.energy_options import battery_of
from microshrub_host.library.learners import MODELS
from microshrub_host.reports.report import fitting, mixed

from ..board import build, flash_wear, program_deep_sleep, program_options, program_readings


def print_build(
    made: build.Build, board: board_files.Board, program: Program, arguments: argparse.Namespace
) -> None:
    """What it takes of the board, how long a sample takes, and what comes next."""
    learned = "with what it has learned" if program.learner_state else "fresh"
    console.say(f"{program.learner} ({learned}) for {board.name}, in {made.folder}")
    console.say(f"flash   {made.flash_bytes:>9,} bytes in {count(len(made.files), 'file')}")
    console.say(
        f"        {made.file_system_bytes:>9,} bytes that they take in its file system, about"
    )
    _print_wear(made, board, program)
    console.say(f"RAM     {made.code_bytes:>9,} bytes for the imported code")
    if board.native and not made.budget.machine_code_bytes:
        machine_code, names = sum(module.native for module in made.heap.modules), made.heap.names
        console.say(f"        of which {machine_code:,} are machine code, and {names:,} names")
    model = made.budget.ram_bytes - made.code_bytes
    console.say(f"        {model:>9,} bytes for the model and what it needs")
    if made.budget.machine_code_bytes:
        code = made.budget.machine_code_bytes
        console.say(f"        {code:>9,} bytes for machine code, in executable RAM")
    if made.budget.kernels.plain:
        messages.say(mixed(made.budget))
    _print_network(program, arguments)
    _print_reach(program)
    console.say(fitting(made.budget))
    if made.emit == "viper":
        _print_time(made, board, program, arguments)
    _print_deep_sleep(board, program, arguments)
    if build.MANIFEST in made.files:
        console.say(
            f"Next, build MicroPython for {board.name} with\n"
            f"    FROZEN_MANIFEST={(made.folder / build.MANIFEST).resolve()}\n"
            "and install it on the board; then `microshrub flash` copies the rest."
        )


def _print_network(program: Program, arguments: argparse.Namespace) -> None:
    """A note where nothing says which network the board is in."""
    around = program.around
    needed = "mqtt" in around or "tcp" in around or around.get("packets", {}).get("by") == "udp"
    if needed and arguments.wifi is None:
        messages.say(
            "Note: without --wifi, the program joins no network: the board has to be in one by "
            "itself."
        )


def _print_reach(program: Program) -> None:
    """A note where a board that sleeps can be reached only by starting it anew."""
    sleep = program.around.get("sleep")
    if sleep and not sleep["window"] and "pin" not in sleep:
        messages.say(
            f"Note: with --sleep window=0 and no button, a PC reaches the board only within "
            f"{count(sleep['hold'], 'second')} of its start, and starting it anew loses what it "
            "learned since its last checkpoint. pin=15 names a button."
        )


def _print_time(
    made: build.Build, board: board_files.Board, program: Program, arguments: argparse.Namespace
) -> None:
    """How long a sample takes, and whether the sensor's rate can be kept, if that is known."""
    names = {kind: name for name, kind in MODELS.items()}
    if program.learner not in names:
        return
    own = program.around["sensor"]["kind"] != "serial"
    readings = program_readings.of(program, board)
    found = sample_time.sample_time(board, names[program.learner], program.parameters)
    found = found and found.with_kernels(made.budget.kernels)
    battery = battery_of(arguments, board, found)
    around = program_time.around_us(board, program.parameters["features"], own) + readings.more_us
    if not found:
        console.say(f"time    {around / 1000:>9,.1f} ms a sample beside the learner, about")
        _print_energy(board, program, (0.0, 0.0, around), battery, known=False)
        return
    found = dataclasses.replace(found, sensor=around) if own else found
    median, most = (us / 1000 for us in found.served(own))
    console.say(
        f"time    {median:>9,.1f} ms a labelled sample with {readings.words}the program around "
        f"it, p99 {most:,.1f}: estimated, {1000 / median:,.0f} a second"
    )
    wanted = program_options.rate_of(program.around)
    if wanted and (note := found.note_on(wanted, "the rate of --sensor", own)):
        messages.say(note)
    us = (found.predict[0], found.learn[0], found.served(own)[0])
    _print_energy(board, program, us, battery)


def _print_energy(
    board: board_files.Board,
    program: Program,
    us: tuple[float, float, float],
    battery: energy.Battery | None,
    known: bool = True,
) -> None:
    """What a sample takes in energy, and for how long a battery lasts, if that is known.

    us are microseconds of a predict, of a learn and of a sample with the program around it. Where
    those of the learner are not known, a program that sleeps takes that much, and more.
    """
    sleep = program.around.get("sleep")
    readings = program_readings.of(program, board)
    if sleep and not energy.sleeps(readings.looks, readings.look_us or us[2]):
        messages.say(
            f"Note: --sleep never sleeps here: the board wakes {readings.looks:g} times a second, "
            f"and sleeps only where there are {energy.LEAST_US // 1000} ms or more to the next "
            "time. Lower the rate of --sensor."
        )
    if board.currents is None or not (known or sleep):
        return
    rate = program_options.rate_of(program.around) or 1.0
    listening = sleep["window"] / sleep["every"] if sleep else 0.0
    looks = (readings.looks, readings.look_us) if readings.look_us else ()
    found = energy.estimate(board.currents, *us, rate, battery, listening, *looks)
    if not known:
        _print_asleep(found, battery)
        return
    power = found.between(found.awake, found.asleep)
    console.say(
        f"energy  {energy.amount(found.sample):>9} microjoules a labelled sample; milliwatts at "
        f"{found.rate:.3g} a second: {power}: estimated from {board.currents}"
    )
    if battery:
        asleep = found.asleep and battery.days(found.asleep)
        days = found.between(battery.days(found.awake), asleep)
        console.say(f"        days on {battery.text}: {days}: estimated")


def _print_asleep(found: energy.Energy, battery: energy.Battery | None) -> None:
    """What a program that sleeps takes at least, where the learner's part is not known."""
    assert found.asleep is not None  # `build` refuses --sleep otherwise
    days = battery and energy.amount(battery.days(found.asleep))
    lasts = f", {days} days on {battery.text}" if battery else ""
    console.say(
        f"energy  at {found.rate:.3g} a second {energy.amount(found.asleep)} mW asleep between "
        f"samples{lasts}, without what the learner takes: estimated from {found.currents}"
    )


def _print_deep_sleep(
    board: board_files.Board, program: Program, arguments: argparse.Namespace
) -> None:
    """For a program that sleeps, where that is known: whether deep sleep takes less."""
    rate = program_options.rate_of(program.around)
    found = program_deep_sleep.trade(program, board) if "sleep" in program.around else None
    if found is None or not rate:
        return
    console.say(f"sleep   {found}")
    if 1 / rate <= found.seconds:
        return
    size = program_deep_sleep.state_bytes(program, board)
    lasts = flash_wear.years(board, size, int(1 / rate))
    power = found.milliwatts(1 / rate)
    said = (
        f"{energy.amount(power)} mW at one sample in {1 / rate:,.0f} seconds, and the checkpoint "
        f"before each one lets the flash last {_some_years(lasts)}"
    )
    if "deep" not in program.around["sleep"]:
        messages.say(
            f"Note: deep sleep would draw {said}. With --sleep deep=yes the board starts anew for "
            "each sample; a PC reaches it only then."
        )
        return
    console.say(f"        in deep sleep {said}: estimated")
    if arguments.battery:
        battery = energy.battery(arguments.battery)
        console.say(f"        days on {battery.text}: {battery.days(power):,.0f}: estimated")


def _print_wear(made: build.Build, board: board_files.Board, program: Program) -> None:
    """What checkpoints take of the flash, and for how long it bears that."""
    checkpoint = program.around["checkpoint"]
    if checkpoint:
        size = sum(part.bytes for part in made.budget.buffers)
        deep = "deep" in program.around.get("sleep", ())  # then each sample has a checkpoint
        rate = program_options.rate_of(program.around)
        seconds = int(1 / rate) if deep and rate else checkpoint["seconds"]
        lasts = flash_wear.years(board, size, seconds)
        console.say(
            f"        {2 * size:>9,} bytes for two checkpoints, about; with a checkpoint every "
            f"{seconds:,} seconds, the flash lasts {_some_years(lasts)}"
        )
        if lasts < flash_wear.YEARS:
            seconds = flash_wear.lasting(board, size)
            messages.say(
                f"Note: --checkpoint-seconds {seconds} lets it last {flash_wear.YEARS:g} years."
            )


def _some_years(years: float) -> str:
    return f"{years:,.0f} years" if years >= 2 else f"{years:.1f} years"

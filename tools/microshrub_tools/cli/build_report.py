"""The report of `build` on its program: flash, RAM, network and deep sleep."""

from __future__ import annotations

import argparse

from microshrub_host.base.terminal import console, messages
from microshrub_host.base.text import count
from microshrub_host.boards import board_files, energy
from microshrub_host.boards.emits import chosen
from microshrub_host.boards.program import Program, added, as_simulated
from microshrub_host.boards.program_budget import budget_of
from microshrub_host.boards.program_budget import fitting as fitting_library
from microshrub_host.boards.program_library import ProgramLibrary
from microshrub_host.reports.result_tables import fitting, in_rom, mixed

from ..board import build, flash_memory, program_deep_sleep, program_options
from .build_time import print_time


def print_build(
    made: build.Build, board: board_files.Board, program: Program, arguments: argparse.Namespace
) -> None:
    """Print the flash and RAM of a build, the time of a sample, and the next step."""
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
    if made.budget.less_in_rom:
        console.say(f"        {in_rom(made.budget)}")
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
    _print_more(made, board, program)
    print_time(made, board, program, arguments)
    _print_deep_sleep(board, program, arguments)
    if build.MANIFEST in made.files:
        console.say(
            f"Next, build MicroPython for {board.name} with\n"
            f"    FROZEN_MANIFEST={(made.folder / build.MANIFEST).resolve()}\n"
            "and install it on the board; then `microshrub flash` copies the rest."
        )


def _print_more(made: build.Build, board: board_files.Board, program: Program) -> None:
    """Print how many bytes less `simulate` counts for its saved model, and why."""
    if not program.learner_state or made.emit != chosen(board) or build.MANIFEST in made.files:
        return
    library = ProgramLibrary(as_simulated(program), board, made.emit)
    more = made.budget.ram_bytes - budget_of(fitting_library(library)).ram_bytes
    options = ", ".join(added(program)) or "the states of the saved model"
    if more:
        less = "less" if more > 0 else "more"
        console.say(
            f"`simulate` counts {abs(more):,} bytes {less}: it knows nothing of {options}."
        )


def _print_network(program: Program, arguments: argparse.Namespace) -> None:
    """Print a note if no option states the board's network."""
    config = program.config
    needed = "mqtt" in config or "tcp" in config or config.get("datagrams", {}).get("by") == "udp"
    if needed and arguments.wifi is None:
        messages.say(
            "Note: without --wifi, the program joins no network: the board has to be in one by "
            "itself."
        )


def _print_reach(program: Program) -> None:
    """Print a note if a board that sleeps can be reached only after a restart."""
    sleep = program.config.get("sleep")
    if sleep and not sleep["window"] and "pin" not in sleep:
        messages.say(
            f"Note: with --sleep window=0 and no button, a PC reaches the board only within "
            f"{count(sleep['hold'], 'second')} of its start, and starting it anew loses what it "
            "learned since its last checkpoint. pin=15 names a button."
        )


def _print_deep_sleep(
    board: board_files.Board, program: Program, arguments: argparse.Namespace
) -> None:
    """Print whether deep sleep takes less for a program that sleeps, if known."""
    rate = program_options.rate_of(program.config)
    result = program_deep_sleep.trade(program, board) if "sleep" in program.config else None
    if result is None or not rate:
        return
    console.say(f"sleep   {result}")
    if 1 / rate <= result.seconds:
        return
    size = program_deep_sleep.state_bytes(program, board)
    lasts = flash_memory.years(board, size, int(1 / rate))
    power = result.milliwatts(1 / rate)
    message = (
        f"{energy.amount(power)} mW at one sample in {1 / rate:,.0f} seconds, and the checkpoint "
        f"before each one lets the flash last {_some_years(lasts)}"
    )
    if "deep" not in program.config["sleep"]:
        messages.say(
            f"Note: deep sleep would draw {message}. With --sleep deep=yes the board restarts for "
            "each sample; a PC reaches it only then."
        )
        return
    console.say(f"        in deep sleep {message}: estimated")
    if arguments.battery:
        battery = energy.battery(arguments.battery)
        console.say(f"        days on {battery.text}: {battery.days(power):,.0f}: estimated")


def _print_wear(made: build.Build, board: board_files.Board, program: Program) -> None:
    """Print the flash that checkpoints take, and how long the flash lasts."""
    checkpoint = program.config["checkpoint"]
    if checkpoint:
        size = sum(part.bytes for part in made.budget.buffers)
        deep = "deep" in program.config.get("sleep", ())  # then each sample has a checkpoint
        rate = program_options.rate_of(program.config)
        seconds = int(1 / rate) if deep and rate else checkpoint["seconds"]
        lasts = flash_memory.years(board, size, seconds)
        pause, longest = flash_memory.saved_within(size)
        often = f"Labels that never end are saved every {seconds:,} seconds, and"
        if deep and rate:
            often = f"With a save every {seconds:,} seconds, before each deep sleep,"
        console.say(
            f"        {2 * size:>9,} bytes for two checkpoints, about. What is taught is in flash "
            f"within {pause} seconds, or {longest} where labels go on. {often} the flash lasts "
            f"{_some_years(lasts)}"
        )
        if lasts < flash_memory.YEARS:
            seconds = flash_memory.lasting(board, size)
            messages.say(
                f"Note: --checkpoint-seconds {seconds} lets it last {flash_memory.YEARS:g} years."
            )


def _some_years(years: float) -> str:
    return f"{years:,.0f} years" if years >= 2 else f"{years:.1f} years"

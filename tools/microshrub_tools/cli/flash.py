"""`microshrub flash`: copies a build to the board, compares every file and runs a self-test."""

from __future__ import annotations

import argparse
from pathlib import Path

from microshrub_host.base.child_process import patience
from microshrub_host.base.terminal import console, messages, showing
from microshrub_host.base.text import count
from microshrub_host.boards import board_files
from microshrub_host.cli.stream_options import add_board_option

from ..api import flash_device
from ..board import build, flash, rom_library, simulated_board
from ..board.board_repl import Device
from ..board.build import FOLDER
from ..board.flash_network import flash_network
from ..board.ports import add_port_option, chosen_port
from ..link import key_file
from ..link.lines import is_network

_START_SECONDS = 30.0  # seconds for the program to start, or to print an error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Copy a build to the board, compare every file, let the board learn a fixed stream and "
        "compare its model with the simulator's; then start it. Until then the board keeps its "
        "previous program."
    )
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        type=Path,
        help=f"what `build` wrote (default {FOLDER}/BOARD)",
    )
    add_board_option(parser, None, "the board (required)", required=True)
    add_port_option(parser, network=True)


def run(arguments: argparse.Namespace) -> int:
    """Flash, and print the result of the self-test and the output of the starting program."""
    board = board_files.load(arguments.board)
    folder = arguments.folder or build.folder_of(board)
    port = chosen_port(arguments.port)
    files = build.read(folder)
    if is_network(port):
        return _over_network(port, key_file.chosen(arguments.key), files, board.name)
    with Device(port, board.serial.baud) as device:
        virtual = bool(device.value(simulated_board.MARK))
        if virtual:
            files = simulated_board.for_this_pc(files)
            messages.say(
                f"This is a virtual board: it gets what is in {folder}, with the library for this "
                "PC's processor."
            )
        with showing("copying", announce=True) as update:
            result = flash_device(device, files, update)
        _tell(result, len(files), virtual)
        if virtual:
            console.say(
                f"`microshrub budget --board {board.key}` tells the RAM of a {board.name}, and "
                "how long a sample takes there."
            )
        return _start(device, "The virtual board" if virtual else board.name)


def _over_network(port: str, key: bytes, files: flash.Files, name: str) -> int:
    """Flash a board on the network, which tries the program and goes back if it must."""
    with showing("copying", announce=True) as update:
        result = flash_network(port, key, files, update)
    _tell(result, len(files))
    console.say(f"{name} has started the program, and the PC has come to it over the network.")
    return 0


def _tell(result: flash.SelfTest, files: int, virtual: bool = False) -> None:
    """Print the result of a flash; a virtual board's time and heap are this PC's."""
    here = ", on this PC" * virtual
    messages.say(f"{count(files, 'file')} on the board, each with the right SHA-256")
    console.say(
        f"self-test: the board's model is the simulator's (CRC32 {result.crc32:08x} after "
        f"{flash.SAMPLES} samples)"
    )
    if result.microseconds:
        console.say(f"  {result.microseconds:>9,} us per sample{here}")
    console.say(f"  {result.free_before:>9,} bytes of heap free before the import{here}")
    console.say(f"  {result.free_after:>9,} bytes free with the model{here}")
    if result.rom_bytes:
        console.say(
            f"  {result.rom_bytes:>9,} bytes of the library are in the ROM file system, and run "
            "from there"
        )
    elif result.not_in_rom and not virtual:
        messages.say(_in_ram(result.not_in_rom))


def _in_ram(why: str) -> str:
    """Return the message for a library that is not in a ROM file system."""
    how = ""
    if why == rom_library.NO_FIRMWARE:
        how = " docs/how-to/put-a-model-on-a-board.md says how to get one that has."
    return f"The library's code is in RAM: {why}.{how}"


def _start(device: Device, name: str) -> int:
    """Start the program and print its output; return 0 if it has started, else 1."""
    started, message = device.start(seconds := patience(_START_SECONDS))
    lines = [line for line in message.splitlines() if line.startswith("microshrub:")]
    for line in lines:
        console.say(line)
    if started:
        console.say(f"{name} has started the program.")
        return 0
    traced = [line for line in message.splitlines() if line.strip(" >")]
    last = traced[-1] if "Traceback" in message else ""
    why = f": {last}" if last else "" if lines else f" and said nothing in {seconds:g} s"
    messages.say(f"{name} was flashed, and its program did not start{why}.")
    return 1

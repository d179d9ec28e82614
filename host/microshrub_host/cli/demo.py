"""`microshrub demo`: a simulated board learns gestures, in a minute and without any hardware."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from ..base.terminal import console
from ..streams.worlds.table import world

_EXAMPLE = "gestures"
_PLOT = "demo.png"
_FEATURES = ("window=64", "hop=16", "rate=100")
_COMMAND = ("simulate", f"{_EXAMPLE}.csv", "--features", *_FEATURES,
    "--board", "rpi_pico", "--plot", _PLOT)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none."""
    parser.description = (
        "Let a simulated Raspberry Pi Pico learn three gestures of a hand with an accelerometer. "
        f"It writes {_EXAMPLE}.csv, a made-up recording, and the picture {_PLOT}, and prints the "
        "commands that do the same."
    )


def run(_: argparse.Namespace) -> int:
    """Make the recording and learn it, each by the command that is shown."""
    from . import example, simulate  # which --help does not need

    console.say(f"$ microshrub example {_EXAMPLE}")
    example.write(world(_EXAMPLE), Path(f"{_EXAMPLE}.csv"))
    command = shlex.join(("microshrub", *_COMMAND))
    console.say(f"$ {command}")
    parser = argparse.ArgumentParser(prog="microshrub simulate")
    simulate.add_arguments(parser)
    arguments = parser.parse_args(_COMMAND[1:])
    arguments.command_line = command
    return simulate.run(arguments)

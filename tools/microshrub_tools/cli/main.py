"""The command `microshrub`: one table of its subcommands."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from microshrub_host.base.exits import exit_code, run_command
from microshrub_host.cli.command_table import Command, add_commands

_HOST, _TOOLS = "microshrub_host.cli", "microshrub_tools.cli"

COMMANDS = (
    Command("demo", "Watch a simulated board learn gestures.", f"{_HOST}.demo"),
    Command("example", "Write a recording to learn from.", f"{_HOST}.example"),
    Command("simulate", "Learn a stream as the board would.", f"{_HOST}.simulate"),
    Command("budget", "Show how much of a board's RAM a model takes.", f"{_HOST}.budget"),
    Command("boards", "List the boards and where their figures are from.", f"{_HOST}.boards"),
    Command("parity", "Check that all engines compute the same bits.", f"{_HOST}.parity"),
    Command("show", "Print a saved model's trees, in the units of its features.", f"{_HOST}.show"),
    Command("export", "Export a saved model to another format.", f"{_HOST}.export"),
    Command("compare", "Compare our learners with River's and MOA's.", f"{_HOST}.compare"),
    Command("tune", "Search for models that are accurate and small.", f"{_HOST}.tune"),
    Command("reproduce", "Run a paper's experiment.", f"{_HOST}.reproduce"),
    Command("benchmark", "Measure the tables in the documentation.", f"{_HOST}.benchmark"),
    Command("micropython", "Find or fetch a real 32-bit MicroPython.", f"{_HOST}.micropython"),
    Command("costs", "Count the instructions of predict and learn.", f"{_HOST}.costs"),
    Command("soak", "Check that memory and time do not grow.", f"{_TOOLS}.soak"),
    Command("record", "Record samples from a board as a CSV file.", f"{_TOOLS}.record"),
    Command("build", "Build a program for a board.", f"{_TOOLS}.build"),
    Command("flash", "Copy a build to the board and test it there.", f"{_TOOLS}.flash"),
    Command("stream", "Let a board learn a recorded stream.", f"{_TOOLS}.stream"),
    Command("monitor", "Watch a board learn.", f"{_TOOLS}.monitor"),
    Command("bench", "Measure predict and learn on a board.", f"{_TOOLS}.bench"),
    Command("web", "Serve the page on which a board's own code learns.", f"{_TOOLS}.web"),
    Command("bridge", "Give that page a board where there is no WebSerial.", f"{_TOOLS}.bridge"),
    Command(
        "fuzz-link", "Test the link over a line that damages everything.", f"{_TOOLS}.fuzz_link"
    ),
    Command("fuzz-states", "Check that altered states do no harm.", f"{_TOOLS}.fuzz_states"),
    Command("simulate-year", "Let a device live with power cuts.", f"{_TOOLS}.simulate_year"),
)


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from microshrub_host.base.versions import version_of

        print(f"microshrub {version_of('microshrub')}")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """All subcommands, each of which imports its module when its words are parsed."""
    top = argparse.ArgumentParser(
        prog="microshrub",
        description="Online learning on microcontrollers, in MicroPython, simulated to the bit.",
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    add_commands(top, COMMANDS)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; returns the exit code.

    0, 1 for `no`, 2 for what it could not do, 130 after Ctrl-C, 141 when nobody reads the output.
    """
    return exit_code(lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    # What is multiplied here is small; numpy's waiting threads would take a tenth of a second
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return run_command(parser(), argv)


if __name__ == "__main__":
    sys.exit(main())

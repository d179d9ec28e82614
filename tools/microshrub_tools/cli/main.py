"""The command `microshrub`: one table of its subcommands."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from typing import Any

from microshrub_host.base.exits import exit_code, run_command
from microshrub_host.cli.plain_parser import Command, PlainParser, add_commands

_HOST, _TOOLS, _RESEARCH = (
    f"microshrub_{package}.cli" for package in ("host", "tools", "research")
)

# The first group is in the order of use; the last one is for work on microshrub itself
GROUPS = {
    "From a sensor to a board that learns, in this order": (
        Command("init", "Write a project's file, microshrub.toml.", f"{_TOOLS}.init"),
        Command("record", "Record samples from a board as a CSV file.", f"{_TOOLS}.record"),
        Command("look", "Show what is in a recording.", f"{_HOST}.look"),
        Command("simulate", "Learn a stream as the board would.", f"{_HOST}.simulate"),
        Command("tune", "Search for models that are accurate and small.", f"{_HOST}.tune"),
        Command("build", "Build a program for a board.", f"{_TOOLS}.build"),
        Command("flash", "Copy a build to the board and test it there.", f"{_TOOLS}.flash"),
        Command("monitor", "Watch a board learn.", f"{_TOOLS}.monitor"),
        Command("run", "Simulate, build, flash and monitor in one go.", f"{_TOOLS}.run"),
    ),
    "Without a board": (
        Command("demo", "Watch a simulated board learn gestures.", f"{_HOST}.demo"),
        Command("example", "Write a recording to learn from.", f"{_HOST}.example"),
        Command("device", "Run a virtual board.", f"{_TOOLS}.device"),
        Command("web", "Serve the page on which a board's own code learns.", f"{_TOOLS}.web"),
    ),
    "With a board": (
        Command("stream", "Let a board learn a recorded stream.", f"{_TOOLS}.stream"),
        Command(
            "boards", "List the boards, and where their figures come from.", f"{_HOST}.boards"
        ),
        Command("bench", "Measure predict and learn on a board.", f"{_TOOLS}.bench"),
        Command("report", "Measure a board, and print it to send in.", f"{_TOOLS}.report"),
        Command("mqtt", "Remove a board from an MQTT broker.", f"{_TOOLS}.mqtt"),
        Command("bridge", "Connect a board to the page without WebSerial.", f"{_TOOLS}.bridge"),
    ),
    "A model": (
        Command("budget", "Show how much of a board's RAM a model takes.", f"{_HOST}.budget"),
        Command(
            "show", "Print a saved model's trees, in the units of its features.", f"{_HOST}.show"
        ),
        Command("export", "Export a saved model to another format.", f"{_HOST}.export"),
        Command("share", "Let models and boards teach each other.", f"{_TOOLS}.share"),
    ),
    "Research": (
        Command("compare", "Compare our learners with River's and MOA's.", f"{_RESEARCH}.compare"),
        Command("check-learner", "Check a learner of your own.", f"{_TOOLS}.check_learner"),
        Command("parity", "Check that all engines compute the same bits.", f"{_HOST}.parity"),
        Command("simulate-fleet", "Let boards teach each other.", f"{_HOST}.simulate_fleet"),
        Command("reproduce", "Run a paper's experiment.", f"{_RESEARCH}.reproduce"),
        Command("benchmark", "Measure the tables in the documentation.", f"{_RESEARCH}.benchmark"),
    ),
    "For work on microshrub itself": (
        Command("micropython", "Find or fetch a real 32-bit MicroPython.", f"{_HOST}.micropython"),
        Command("costs", "Count the instructions of predict and learn.", f"{_RESEARCH}.costs"),
        Command("dev", "Test microshrub itself, for hours.", f"{_TOOLS}.dev"),
    ),
}
COMMANDS = tuple(command for group in GROUPS.values() for command in group)

_GREETING = (
    "microshrub: online learning on microcontrollers, in MicroPython, simulated to the bit.\n"
)
_BEGIN = """
New here? `microshrub demo` needs no board.
`microshrub COMMAND --help` explains a command; `microshrub --help-all` lists all of them.
"""


def greeting(*, everything: bool = False) -> str:
    """Return the commands: the first group in lines, the others by name, or all in lines."""
    message = [_GREETING]
    for number, (title, commands) in enumerate(GROUPS.items()):
        if number == 0 or everything:
            message += [f"{title}:", *(f"    {c.name:<15}{c.help}" for c in commands), ""]
        elif number < len(GROUPS) - 1:
            message.append(f"{title + ':':<18}{', '.join(command.name for command in commands)}")
    return "\n".join(message).rstrip("\n") + "\n" + _BEGIN


class _TopParser(PlainParser):
    """The parser of `microshrub` itself."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Report an unknown option rather than the missing command."""
        first = [*(sys.argv[1:] if args is None else args), ""][0]
        known = any(name.startswith(first) for name in self._option_string_actions)
        if first.startswith("-") and not known:
            self.error(self._unknown([first]))
        return super().parse_known_args(args, namespace)

    def format_help(self) -> str:
        return greeting()

    def full_help(self) -> str:
        return greeting(everything=True)


class _Everything(argparse.Action):
    """The action of --help-all."""

    def __call__(self, parser: Any, *_: Any) -> None:
        sys.stdout.write(parser.full_help())
        parser.exit()


class _Version(argparse.Action):
    """The action of --version, which looks the version up only when needed."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from microshrub_host.base.versions import version_of

        print(f"microshrub {version_of('microshrub')}")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """Return the parser of all subcommands; each imports its module when it is parsed."""
    top = _TopParser(prog="microshrub")
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    top.add_argument("--help-all", action=_Everything, nargs=0, help="list all commands and exit")
    add_commands(top, COMMANDS)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; return the exit code.

    The codes are 0, 1 for `no`, 2 for an error, 130 after Ctrl-C, 141 for a closed output.
    """
    return exit_code(lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    # The matrices here are small; numpy's waiting threads would take a tenth of a second
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(50_000)  # syntax trees have many nodes; collections took a tenth of the time
    if not (sys.argv[1:] if argv is None else argv):
        sys.stdout.write(greeting())
        return 0
    return run_command(parser(), argv)


if __name__ == "__main__":
    sys.exit(main())

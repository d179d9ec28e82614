"""The command `microshrub`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from microshrub_host.base.exits import exit_code, run_command

# All else is imported where main() can say in one line that it was stopped.


def parser() -> argparse.ArgumentParser:
    """All subcommands."""
    from microshrub_host.base.versions import version_of
    from microshrub_host.cli import compare, export, micropython, reproduce, show, simulate, tune
    from microshrub_host.cli.commands import add_commands
    from microshrub_host.cli.options import Parser

    from . import bench, build, flash, monitor, record, soak, stream

    top = Parser(
        prog="microshrub",
        description="Online learning on microcontrollers, in MicroPython, simulated to the bit.",
    )
    top.add_argument(
        "--version", action="version", version=f"microshrub {version_of('microshrub')}"
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    simulate.add_command(commands)
    add_commands(commands)
    for host in (
        show,
        export,
        compare,
        tune,
        reproduce,
    ):
        host.add_command(commands)
    micropython.add_commands(commands)
    soak.add_command(commands)
    for command in (record, build, flash, stream, monitor, bench):
        command.add_command(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; returns the exit code.

    0, 1 for `no`, 2 for what it could not do, 130 after Ctrl-C, 141 when nobody reads the output.
    """
    return exit_code(lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    return run_command(parser(), argv)


if __name__ == "__main__":
    sys.exit(main())

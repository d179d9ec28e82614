"""`microshrub run`: simulate, build, flash and monitor, with the settings of microshrub.toml."""

from __future__ import annotations

import argparse
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.exits import run_command
from microshrub_host.base.terminal import console
from microshrub_host.cli import project_file
from microshrub_host.cli.parsed import parsed

from ..board.ports import add_port_option


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        f"Do what {project_file.NAME} says: simulate, build, flash and monitor, one after the "
        "other. It stops where something is wrong."
    )
    add_port_option(parser, network=True)
    parser.add_argument(
        "--seconds",
        type=parsed(float),
        metavar="S",
        help="stop watching after S seconds (default: Ctrl-C)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the commands in order; return the exit code of the first that fails."""
    from .main import parser  # main imports this module by its name

    if not project_file.read():
        exists = Path(project_file.NAME).exists()
        raise UserError(
            f"{project_file.NAME} is empty: `microshrub init --force` writes it"
            if exists
            else f"There is no {project_file.NAME} in this folder: `microshrub init` writes one"
        )
    port = [] if arguments.port is None else ["--port", arguments.port]
    port += [] if arguments.key is None else ["--key", str(arguments.key)]
    seconds = [] if arguments.seconds is None else ["--seconds", str(arguments.seconds)]
    for words in (["simulate"], ["build"], ["flash", *port], ["monitor", *port, *seconds]):
        console.say(f"$ microshrub {' '.join(words)}")
        try:
            code = run_command(parser(), words)
        except UserError as error:
            raise UserError(f"{words[0]}: {error}") from None
        if code:
            return code
    return 0

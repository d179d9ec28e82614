"""The command `microshrub`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from microshrub_host.commands import add_commands
from microshrub_host.errors import UserError

from . import soak


def parser() -> argparse.ArgumentParser:
    """All subcommands."""
    top = argparse.ArgumentParser(
        prog="microshrub",
        description="Online learning on microcontrollers, in MicroPython, simulated to the bit.",
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    add_commands(commands)
    soak.add_command(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; returns the exit code: 0, 1 for `no`, 2 for what it could not do."""
    arguments = parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except UserError as error:
        print(f"microshrub: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("microshrub: stopped", file=sys.stderr)
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())

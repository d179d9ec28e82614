"""A table of subcommands: the module of one is imported when somebody asks for it."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .plain_parser import ScreenParser


@dataclass(frozen=True)
class Command:
    """A subcommand, with its line in the list of them.

    The module has `add_arguments(parser)` and `run(arguments)`, which returns the exit code; one
    that has subcommands of its own needs no `run`. `first` is what its --help shows, see
    ScreenParser.
    """

    name: str
    help: str
    module: str
    first: Mapping[str, str] | None = None


class CommandParser(ScreenParser):
    """The parser of a subcommand, which gets its options once there is something to parse."""

    def __init__(self, *args: Any, module: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._module = module

    def fill(self) -> None:
        """Import the module and add its options, if that has not been done yet."""
        if self._module:
            module, self._module = importlib.import_module(self._module), ""
            if hasattr(module, "run"):
                self.set_defaults(run=module.run)
            module.add_arguments(self)
            self.settle()

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        self.fill()
        return super().parse_known_args(args, namespace)


def add_commands(
    parser: argparse.ArgumentParser, commands: Iterable[Command], *, required: bool = True
) -> None:
    """Add the subcommands, one of which has to be given unless it is not required."""
    found = parser.add_subparsers(
        metavar="COMMAND", required=required, parser_class=CommandParser, dest="command"
    )
    for command in commands:
        text = command.help
        found.add_parser(
            command.name, help=text, description=text, module=command.module, first=command.first
        )

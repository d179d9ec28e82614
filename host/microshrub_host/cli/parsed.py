"""Parsers of options' values for argparse, which would hide a ValueError's message."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from ..base.errors import UserError
from ..base.text import PARSERS


def parsed(value_type: type) -> Callable[[str], Any]:
    """Return the parser of values of a type: bool, int, float, str, or tuple of whole numbers."""

    def parse(text: str) -> Any:
        try:
            return PARSERS[value_type](text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse


whole_number = parsed(int)


def check_at_least_one(**values: int | None) -> None:
    """Raise UserError for an option below 1; the keywords are the options' names."""
    for name, value in values.items():
        if value is not None and value < 1:
            raise UserError(f"--{name.replace('_', '-')} has to be at least 1, not {value}")


def add_whole_numbers(
    parser: argparse.ArgumentParser, rows: Iterable[tuple[str, int, str]]
) -> None:
    """Add options of whole numbers, from rows with name, default and help."""
    for name, usual, text in rows:
        parser.add_argument(
            f"--{name}",
            type=whole_number,
            default=usual,
            metavar="N",
            help=f"{text} (default {usual})",
        )


def check_no_group(arguments: argparse.Namespace) -> None:
    """Raise UserError for --group, as the samples have no class."""
    if getattr(arguments, "group", None) is not None:
        raise UserError("--group is for samples with a class: nothing else is held out.")


def columns_read(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of open_stream, open_numbers and open_columns for these options."""
    return {
        "columns": arguments.columns,
        "drop": arguments.drop,
        "header": not arguments.no_header,
        "decimal": getattr(arguments, "decimal", None),
        "limit": arguments.limit,
    }

"""What the commands of `microshrub share` have in common: the files they read and write."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..base import files
from ..base.terminal import messages

MODEL_START = rb"PK\x03\x04.{26}config\.json"
PARCEL_START = rb"mshp"


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add MODEL."""
    parser.add_argument(
        "model", metavar="MODEL", type=Path, help="a thicket's file that `simulate --save` wrote"
    )


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --output and --force."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        required=True,
        help=f"{what}; an existing one of the same kind is replaced",
    )
    parser.add_argument(
        "--force", action="store_true", help="also replace any other file (default: refuse)"
    )


def check_output(arguments: argparse.Namespace, start: bytes, inputs: dict[str, Path]) -> None:
    """Raise UserError for a file that cannot be written, before the work."""
    files.check_apart({"--output": arguments.output}, inputs)
    files.check_target("--output", arguments.output)
    if not arguments.force:
        files.check_kind("--output", arguments.output, start)


def write(arguments: argparse.Namespace, data: bytes, more: str = "") -> None:
    """Write the file and say so."""
    files.replace(arguments.output, data)
    messages.say(f"written to {arguments.output}: {len(data):,} bytes{more}")

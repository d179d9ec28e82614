"""Shared by the commands of `microshrub share`: the files that they read and write."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable
from pathlib import Path

from microshrub_host.base import files
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages
from microshrub_host.base.text import did_you_mean
from microshrub_host.streams.class_names import csv_record, split_classes

from ..board.ports import add_port_option

MODEL_START = files.MODEL_START
PACKET_START = rb"mshp"
MODEL = "a thicket's file that `simulate --save` wrote; none with --port"


def add_classes(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --classes, for the classes that may leave `what`."""
    parser.add_argument(
        "--classes",
        metavar="A,B,...",
        help=f"the classes that may leave {what}; `all` is every class that has samples "
        "(required)",
    )


def chosen_classes(text: str) -> tuple[str, ...]:
    """Return the names in --classes. Raises UserError."""
    return tuple(dict.fromkeys(split_classes("--classes ", text)))


def check_known(names: Iterable[str], known: Iterable[str]) -> None:
    """Raise UserError for a name that no known class has."""
    classes = tuple(dict.fromkeys(known))
    for name in names:
        if name not in classes:
            commas = any("," in each for each in classes)
            how = f" As a list: {shlex.quote(csv_record(classes))}" if commas else ""
            raise UserError(
                f"--classes: no class is called {name}. {did_you_mean(name, classes)}{how}"
            )


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --output and --force."""
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help=what)
    parser.add_argument(
        "--force", action="store_true", help="also replace any other file (default: refuse)"
    )


def add_taught(parser: argparse.ArgumentParser, packets: str) -> None:
    """Add the files of taught_files()."""
    parser.add_argument(
        "files",
        metavar="FILE",
        type=Path,
        nargs="*",
        help=f"MODEL, {MODEL}; then {packets}",
    )


def add_board(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --port and --key, for a board in place of a model."""
    add_port_option(parser, network=True, instead=f"{what} a board, in place of MODEL")


def taught_files(arguments: argparse.Namespace) -> tuple[Path | None, list[Path]]:
    """Return MODEL, or None for a board, and the packets after it. Raises UserError."""
    paths: list[Path] = arguments.files
    board, origin = arguments.port is not None, getattr(arguments, "origin", None)
    if (arguments.mqtt is not None or origin is not None) == (len(paths) > (not board)):
        whose = "--port of a board" if board else "MODEL, or --port of a board,"
        other = "--origin NAME" if hasattr(arguments, "origin") else "--mqtt of a broker"
        raise UserError(f"give {whose} and either PACKET or {other}")
    if board:
        if arguments.output is not None:
            raise UserError("--output is for a MODEL: with --port the board keeps what it learns")
        return None, paths
    if not paths:
        raise UserError("give MODEL, or --port of a board")
    check_output(arguments, MODEL_START, {str(path): path for path in paths})
    return paths[0], paths[1:]


def check_output(arguments: argparse.Namespace, start: bytes, inputs: dict[str, Path]) -> None:
    """Raise UserError before the work if the output file cannot be written."""
    if arguments.output is None:
        raise UserError("--output is missing: the file to write")
    files.check_apart({"--output": arguments.output}, inputs)
    files.check_target("--output", arguments.output)
    if not arguments.force:
        files.check_kind("--output", arguments.output, start)


def write(arguments: argparse.Namespace, data: bytes, more: str = "") -> None:
    """Write the file and print its size."""
    files.replace(arguments.output, data)
    messages.say(f"written to {arguments.output}: {len(data):,} bytes{more}")

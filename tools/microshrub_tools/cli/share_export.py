"""`microshrub share export`: samples of a saved model, or of a board's, as a parcel for others."""

from __future__ import annotations

import argparse
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import count
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.models import model_files, shared_samples
from microshrub_host.models.shared_samples import MOST

from ..board.board_sharing import board_model
from .share_files import MODEL, PARCEL_START, add_board, add_output, check_output, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Write samples that a thicket holds to a parcel, from which other models learn. Only "
        "classes that you name leave the model: by default none does. A board's program is "
        "stopped for it, and goes on afterwards."
    )
    parser.add_argument("model", metavar="MODEL", type=Path, nargs="?", help=MODEL)
    parser.add_argument(
        "--classes", metavar="A,B,...", help="the classes that may leave, or all (required)"
    )
    parser.add_argument(
        "--most",
        type=whole_number,
        default=MOST,
        metavar="N",
        help=f"at most so many samples of a class (default {MOST})",
    )
    parser.add_argument(
        "--name",
        metavar="NAME",
        help="whose samples they are (default: the name of MODEL, or board)",
    )
    add_board(parser, "take the samples from")
    add_output(parser, "the parcel to write (required)")


def run(arguments: argparse.Namespace) -> int:
    """Write the parcel."""
    check_at_least_one(most=arguments.most)
    path: Path | None = arguments.model
    if (path is None) == (arguments.port is None):
        raise UserError("give either MODEL or --port of a board")
    check_output(arguments, PARCEL_START, {"MODEL": path} if path else {})
    if path is None:
        origin, wanted, data = _of_board(arguments)
    else:
        wanted = _wanted(arguments, model_files.read(path).class_names)
        origin = arguments.name or path.stem
        data = shared_samples.collected(path, wanted, arguments.most, origin)
    write(arguments, data, f", {count(len(wanted), 'class')} of {origin}")
    return 0


def _of_board(arguments: argparse.Namespace) -> tuple[str, tuple[str, ...], bytes]:
    """Whose samples, of which classes, and the parcel."""
    origin = arguments.name or "board"
    with board_model(arguments.port, arguments.key) as board:
        wanted = _wanted(arguments, board.class_names)
        try:
            return origin, wanted, board.sharing.collect(origin, wanted, arguments.most)
        except ValueError as error:
            raise UserError(f"the board: {error}") from None


def _wanted(arguments: argparse.Namespace, names: tuple[str, ...]) -> tuple[str, ...]:
    if not arguments.classes:
        raise UserError(
            "--classes is missing: nothing leaves a model that nobody chose. The classes are: "
            f"{', '.join(names)}"
        )
    return tuple(names) if arguments.classes == "all" else tuple(arguments.classes.split(","))

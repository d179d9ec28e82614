"""`microshrub share export`: samples of a saved model as a parcel for others."""

from __future__ import annotations

import argparse

from ..base.errors import UserError
from ..base.text import count
from ..models import model_files, shared_samples
from ..models.shared_samples import MOST
from .parsed import check_at_least_one, whole_number
from .share_files import PARCEL_START, add_model, add_output, check_output, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Write samples that a thicket holds to a parcel, from which other models learn. Only "
        "classes that you name leave the model: by default none does."
    )
    add_model(parser)
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
        "--name", metavar="NAME", help="whose samples they are (default: the name of MODEL)"
    )
    add_output(parser, "the parcel to write")


def run(arguments: argparse.Namespace) -> int:
    """Write the parcel."""
    check_at_least_one(most=arguments.most)
    check_output(arguments, PARCEL_START, {"MODEL": arguments.model})
    names = model_files.read(arguments.model).class_names
    if not arguments.classes:
        raise UserError(
            "--classes is missing: nothing leaves a model that nobody chose. The classes are: "
            f"{', '.join(names)}"
        )
    wanted = names if arguments.classes == "all" else tuple(arguments.classes.split(","))
    origin = arguments.name or arguments.model.stem
    data = shared_samples.collected(arguments.model, wanted, arguments.most, origin)
    write(arguments, data, f", {count(len(wanted), 'class')} of {origin}")
    return 0

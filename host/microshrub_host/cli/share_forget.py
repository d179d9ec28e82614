"""`microshrub share forget`: a saved model without what a parcel has taught it."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..base.text import count
from ..models import model_files, shared_samples
from .share_files import MODEL_START, add_model, add_output, check_output, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Take the samples of a parcel out of a thicket again. Its trees that have grown on them "
        "count little as soon as newer ones have grown."
    )
    add_model(parser)
    parser.add_argument(
        "parcel",
        metavar="PARCEL",
        type=Path,
        help="the file of `share export` whose samples it is to forget",
    )
    add_output(parser, "the model to write")


def run(arguments: argparse.Namespace) -> int:
    """Forget, and write the model."""
    inputs = {"MODEL": arguments.model, "PARCEL": arguments.parcel}
    check_output(arguments, MODEL_START, inputs)
    parcel = shared_samples.read_parcel(arguments.parcel)
    model, gone = shared_samples.without(arguments.model, parcel)
    write(arguments, model_files.packed(model), f", without {count(gone, 'sample')}")
    return 0

"""--no-label, of whichever command has it: DATA has no class, all its columns are features."""

from __future__ import annotations

import argparse

import numpy as np

from ..base.errors import UserError
from ..base.progress import showing
from ..base.terminal import messages
from ..library.learners import WARMUP
from ..streams.class_names import declared_classes
from ..streams.number_streams import NumberStream
from ..streams.open_numbers import open_columns
from ..streams.stream import Stream
from .features_option import feature_options
from .parsed import columns_read


def add_no_label_option(parser: argparse._ActionsContainer, what: str) -> None:
    """Add --no-label; `what` the command does then."""
    parser.add_argument(
        "--no-label",
        action="store_true",
        help=f"DATA has no class, and all its columns are features: {what} (default: the last "
        "column is the class)",
    )


def check_no_label(arguments: argparse.Namespace) -> bool:
    """Whether --no-label was given. Raises UserError if there is nothing to do without labels."""
    if arguments.no_label and not arguments.anomaly:
        raise UserError(
            "--no-label needs --anomaly RATE: without labels there is nothing to learn."
        )
    return bool(arguments.no_label)


def open_unlabelled_rows(arguments: argparse.Namespace) -> Stream:
    """The rows, as of a stream that has no label yet, for a model of the classes of --classes.

    Raises UserError.
    """
    classes = declared_classes(arguments.classes)
    if classes is None:
        raise UserError("--no-label needs --classes A,B,...: those that labels will name later.")
    if arguments.label is not None:
        raise UserError(
            "--label NAME says which column is the class, and --no-label that none is."
        )
    found = open_unlabelled(arguments)
    labels = np.zeros(len(found.columns), np.uint8)
    names = found.column_names
    return Stream(found.name, found.columns, labels, names, classes, known_scale=found.scale)


def open_unlabelled(arguments: argparse.Namespace) -> NumberStream:
    """The columns that the options ask for; notes on them are said."""
    warmup = arguments.warmup or WARMUP
    if arguments.features is not None:
        warmup = feature_options(arguments).readings(warmup)
    with showing("reading") as update:
        stream = open_columns(
            arguments.data,
            **columns_read(arguments),
            warmup=warmup,
            progress=update,
        )
    for note in stream.notes:
        messages.say(f"Note: {note}")
    return stream

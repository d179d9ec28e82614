"""--spare-classes, of whichever command has it."""

from __future__ import annotations

import argparse
from typing import Any

from ..base.terminal import messages
from ..engines.learners import check_parameters
from ..engines.spare_options import SpareOptions, with_spare
from ..streams.stream import Stream


def add_spare_option(parser: argparse._ActionsContainer) -> None:
    """Add --spare-classes."""
    parser.add_argument(
        "--spare-classes",
        nargs="+",
        metavar=("N", "NAME=VALUE"),
        help="room for N classes that get a name only later: what is unlike all that has one is "
        "set aside until a person names it; then period=100 window=256 reach=4 collect=8, and "
        "which classes of DATA are new in a simulation, such as new=walk,run: without it, those "
        "that the warm-up does not have; on a board pin=15, a button that names what is new "
        "(default: off)",
    )


def spare_options(arguments: argparse.Namespace) -> SpareOptions | None:
    """What --spare-classes asks for; None without it. Raises UserError."""
    return SpareOptions.of(arguments.spare_classes) if arguments.spare_classes else None


def spare_of_stream(
    arguments: argparse.Namespace, stream: Stream, parameters: dict[str, Any]
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """What --spare-classes asks for with this stream, or None; and the learner's parameters.

    Raises UserError.
    """
    options = spare_options(arguments)
    if options is None:
        return None, parameters
    spare = options.of_stream(stream, arguments.warmup)
    if len(spare["known"]) == len(spare["names"]):
        messages.say(
            f"Note: all classes of {stream.name} come in its first {arguments.warmup:,} samples, "
            f"so none of them is new. new={stream.class_names[-1]} has one be."
        )
    parameters = with_spare(parameters, spare)
    check_parameters(arguments.model, parameters)
    return spare, parameters

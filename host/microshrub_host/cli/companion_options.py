"""The options of what stands beside a learner, of whichever command has them."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

from ..base.terminal import messages
from ..beside import companion, registry
from ..beside.companion import Beside
from ..library.learners import check_parameters
from ..streams.stream import Stream
from .parsed import whole_number


def add_companion_options(
    parser: argparse._ActionsContainer,
    *,
    simulated: bool = False,
    only: Collection[str] | None = None,
) -> None:
    """Add those of all companions, or only those of these names.

    With `simulated`, those that are only of use where a stream has all labels, too.
    """
    for kind in registry.companions():
        for option in kind.options:
            wanted = only is None or kind.name in only
            if not wanted or (option.simulated and not simulated):
                continue
            more: dict[str, Any] = {"nargs": "+"} if option.many else {}
            parser.add_argument(
                option.flag,
                type=whole_number if option.kind is int else option.kind,
                metavar=option.metavar,
                help=option.help,
                **more,
            )


def companions(arguments: argparse.Namespace, hertz: float | None = None) -> Beside:
    """Those that were asked for. hertz is the rate of the sensor, if it is known.

    Raises UserError.
    """
    return registry.of_options(vars(arguments), hertz)


def beside_stream(
    arguments: argparse.Namespace, stream: Stream, parameters: dict[str, Any]
) -> tuple[Beside, dict[str, Any]]:
    """Those on this stream, and the learner's parameters with them around. Raises UserError."""
    beside = [each.on_stream(stream, arguments.warmup) for each in companions(arguments)]
    for each in beside:
        if note := each.note(stream, arguments.warmup):
            messages.say(note)
    parameters = companion.around(parameters, beside)
    check_parameters(arguments.model, parameters)
    return beside, parameters

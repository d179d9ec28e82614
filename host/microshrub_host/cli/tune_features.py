"""What `microshrub tune` searches: a stream, or those that several sets of features make of it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TypeVar

from ..base.errors import UserError
from ..base.terminal import messages
from ..base.text import count
from ..streams.number_streams import NumberStream
from ..streams.stream import Stream
from ..tuning.feature_sets import weighed
from .features_option import feature_options
from .number_options import open_number_stream, open_readings
from .stream_options import made_of, open_arguments, open_rows

S = TypeVar("S")


def open_classes(arguments: argparse.Namespace) -> Stream | dict[str, Stream]:
    """The stream; by the words behind --features, if these leave something open. Raises
    UserError.
    """
    if arguments.features is None:
        return open_arguments(arguments)
    rows = open_rows(arguments)
    sets = _sets(arguments, len(rows.feature_names), len(rows.class_names))
    return _each(arguments, sets, lambda given: made_of(given, rows))


def open_targets(arguments: argparse.Namespace) -> NumberStream | dict[str, NumberStream]:
    """The same of numbers. Sets without the target are left out. Raises UserError."""
    if arguments.features is None:
        return open_number_stream(arguments)
    readings = open_readings(arguments)
    sets = _sets(arguments, len(readings.column_names), 2)
    return _each(arguments, sets, lambda given: open_number_stream(given, readings))


def _sets(arguments: argparse.Namespace, channels: int, classes: int) -> list[str]:
    return weighed(arguments.features, feature_options(arguments, channels, classes))


def _each(
    arguments: argparse.Namespace, sets: Sequence[str], made: Callable[[argparse.Namespace], S]
) -> S | dict[str, S]:
    if len(sets) == 1:
        return made(arguments)
    found: dict[str, S] = {}
    errors = []
    for words in sets:
        try:
            found[words] = made(
                argparse.Namespace(**vars(arguments) | {"features": words.split()})
            )
        except UserError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    messages.say(f"Note: {count(len(found), 'set')} of features are compared as models are.")
    return found

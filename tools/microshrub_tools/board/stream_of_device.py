"""A recorded stream with a device's columns, by their names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.streams.names import named
from microshrub_host.streams.stream import Extraction
from microshrub_host.streams.unit_losses import UnitLosses, Values


def check_alone(configuration: Any) -> None:
    """Raise UserError for a program that also learns from samples outside the stream."""
    if configuration.kind != "serial":
        raise UserError(
            "the device's program reads a sensor, and would learn its samples among those of the "
            "stream; nothing was sent. `stream` is for a program that was built with --sensor "
            "serial; `parity` compares the same model without a device"
        )
    if configuration.share is not None:
        raise UserError(
            "the device's program learns what other boards share, too; nothing was sent. `stream` "
            "is for a program that was built without --share"
        )


def columns_of(what: str, given: Sequence[str], wanted: Sequence[str] | None) -> list[int]:
    """Return the place of each of the device's columns in the given columns, by name.

    `what` is the stream's name. `wanted` is None for a device without names, which takes the
    columns in their given order. Raises UserError if the names differ.
    """
    if wanted is None:
        return list(range(len(given)))
    if sorted(given) != sorted(wanted):
        strange = [name for name in given if name not in wanted]
        absent = [name for name in wanted if name not in given]
        raise UserError(
            f"{what} has {named('feature', strange)}, which the device's model does not know; "
            f"the model has {named('feature', absent)} instead. Rename the columns if they mean "
            "the same"
        )
    return [given.index(name) for name in wanted]


def check_extraction(what: str, given: Extraction | None, wanted: dict[str, Any] | None) -> None:
    """Raise UserError if the device makes samples of windows and the stream does not match."""
    if wanted is None or (given and json.loads(json.dumps(given.options)) == wanted):
        return
    window = f"window={wanted['window']} hop={wanted['hop']}"
    raise UserError(
        f"the device makes a sample of {wanted['window']:,} readings, one after every "
        f"{wanted['hop']:,}, and {what} has "
        + ("samples that are made in another way" if given else "plain readings")
        + f": give the --features of its build, with {window}"
    )


def unit_notes(
    what: str, names: Sequence[str], values: Values, exact: Values, digits: Sequence[int]
) -> Iterator[str]:
    """Yield notes on a stream's values, shape (rows, columns), that the device's units cannot
    hold.

    exact are the values in these units, not rounded yet; digits are the decimal places.
    """
    for column, row, too_large in UnitLosses(len(names)).look(exact):
        unit = 10.0 ** -digits[column]
        why = f"too large for the device's unit of {unit:g}, and learned as the largest that fits"
        if not too_large:
            why = f"rounded to the device's unit of {unit:g}"
        yield (
            f"Note: values of the feature {names[column]}, such as {values[row, column]:.6g} in "
            f"{what}, are {why}. `build` chooses units by the file that it is given."
        )

"""Wide files: a row is a whole recording of a sensor, whose values become readings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..base.errors import DataError, UserError
from ..base.text import settings

READINGS, AXES = _ORDERS = ("readings", "axes")
_NUMBER = re.compile(r"[\W_]*\d+[\W_]*")


@dataclass(frozen=True)
class Wide:
    """The options of --wide: the number of axes in a reading, and the order of the values.

    The order, if given, is one reading after the other, or one axis after the other.
    """

    axes: int = 1
    order: str = ""

    @staticmethod
    def of(words: Sequence[str]) -> Wide:
        """Return the options in these words. Raises UserError."""
        given = settings("--wide", words, {"axes": 1, "order": ""})
        axes, order = given["axes"], given["order"]
        if not isinstance(axes, int) or axes < 1:
            raise UserError(f"--wide axes has to be a whole number from 1 on, not {axes}")
        if order not in ("", *_ORDERS):
            raise UserError(f"--wide order has to be {READINGS} or {AXES}, not {order}")
        return Wide(axes, order)


@dataclass(frozen=True)
class WideRows:
    """How the rows of a wide file become readings."""

    names: tuple[str, ...]  # names of the axes
    readings: int  # readings in a row
    places: tuple[tuple[int, ...], ...]  # places of each reading's values in a row
    shared: tuple[int, ...]  # places of the columns that all readings of a row share
    note: str

    def of(self, cells: Sequence[str]) -> list[list[str]]:
        """Return the readings of a row, each followed by the row's other cells."""
        shared = [cells[place] for place in self.shared]
        return [[*(cells[place] for place in each), *shared] for each in self.places]


def wide_rows(
    source: str, wide: Wide, names: Sequence[str], values: Sequence[int], shared: Sequence[int]
) -> WideRows:
    """Return how to read rows with these column names; `values` are the places of the numbers.

    Raises DataError if the numbers cannot be readings of that many axes.
    """
    if len(values) % wide.axes or len(values) < 2 * wide.axes:
        raise DataError(
            f"{source} has {len(values):,} values in a row, which are no readings of "
            f"{wide.axes} axes: --wide axes=N says how many there are; --drop leaves columns out, "
            "and --label names that of the class."
        )
    readings = len(values) // wide.axes
    plain = [_NUMBER.sub("", names[place]) for place in values]
    order, axis_names = _order(wide, plain, readings)
    at: Callable[[int, int], int] = (
        (lambda reading, axis: axis * readings + reading)
        if order == AXES
        else (lambda reading, axis: reading * wide.axes + axis)
    )
    each = [[values[at(r, a)] for a in range(wide.axes)] for r in range(readings)]
    what = "readings" if wide.axes == 1 else f"readings of {wide.axes} axes"
    how = "" if wide.axes == 1 else f", one {order[:-1].replace('axe', 'axis')} after the other"
    return WideRows(
        axis_names or tuple(f"v{axis + 1}" for axis in range(wide.axes)),
        readings,
        tuple(map(tuple, each)),
        tuple(shared),
        f"each row is a recording of {readings:,} {what}{how}",
    )


def _order(wide: Wide, plain: Sequence[str], readings: int) -> tuple[str, tuple[str, ...]]:
    """Return the order of the values, and the axes' names if columns show any: ax0, ay0, ..."""
    axes = wide.axes
    turns = tuple(plain[:axes])
    if all(turns) and len(set(turns)) == axes and list(plain) == [*turns] * readings:
        return wide.order or READINGS, turns if wide.order != AXES else ()
    blocks = [name for name, _ in groupby(plain)]
    if all(blocks) and len(blocks) == axes == len(set(blocks)):
        names = tuple(blocks) if plain[::readings] == blocks and wide.order != READINGS else ()
        return wide.order or AXES, names
    return wide.order or READINGS, ()

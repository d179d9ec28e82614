"""A stream's columns and classes as a model numbers them, matched by name.

A model only knows numbers: a wrong match of classes would be learned for good, unnoticed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from .stream import Stream

_SHOWN = 6  # names in a message, at most


def places_of(what: str, given: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the places of the model's columns among the given ones, which may be more.

    what is the stream's name. Raises UserError for a missing column.
    """
    absent = [name for name in wanted if name not in given]
    if absent:
        strange = [name for name in given if name not in wanted]
        has = f"it has {named('column', strange)}" if strange else "it has no others"
        raise UserError(
            f"{what} lacks {named('column', absent)} of the model; {has}. Rename the columns if "
            "they mean the same"
        )
    return [given.index(name) for name in wanted]


def labels_of(
    stream: Stream, wanted: Sequence[str], whose: str = "the model"
) -> NDArray[np.uint8]:
    """Return the stream's labels as the model numbers its classes.

    Raises UserError for a class that the model does not have.
    """
    strange = [name for name in stream.class_names if name not in wanted]
    if strange:
        raise UserError(
            f"{stream.name} has {named('class', strange)}, which {whose} does not "
            f"know; the model has {named('class', wanted)}"
        )
    places = np.array([wanted.index(name) for name in stream.class_names], dtype=np.uint8)
    labels: NDArray[np.uint8] = places[stream.labels]
    return labels


def named(noun: str, names: Sequence[str]) -> str:
    """Return text like `the features ax, ay`, for the first few names."""
    plural = "" if len(names) == 1 else "es" if noun.endswith("s") else "s"
    shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return f"the {noun}{plural} {shown}"

"""Factors that scale a recording's decimals to whole numbers of 16 bits, for each channel."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..streams.stream import Extraction
from .feature_options import FeatureOptions, are_axes

MOST, MOST_PLAIN = 1 << 15, 1 << 29  # limits of readings
_ROOM = 2  # room for later values, as a factor
ROOM_AT_FIRST = 8  # if only a recording's first window is known
_DIGITS = 6


def with_scale(
    extraction: Extraction,
    values: NDArray[np.float64],
    options: FeatureOptions,
    room: float = _ROOM,
) -> Extraction:
    """Return the extraction with the options' factors, or else with factors for the recording.

    There is room for numbers `room` times as large. A channel of whole numbers is not scaled,
    unless another axis of its sensor is. Raises UserError.
    """
    channels = len(extraction.channels)
    if options.scale:
        factors = list(options.scale) * (channels if len(options.scale) == 1 else 1)
        if len(factors) != channels:
            raise UserError(
                f"--features scale has {len(factors)} numbers, and a reading has {channels} values"
            )
        return dataclasses.replace(extraction, scale=tuple(factors))
    plain, zero = extraction.options["plain"], extraction.options["zero"]
    by_channel = [
        _factor(values[:, place] - zero[place], (MOST_PLAIN if place in plain else MOST) / room)
        for place in range(channels)
    ]
    alike = [_least(place, by_channel, extraction) for place in range(channels)]
    if all(factor == 1 for factor in alike):
        return extraction
    return dataclasses.replace(extraction, scale=tuple(alike), scale_chosen=True)


def _least(place: int, factors: list[float], extraction: Extraction) -> float:
    """Return the least factor of a channel and its sensor's other axes: they stay comparable."""
    names = extraction.channels
    axes = [at for at, name in enumerate(names) if at == place or are_axes(names[place], name)]
    return min((factors[at] for at in axes if factors[at] != 1), default=1.0)


def _factor(column: NDArray[np.float64], most: float) -> float:
    """Return the least power of ten that makes a channel's values whole, 1 if they are.

    If no such factor keeps the values within `most`, return the largest power of two that does.
    """
    known = column[np.isfinite(column)]
    if (known == np.rint(known)).all():
        return 1.0
    room = most / float(np.abs(known).max())
    for digits in range(1, _DIGITS + 1):
        factor = 10.0**digits
        if factor > room:
            break
        scaled = known * factor
        if (np.abs(scaled - np.rint(scaled)) <= 1e-9 * np.abs(scaled)).all():
            return factor
    return 2.0 ** math.floor(math.log2(room))


def fitting(value: float, most: int) -> float:
    """Return the power of two that scales a number to a reading, with room for larger ones."""
    return 2.0 ** math.floor(math.log2(most / (_ROOM * abs(value))))


def scaled(values: NDArray[np.float64], extraction: Extraction) -> NDArray[np.float64]:
    """Return the recording's values as readings: multiplied, and rounded if multiplied."""
    if not extraction.scale:
        return values
    factors = np.array(extraction.scale)
    result: NDArray[np.float64] = values * factors
    result[:, factors != 1] = np.rint(result[:, factors != 1])
    return result

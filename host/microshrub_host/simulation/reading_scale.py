"""Factors that make whole numbers of 16 bits of a recording's decimals, one for each channel."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..streams.stream import Extraction
from .feature_options import FeatureOptions, are_axes

MOST, MOST_PLAIN = 1 << 15, 1 << 29  # beyond which no reading is
_ROOM = 2  # times as much as was recorded may come
ROOM_AT_FIRST = 8  # where no more than the first window of a recording is known
_DIGITS = 6


def with_scale(
    extraction: Extraction,
    values: NDArray[np.float64],
    options: FeatureOptions,
    room: float = _ROOM,
) -> Extraction:
    """The same with the factors that the options have, or else that suit the recording, with room
    for numbers that are so many times as large.

    Channels of whole numbers keep theirs. Raises UserError.
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
    """That of a channel, or a smaller one of another axis of its sensor: they stay comparable."""
    names = extraction.channels
    axes = [at for at, name in enumerate(names) if at == place or are_axes(names[place], name)]
    return min((factors[at] for at in axes if factors[at] != 1), default=1.0)


def _factor(column: NDArray[np.float64], most: float) -> float:
    """The power of ten that makes whole numbers of a channel if they fit, else of two."""
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
    """The power of two that makes a reading of a number, and leaves it room."""
    return 2.0 ** math.floor(math.log2(most / (_ROOM * abs(value))))


def scaled(values: NDArray[np.float64], extraction: Extraction) -> NDArray[np.float64]:
    """The recording's values as readings: multiplied, and rounded where they were."""
    if not extraction.scale:
        return values
    factors = np.array(extraction.scale)
    result: NDArray[np.float64] = values * factors
    result[:, factors != 1] = np.rint(result[:, factors != 1])
    return result

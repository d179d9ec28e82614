"""The defaults of --features: a window, a hop and bands that suit the sample rate.

Filters have their cut-offs in hertz here; design() converts these to the integers that firmware's
feature_extractor.py takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WINDOWS = (32, 64, 128, 256, 512)  # windows that can have bands
MOST_READINGS = 1024  # in a window, and from one sample to the next
_USUAL = 64  # readings of a default window, at least
_SECONDS = 0.75  # seconds of a default window, if that is more readings
_SLOW = 30  # readings a second, below which a default window is twice as long
_BANDS = 8
_BUSY = 0.5  # share of the time between two samples, at most
_OVERLAP = 4  # samples that share a reading, if the board is fast enough


@dataclass(frozen=True)
class Work:
    """The contents of a sample."""

    channels: int
    window: int
    statistics: bool
    bands: bool
    features: int  # in the sample
    turns: int = 0  # turns of pairs of channels, at each lag


# Microseconds for a reading, and for a sample with its learning
Time = Callable[[Work], tuple[float, float]]


@dataclass(frozen=True)
class Place:
    """The sensor and the board that features are extracted on, as far as known."""

    rate: float | None = None  # readings a second
    channels: Sequence[str] = ()  # names of a reading's values; if empty, one is assumed
    time: Time | None = None  # time that the board takes
    about: float | None = None  # approximate rate, too imprecise for frequencies in hertz
    readings: int = 0  # in each recording, if all have the same number


def window_for(rate: float | None) -> int:
    """Return the power of two nearest to three quarters of a second, 64 to 512.

    Below 30 readings a second it is 128, and 64 if the rate is not known.
    """
    if rate is None:
        return _USUAL
    if rate < _SLOW:
        return 2 * _USUAL
    wanted = 1 << round(math.log2(rate * _SECONDS))
    return min(max(wanted, _USUAL), WINDOWS[-1])


def window_of(readings: int) -> int:
    """Return the longest window with bands within that many readings, or else all of these."""
    return max((window for window in WINDOWS if window <= readings), default=readings)


def hop_for(work: Work, rate: float | None, time: Time | None) -> int:
    """Return a quarter of the window, doubled until the board has the time for a sample."""
    hop = max(work.window // _OVERLAP, 1)
    if rate is None or time is None:
        return hop
    reading, sample = time(work)
    while hop < MOST_READINGS and hop * reading + sample > _BUSY * hop * 1e6 / rate:
        hop = min(2 * hop, MOST_READINGS)
    return hop


def band_edges(window: int, most: int) -> list[tuple[int, int]]:
    """Return the first and last frequency of up to 8 bands, each wider than the one before.

    The unit is rate / window; the bands reach from the lowest frequency to half the rate. There
    are at most `most` bands.
    """
    half, count = window // 2, min(_BANDS, most)
    edges = [1]
    for k in range(1, count):
        edges.append(max(edges[-1] + 1, round(half ** (k / count))))
    return [(low, high - 1) for low, high in zip(edges, [*edges[1:], half + 1], strict=True)]


def turn_lags(window: int) -> list[int]:
    """Return the lags of turns: a reading, a 32nd and a 16th of the window, but at least 2 and 4.

    Short lags detect a quick circle, long lags a slow and noisy one.
    """
    lags = (1, max(window // 32, 2), max(window // 16, 4))
    return [lag for lag in lags if 2 * lag <= window]


Design = list[list[int]]  # mantissa and shift of each coefficient

_MOST = 32767
_BITS = 15
_MOST_SHIFT = 14
LOWEST, HIGHEST = 1 / 2000, 0.4  # cut-offs, as shares of the rate


def design(cut_off: float, rate: float) -> Design:
    """Return the coefficients of a second-order Butterworth filter, see feature_extractor.py."""
    g = math.tan(math.pi * cut_off / rate)
    divisor = 1 + g * (g + math.sqrt(2))
    return [_parts(1 - 1 / divisor), _parts(g / divisor), _parts(g * g / divisor)]


def _parts(value: float) -> list[int]:
    """Return mantissa and shift with value = mantissa / 2**(15 + shift), 0 < value < 1."""
    shift = min(max(-math.frexp(value)[1], 0), _MOST_SHIFT)
    return [min(round(math.ldexp(value, _BITS + shift)), _MOST), shift]

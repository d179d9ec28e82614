"""The integers of firmware's filters, of a cut-off in hertz."""

from __future__ import annotations

import math

Design = list[list[int]]  # mantissa and shift of each coefficient

_MOST = 32767
_BITS = 15
_MOST_SHIFT = 14
LOWEST, HIGHEST = 1 / 2000, 0.4  # cut-offs, as parts of the rate


def design(cut_off: float, rate: float) -> Design:
    """The coefficients of Butterworth's filter of second order, see firmware's filters.py."""
    g = math.tan(math.pi * cut_off / rate)
    divisor = 1 + g * (g + math.sqrt(2))
    return [_parts(1 - 1 / divisor), _parts(g / divisor), _parts(g * g / divisor)]


def _parts(value: float) -> list[int]:
    """Mantissa and shift with value = mantissa / 2**(15 + shift), 0 < value < 1."""
    shift = min(max(-math.frexp(value)[1], 0), _MOST_SHIFT)
    return [min(round(math.ldexp(value, _BITS + shift)), _MOST), shift]

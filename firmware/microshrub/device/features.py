"""Statistics of the last readings of a sensor with several axes, in integers.

Of each axis: mean, standard deviation, minimum, maximum, how often the signal crosses its mean,
and energy, the mean of the squares in 1/4; form and mobility are in outline.py. Values are of 16
bits with a sign, and so all statistics are within the raw values of a quantizer, -2**29 +
1..2**29 - 1. Nothing is allocated.
"""

import micropython
from micropython import const

from ..fixed import square_root

STATISTICS = 8  # mean, deviation, minimum, maximum, crossings, energy, form, mobility
ENERGY = 5  # places
FORM = 6

_LIMIT = const(32767)
_LOW = const(1023)
MOST_ROWS = 1024


@micropython.viper
def mean_square(ring, rows: int, axes: int, axis: int, middle: int, shift: int) -> int:
    """The mean of ((v - middle) >> shift)**2, each of which has to be at most 32768**2.

    The sum is kept in two words: rows * 2**20 <= 2**30, and rows * 2**10 <= 2**20.
    """
    values = ptr16(ring)
    high = 0
    low = 0
    for _ in range(rows):
        d = values[axis]
        if d > _LIMIT:
            d -= 65536
        d = (d - middle) >> shift
        d = d * d
        high += d >> 10
        low += d & _LOW
        axis += axes
    return (high // rows << 10) + ((high % rows << 10) + low) // rows


@micropython.viper
def energy(ring, rows: int, axes: int, axis: int) -> int:
    """The mean of the squares in 1/4."""
    return int(mean_square(ring, rows, axes, axis, 0, 0)) >> 2


@micropython.viper
def summarize(ring, rows: int, first: int, axes: int, axis: int, found):
    """Write mean, deviation, minimum, maximum and crossings of an axis to found, array('i').

    ring is array('H') of rows * axes values, the oldest row is `first`; rows is 1..1024.
    """
    target = ptr32(found)
    values = ptr16(ring)
    total = 0
    least = _LIMIT
    most = 0 - _LIMIT - 1
    k = axis
    for _ in range(rows):
        v = values[k]
        if v > _LIMIT:
            v -= 65536
        k += axes
        total += v  # |total| <= 2**25
        if v < least:
            least = v
        if v > most:
            most = v
    mean = total // rows
    shift = 0
    if most - mean > _LIMIT or mean - least > _LIMIT:
        shift = 1
    square = int(mean_square(ring, rows, axes, axis, mean, shift))
    if square >= 1073741823:  # 2**30 - 1, which square_root() takes at most
        square = 1073741823
    crossings = 0
    before = 0
    row = first
    for _ in range(rows):
        d = values[row * axes + axis]
        if d > _LIMIT:
            d -= 65536
        d -= mean
        sign = 0
        if d > 0:
            sign = 1
        elif d < 0:
            sign = 0 - 1
        if sign:
            if sign + before == 0:
                crossings += 1
            before = sign
        row += 1
        if row == rows:
            row = 0
    target[0] = mean
    target[1] = int(square_root(square)) << shift
    target[2] = least
    target[3] = most
    target[4] = crossings

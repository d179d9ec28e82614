"""Statistics of the last readings of a sensor with several axes, in integers.

Of each axis: mean, standard deviation, minimum, maximum, how often the signal crosses its mean,
and energy, the mean of the squares in 1/4; then two that tell what a signal looks like, however
loud it is. Each is 256 * log2 of a ratio of energies, so 256 is a factor of two, or 3 dB:

    form      the variance over the square of the mean distance from the mean: twice the logarithm
              of what engineers call the form factor. A square wave has 0, a sine 78, noise 167.
    mobility  the variance of the steps from one reading to the next over the variance (Hjorth: EEG
              analysis based on time domain properties, 1970; his mobility is the root of it). The
              slower a signal, the further below 0; noise has 256.

Values are of 16 bits with a sign, and so all statistics are within the raw values of a quantizer,
-2**29 + 1..2**29 - 1. Nothing is allocated.
"""

import micropython
from micropython import const

from ..fixed import log2, square_root

STATISTICS = 8  # mean, deviation, minimum, maximum, crossings, energy, form, mobility
ENERGY = 5  # places
FORM = 6
_LEAST = const(2)
_MOST = const(3)
_FORM = const(6)
_MOBILITY = const(7)

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


@micropython.viper
def outline(ring, rows: int, first: int, axes: int, axis: int, found):
    """Write form and mobility; found has what summarize() found. rows is 2..1024.

    A constant has 0 of both.
    """
    target = ptr32(found)
    values = ptr16(ring)
    mean = target[0]
    shift = 1 if target[_MOST] - target[_LEAST] > _LIMIT else 0
    away = 0  # distances from the mean: each at most 2**15, so all together 2**25
    above = 0  # their squares: each at most 2**30, in two words as in mean_square()
    below = 0
    steps_above = 0  # squares of the steps, likewise
    steps_below = 0
    k = first * axes + axis
    end = rows * axes
    before = values[k]
    if before > _LIMIT:
        before -= 65536
    for _ in range(rows):
        v = values[k]
        if v > _LIMIT:
            v -= 65536
        d = (v - mean) >> shift
        away += d if d > 0 else 0 - d
        d = d * d
        above += d >> 10
        below += d & _LOW
        d = (v - before) >> shift
        d = d * d
        steps_above += d >> 10
        steps_below += d & _LOW
        before = v
        k += axes
        if k >= end:
            k = axis
    target[_FORM] = 0
    target[_MOBILITY] = 0
    if away:
        samples = int(log2(rows))
        spread = int(log2_of(above, below))
        target[_FORM] = (spread + samples - (int(log2(away)) << 1)) >> 6
        steps = int(log2_of(steps_above, steps_below)) - int(log2(rows - 1))
        target[_MOBILITY] = (steps - spread + samples) >> 6


@micropython.viper
def log2_of(above: int, below: int) -> int:
    """log2 of above * 2**10 + below in Q14, for 0 <= above <= 2**30, 0 <= below <= 2**20.

    That of 1 for 0.
    """
    above += below >> 10
    below = below & _LOW
    if above < 524288:
        above = (above << 10) + below  # < 2**29
        return int(log2(above)) if above else 0
    if above > 1073741823:
        above = 1073741823
    return int(log2(above)) + 163840  # 10 in Q14

"""Statistics that tell what a signal looks like, however loud it is, in integers.

Each is 256 * log2 of a ratio of energies, so 256 is a factor of two, or 3 dB:

    form      the variance over the square of the mean distance from the mean: twice the logarithm
              of what engineers call the form factor. A square wave has 0, a sine 78, noise 167.
    mobility  the variance of the steps from one reading to the next over the variance (Hjorth: EEG
              analysis based on time domain properties, 1970; his mobility is the root of it). The
              slower a signal, the further below 0; noise has 256.

Nothing is allocated.
"""

import micropython
from micropython import const

from ..fixed import log2

_LIMIT = const(32767)
_LOW = const(1023)
_LEAST = const(2)  # places, as in features.py
_MOST = const(3)
_FORM = const(6)
_MOBILITY = const(7)


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

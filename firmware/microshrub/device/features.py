"""Statistics of the last readings of a sensor with several axes, in integers.

For each axis: mean, standard deviation, minimum, maximum, how often the signal crosses its mean,
energy, which is the mean of the squares in 1/4, and two statistics of its shape, which do not
depend on its amplitude. Values have 16 signed bits, so all statistics are within the raw values
of a quantizer, -2**29 + 1..2**29 - 1. Nothing is allocated.

Each statistic of the shape is 256 * log2 of a ratio of energies, so 256 is a factor of two, or
3 dB:

    form      the variance over the square of the mean distance from the mean: twice the logarithm
              of what engineers call the form factor. A square wave has 0, a sine 78, noise 167.
    mobility  the variance of the steps from one reading to the next over the variance (Hjorth: EEG
              analysis based on time domain properties, 1970; his mobility is the root of it). The
              slower a signal, the further below 0; noise has 256.

For two axes: their turn, the direction in which they rotate. It is the signed area of their curve:
circles to the left and to the right have the same statistics in every single axis, and differ in
the sign of the area that the two axes enclose together (Lévy's area, see Chevyrev, Kormilitzin: A
Primer on the Signature Method in Machine Learning, 2016, section 1.2.4). With a and b the
distances from the means of the window, and a lag:

    turn = sum(a[t - lag] * b[t] - b[t - lag] * a[t]) / sqrt(sum(a**2) * sum(b**2)) in 1/1024

It is within -2,048..2,048, however large the values are: 2,048 * sin(angle) for a circle on which
each reading is `angle` further than the one `lag` before, 0 for a line, and near 0 for noise. A
slow circle stands out from noise at a longer lag. If an axis does not move, it is 0.
"""

import micropython
from micropython import const

from ..fixed import log2, square_root

STATISTICS = 8  # mean, deviation, minimum, maximum, crossings, energy, form, mobility
ENERGY = 5  # places
FORM = 6

_LIMIT = const(32767)
_LOW = const(1023)
MOST_ROWS = 1024

_MINIMUM = const(2)  # places
_MAXIMUM = const(3)
_FORM = const(6)
_MOBILITY = const(7)

TURN_WORDS = 10  # work space to compute the turn of two axes in: five words each
_OTHER = const(5)  # where the words of the other axis begin
_MEAN = const(0)
_UP = const(1)  # how many bits distances are shifted to the left,
_DOWN = const(2)  # or to the right, so that they fit into 10 signed bits
_PART = const(3)  # the fractional part of the mean, in the unit of those distances
_AXIS = const(4)
_LEAST_SPAN = const(256)
_MOST_SPAN = const(512)


@micropython.viper
def mean_square(ring, rows: int, axes: int, axis: int, middle: int, shift: int) -> int:
    """Return the mean of ((v - middle) >> shift)**2; each square is at most 32768**2.

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
def summarize(ring, rows: int, first: int, axes: int, axis: int, statistics):
    """Write an axis's mean, deviation, minimum, maximum and crossings to statistics, array('i').

    ring is array('H') of rows * axes values, the oldest row is `first`; rows is 1..1024.
    """
    target = ptr32(statistics)
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
def outline(ring, rows: int, first: int, axes: int, axis: int, statistics):
    """Write form and mobility to statistics, which summarize() has filled; rows is 2..1024.

    For a constant, both are 0.
    """
    target = ptr32(statistics)
    values = ptr16(ring)
    mean = target[0]
    shift = 1 if target[_MAXIMUM] - target[_MINIMUM] > _LIMIT else 0
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
    """Return log2 of above * 2**10 + below in Q14; 0 <= above <= 2**30, 0 <= below <= 2**20.

    For 0, it is 0.
    """
    above += below >> 10
    below = below & _LOW
    if above < 524288:
        above = (above << 10) + below  # < 2**29
        return int(log2(above)) if above else 0
    if above > 1073741823:
        above = 1073741823
    return int(log2(above)) + 163840  # 10 in Q14


@micropython.viper
def centre(ring, rows: int, axes: int, axis: int, found, to: int):
    """Write an axis's mean, how its distances from it are shifted, and its place to found[to :].

    ring is array('H') of rows * axes values; rows is 1..1024. found is array('i') of TURN_WORDS,
    and to is 0 or TURN_WORDS // 2.
    """
    values = ptr16(ring)
    target = ptr32(found)
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
    span = mean - least + 1  # 1..2**16
    if most - mean > span:
        span = most - mean
    up = 0
    down = 0
    while span >= _MOST_SPAN:
        span = span >> 1
        down += 1
    while span < _LEAST_SPAN:
        span = span << 1
        up += 1
    target[to + _MEAN] = mean
    target[to + _UP] = up  # at most 8
    target[to + _DOWN] = down
    target[to + _PART] = 0 if down else ((total - mean * rows) << up) // rows  # < 2**18, 2**8
    target[to + _AXIS] = axis


@micropython.viper
def turn(ring, rows: int, first: int, axes: int, lag: int, found) -> int:
    """Return the turn of the two axes for which centre() filled found, see above.

    The oldest row of the ring is `first`; lag is 1..rows.
    """
    values = ptr16(ring)
    given = ptr32(found)
    squares = 0  # each at most 2**18, so all together 2**28
    others = 0
    area = 0  # two products of at most 2**18 each: all together 2**29
    one = given[_AXIS]
    other = given[_OTHER + _AXIS]
    end = rows * axes
    row = first * axes
    back = row - lag * axes  # the row of the readings `lag` before
    if back < 0:
        back += end
    for k in range(rows):
        a = values[row + one]
        if a > _LIMIT:
            a -= 65536
        a = ((a - given[_MEAN]) << given[_UP] >> given[_DOWN]) - given[_PART]  # |a| <= 512
        b = values[row + other]
        if b > _LIMIT:
            b -= 65536
        b = (b - given[_OTHER + _MEAN]) << given[_OTHER + _UP] >> given[_OTHER + _DOWN]
        b -= given[_OTHER + _PART]
        squares += a * a
        others += b * b
        if k >= lag:
            v = values[back + other]
            if v > _LIMIT:
                v -= 65536
            v = (v - given[_OTHER + _MEAN]) << given[_OTHER + _UP] >> given[_OTHER + _DOWN]
            area -= (v - given[_OTHER + _PART]) * a
            v = values[back + one]
            if v > _LIMIT:
                v -= 65536
            v = (v - given[_MEAN]) << given[_UP] >> given[_DOWN]
            area += (v - given[_PART]) * b
        row += axes
        if row == end:
            row = 0
        back += axes
        if back == end:
            back = 0
    unit = int(square_root(squares)) * int(square_root(others)) >> 10  # 2**14 * 2**14
    return area // unit if unit else 0

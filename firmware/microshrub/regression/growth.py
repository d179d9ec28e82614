"""How a shrub for numbers grows: the splits with the least squared error, and the leaves' means.

A step of growth is one of three, as for classes (thicket/tree_growth.py): choose the leaf whose
targets are farthest from their mean in all, try a feature for it, or split it. To try a feature,
the leaf's samples are counted, and their targets added up, in at most 16 bins of equal width
between its least and greatest code; the bins' borders are the possible splits. The best one lowers
the squared error most. With D the sum, over the samples on the left, of target - mean, it lowers
it by

    D**2 / left + D**2 / right

The buffers are those of shrubs.py.
"""

import micropython
from micropython import const

from ..thicket.trees import begin, choose, divide, draw, is_over, span
from .weights import enter

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_RING_CODES = const(1)
_RING_LABELS = const(2)
_GROVE_STATE = const(3)
_GROVE_LOWER = const(4)
_GROVE_MEANS = const(8)
_SPROUT_STATE = const(9)
_SPROUT_LINE = const(10)
_SPROUT_BEGIN = const(11)
_SPROUT_END = const(12)
_SPROUT_IMPURITY = const(14)
_SPROUT_SUMS = const(15)
_SHRUBS_STATE = const(22)
_GROVE_OF_REST = const(23)
_REST_UPPER = const(24)
_REST_LOWER = const(25)
# regression/shrubs.py
_V_WITH_REST = const(5)
_V_OF_REST = const(6)
# thicket/sample_ring.py
_R_FEATURES = const(1)
# thicket/trees.py
_S_SLOT = const(0)
_S_GROWING = const(1)
_S_MOST = const(2)
_S_WANTED = const(3)
_S_LEAF = const(5)
_G_PACE = const(6)
_S_DRAWN = const(6)
_S_TRIED = const(7)
_S_MERIT = const(8)
_S_BY = const(9)
_S_AT = const(10)
# (end)

_BINS = const(16)
BINS = _BINS
_TRIAL = const(144)  # visits that the bins of a trial are worth


@micropython.viper
def measure(t, leaf: int):
    """The mean of a leaf's targets, which it predicts, and how far they are from it in all."""
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    upper = ptr8(address[_RING_LABELS])
    lower = ptr8(address[_GROVE_LOWER])
    if ptr8(address[_GROVE_OF_REST])[sprout[_S_SLOT]]:
        upper = ptr8(address[_REST_UPPER])
        lower = ptr8(address[_REST_LOWER])
    line = ptr16(address[_SPROUT_LINE])
    begin_at = ptr16(address[_SPROUT_BEGIN])[leaf]
    end = ptr16(address[_SPROUT_END])[leaf]
    samples = end - begin_at
    total = samples >> 1  # < 2**11 * 2**16
    for i in range(begin_at, end):
        b = line[i]
        total += (upper[b] << 8) + lower[b]
    mean = total // samples
    ptr16(address[_GROVE_MEANS])[sprout[_S_SLOT] * sprout[_S_MOST] + leaf] = mean
    apart = 0  # < 2**27
    for i in range(begin_at, end):
        b = line[i]
        away = (upper[b] << 8) + lower[b] - mean
        apart += away if away > 0 else 0 - away
    ptr32(address[_SPROUT_IMPURITY])[leaf] = apart


@micropython.viper
def advance(t) -> int:
    """Take the next step of growth; returns about how many visits to samples it took."""
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    leaf = sprout[_S_LEAF]
    if leaf == sprout[_S_MOST]:
        return int(choose(t))
    samples = ptr16(address[_SPROUT_END])[leaf] - ptr16(address[_SPROUT_BEGIN])[leaf]
    if (
        sprout[_S_DRAWN] < ptr32(address[_RING_SHAPE])[_R_FEATURES]
        and sprout[_S_TRIED] < sprout[_S_WANTED]
    ):
        return samples + int(attempt(t, leaf, samples))
    other = int(divide(0, 0, t, leaf))
    if not other:
        return 1
    measure(t, leaf)
    measure(t, other)
    return 2 * samples


@micropython.viper
def attempt(t, leaf: int, samples: int) -> int:
    """Look for a better split on a feature that was not tried yet; returns the further visits."""
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    feature = int(draw(t))
    high = int(span(0, 0, t, feature))
    low = high >> 8
    high = high & 255
    if low == high:
        return 0
    sprout[_S_TRIED] = sprout[_S_TRIED] + 1
    width = 0
    while (high - low) >> width >= _BINS:
        width += 1
    add_up(0, 0, 0, t, feature, low, width)
    compare(t, leaf, samples, feature, low, width)
    return samples + _TRIAL


@micropython.viper
def add_up(i: int, b: int, k: int, t, feature: int, low: int, width: int):
    """Count the leaf's samples, and add up their targets, in each bin of 2**width codes.

    i, b and k are 0: viper keeps three arguments in registers.
    """
    address = ptr32(t)
    leaf = ptr32(address[_SPROUT_STATE])[_S_LEAF]
    codes = ptr8(address[_RING_CODES])
    upper = ptr8(address[_RING_LABELS])
    lower = ptr8(address[_GROVE_LOWER])
    if ptr8(address[_GROVE_OF_REST])[ptr32(address[_SPROUT_STATE])[_S_SLOT]]:
        upper = ptr8(address[_REST_UPPER])
        lower = ptr8(address[_REST_LOWER])
    line = ptr16(address[_SPROUT_LINE])
    sums = ptr32(address[_SPROUT_SUMS])
    features = ptr32(address[_RING_SHAPE])[_R_FEATURES]
    end = ptr16(address[_SPROUT_END])[leaf]
    for k in range(2 * _BINS):
        sums[k] = 0
    i = ptr16(address[_SPROUT_BEGIN])[leaf]
    while i < end:
        b = line[i]
        k = (codes[b * features + feature] - low) >> width
        sums[k] = sums[k] + 1
        k += _BINS
        sums[k] = sums[k] + (upper[b] << 8) + lower[b]  # < 2**11 * 2**16
        i += 1


@micropython.viper
def compare(t, leaf: int, samples: int, feature: int, low: int, width: int):
    """Is a border between two bins the best split so far? Of equal ones, the first is."""
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    sums = ptr32(address[_SPROUT_SUMS])
    total = 0
    for k in range(_BINS, 2 * _BINS):
        total += sums[k]  # < 2**27
    mean = (total << 2) // samples  # in quarters
    # |D| is at most half of what the targets are apart in all, and a rounding for each sample:
    # in quarters below 2 * apart + samples; shifted by so much, it is at most 2**14
    most = 2 * ptr32(address[_SPROUT_IMPURITY])[leaf] + samples  # < 2**29
    down = 0
    while most >> down > 16383:
        down += 1
    left = 0
    d = 0
    for border in range(1, _BINS):
        n = sums[border - 1]
        if n:
            left += n
            d += (sums[border - 1 + _BINS] << 2) - n * mean  # each < 2**11 * 2**18
            right = samples - left
            if right:
                x = d >> down
                x = x if x < 16384 else 16384  # in a state that was altered, it may be more
                x = x if x > -16384 else -16384
                square = x * x  # <= 2**28
                merit = square // left + square // right  # <= 2**29
                if merit > sprout[_S_MERIT]:
                    sprout[_S_MERIT] = merit
                    sprout[_S_BY] = feature
                    sprout[_S_AT] = low + (border << width) - 1


@micropython.viper
def tend(t):
    """Let the shrub grow for a while; when it is done, or time is up, let it predict."""
    address = ptr32(t)
    stage = int(begin(t))
    if not stage:
        return
    sprout = ptr32(address[_SPROUT_STATE])
    if stage == 2:
        # every second shrub grows on the rests, if there are any
        state = ptr32(address[_SHRUBS_STATE])
        state[_V_OF_REST] = state[_V_WITH_REST] - state[_V_OF_REST]
        ptr8(address[_GROVE_OF_REST])[sprout[_S_SLOT]] = state[_V_OF_REST]
        measure(t, 0)
    visits = ptr32(address[_GROVE_STATE])[_G_PACE]
    while visits > 0 and sprout[_S_GROWING]:
        visits -= int(advance(t))
    if int(is_over(t)):
        enter(t)

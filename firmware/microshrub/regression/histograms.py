"""Statistics of a HoeffdingRegressor's learning leaves: histograms of codes with target sums.

A slot holds the statistics of one leaf: for each feature, bins that are 2**width codes wide, the
first of which begins at base << width. A code outside of them makes the bins of that feature as
much wider as they have to be. So the bins fit the codes that reach the leaf, wherever these are.

A slot holds at most 16384 samples, so that sums of targets stay below 2**30; then all its counts
are halved. The buffers are described in hoeffding.py.
"""

import micropython
from micropython import const

from ..fixed import square_root

# From elsewhere, written by `make constants`:
# places of buffers
_NODE_STATE = const(0)
_SLOT_HELD = const(11)
_SLOT_BASE = const(12)
_SLOT_WIDTH = const(13)
_SLOT_COUNT = const(14)
_SLOT_SUM = const(15)
_SLOT_OLD = const(16)
_SPLIT_FOUND = const(17)
# regression/hoeffding.py
_H_FEATURES = const(0)
_H_BINS = const(1)
# (end)

_F_FULL = const(16384)
_FEWEST = const(5)  # samples on either side of a split

# the results of rate(), 'i' of _F_WORDS
_F_BEST = const(0)  # merit of the best split, 0 if there is none
_F_SECOND = const(1)  # that of the best one of another feature
_F_FEATURE = const(2)
_F_BIN = const(3)  # the last bin that goes left
_F_WORDS = const(4)


@micropython.viper
def clear(t, slot: int):
    """Nothing counted."""
    address = ptr32(t)
    state = ptr32(address[_NODE_STATE])
    count = ptr16(address[_SLOT_COUNT])
    total = ptr32(address[_SLOT_SUM])
    ptr16(address[_SLOT_HELD])[slot] = 0
    size = state[_H_FEATURES] * state[_H_BINS]
    for k in range(slot * size, (slot + 1) * size):
        count[k] = 0
        total[k] = 0


@micropython.viper
def observe(t, slot: int, rows, at: int, target: int):
    """Count the sample at rows[at]."""
    address = ptr32(t)
    state = ptr32(address[_NODE_STATE])
    held = ptr16(address[_SLOT_HELD])
    base = ptr16(address[_SLOT_BASE])
    width = ptr8(address[_SLOT_WIDTH])
    count = ptr16(address[_SLOT_COUNT])
    total = ptr32(address[_SLOT_SUM])
    x = ptr16(rows)
    features = state[_H_FEATURES]
    bins = state[_H_BINS]
    if held[slot] == _F_FULL:
        halve(t, slot)
    for f in range(features):
        k = slot * features + f
        j = (x[at + f] >> width[k]) - base[k]
        if j < 0 or j >= bins or not held[slot]:
            j = int(widen(t, k, x[at + f]))
        j += k * bins
        count[j] = count[j] + 1
        total[j] = total[j] + target  # <= 2**14 * 65535 < 2**30
    held[slot] = held[slot] + 1


@micropython.viper
def widen(t, k: int, code: int) -> int:
    """Let the bins of a slot's feature hold a code, too, as narrow as can be; returns its bin.

    k is slot * features + feature.
    """
    address = ptr32(t)
    bins = ptr32(address[_NODE_STATE])[_H_BINS]
    base = ptr16(address[_SLOT_BASE])
    width = ptr8(address[_SLOT_WIDTH])
    count = ptr16(address[_SLOT_COUNT])
    total = ptr32(address[_SLOT_SUM])
    old = ptr32(address[_SLOT_OLD])
    first = -1
    last = -1
    for j in range(bins):
        old[j] = count[k * bins + j]
        old[bins + j] = total[k * bins + j]
        count[k * bins + j] = 0
        total[k * bins + j] = 0
        if old[j]:
            last = base[k] + j
            if first < 0:
                first = last
    if first < 0:
        width[k] = 0
        base[k] = code
        return 0
    here = code >> width[k]
    if here < first:
        first = here
    if here > last:
        last = here
    wider = 0
    while (last >> wider) - (first >> wider) >= bins:
        wider += 1
    first = first >> wider
    for j in range(bins):
        if old[j]:
            to = k * bins + ((base[k] + j) >> wider) - first
            count[to] = count[to] + old[j]
            total[to] = total[to] + old[bins + j]
    width[k] = width[k] + wider
    base[k] = first
    return (here >> wider) - first


@micropython.viper
def halve(t, slot: int):
    """Halve all counts of a slot; the mean target of each bin stays the same."""
    address = ptr32(t)
    state = ptr32(address[_NODE_STATE])
    held = ptr16(address[_SLOT_HELD])
    count = ptr16(address[_SLOT_COUNT])
    total = ptr32(address[_SLOT_SUM])
    size = state[_H_FEATURES] * state[_H_BINS]
    held[slot] = held[slot] >> 1
    for k in range(slot * size, (slot + 1) * size):
        n = count[k]
        if n:
            half = n >> 1
            total[k] = total[k] // n * half + total[k] % n * half // n  # < 2**14 * 2**13
            count[k] = half


@micropython.viper
def rate(t, slot: int):
    """Find the best split of a slot's samples, and the merit of the best split by another feature.

    The merit is the square root of the reduction of variance.
    """
    address = ptr32(t)
    state = ptr32(address[_NODE_STATE])
    best_split = ptr32(address[_SPLIT_FOUND])
    count = ptr16(address[_SLOT_COUNT])
    total = ptr32(address[_SLOT_SUM])
    features = state[_H_FEATURES]
    bins = state[_H_BINS]
    best_split[_F_BEST] = 0
    best_split[_F_SECOND] = 0
    for f in range(features):
        at = (slot * features + f) * bins
        right = 0
        above = 0
        for k in range(at, at + bins):
            right += count[k]
            above += total[k]
        left = 0
        below = 0
        most = 0
        last = 0
        for j in range(bins):
            n = count[at + j]
            left += n
            right -= n
            below += total[at + j]
            above -= total[at + j]
            if n and left >= _FEWEST and right >= _FEWEST:
                gain = int(merit(left, below, right, above))
                if gain > most:
                    most = gain
                    last = j
        if most > best_split[_F_BEST]:
            best_split[_F_SECOND] = best_split[_F_BEST]
            best_split[_F_BEST] = most
            best_split[_F_FEATURE] = f
            best_split[_F_BIN] = last
        elif most > best_split[_F_SECOND]:
            best_split[_F_SECOND] = most


@micropython.viper
def merit(left: int, below: int, right: int, above: int) -> int:
    """The square root of the reduction of variance, in 1/8192 of a code, below 2**29.

    It is |mean on the left - mean on the right| * sqrt(share of the left * share of the right);
    left and right are the samples on the two sides, at most 16384 in all, below and above the
    sums of their targets.
    """
    apart = (below // left - above // right) << 4  # in 1/16, < 2**20
    apart += (below % left << 4) // left - (above % right << 4) // right
    if apart < 0:
        apart = 0 - apart
    samples = left + right
    shares = (left << 14) // samples * ((right << 14) // samples)  # Q28, at most 1/4
    root = int(square_root(shares))  # Q14, <= 2**13
    if apart < 65536:
        return (apart * root) >> 5  # < 2**29
    return (apart >> 5) * root  # < 2**15 * 2**13

"""The statistics of learning leaves: per feature, a histogram of the codes that reach the leaf.

A slot holds the statistics of one leaf. Its histogram of feature f has equal bins over low..high,
the codes that the path of tests leaves open; each bin has a count for each class. So the candidate
thresholds are the borders of the bins, wherever the leaf is, and naive Bayes reads the same
counts.

Buffers, in this order, "observers.shape" and so on (S slots, T bins of all features together, d
features):

    shape   'i'  the integers below
    first   'H'  [d + 1] the bins of feature f are first[f]..first[f + 1] - 1
    low     'H'  [S * d] least and greatest code that reach the leaf
    high    'H'  [S * d]
    counts  'H'  [S * T * classes] counts[(s * T + bin) * classes + c]
    seen    'H'  [S * classes] samples of a class that the slot has counted
    prior   'H'  [S * classes] the same, and what the leaf's parent had counted on its side
    cells   'H'  [d] the bins that the sample last located falls into

When a leaf has counted 32768 samples, all its counts are halved, which keeps their ratios. With
`boosted`, each slot has a twin, whose counts are S slots further on and whose ranges are its own:
counts, seen and prior then have 2 * S slots.
"""

import micropython
from micropython import const

from ..fixed import n_log2

# From elsewhere, written by `make constants`:
# places of buffers
_TALLY = const(2)
_MERITS = const(3)
_USED = const(4)
_OBSERVERS_SHAPE = const(17)
_OBSERVERS_FIRST = const(18)
_OBSERVERS_LOW = const(19)
_OBSERVERS_HIGH = const(20)
_OBSERVERS_COUNTS = const(21)
_OBSERVERS_SEEN = const(22)
_OBSERVERS_PRIOR = const(23)
_OBSERVERS_CELLS = const(24)
# (end)

_O_FEATURES = const(0)
_O_CLASSES = const(1)
_O_BINS = const(2)  # T
_O_GINI = const(3)  # 1: Gini, 0: information gain
_WORDS = const(4)

_FULL = const(32768)

# the results of merits(), 'i' of _M_WORDS
_M_BEST = const(0)  # Q10 gain of the best split, 0 if there is none
_M_FEATURE = const(1)
_M_BIN = const(2)  # the last bin that goes left
_M_THRESHOLD = const(3)  # the greatest code that goes left
_M_SECOND = const(4)  # Q10 gain of the second best feature, at least 0, the gain of no split
_M_SAMPLES = const(5)
_M_CURRENT = const(6)  # Q10 gain of the split asked for
_M_WORDS = const(7)


def observers_table(features, classes, slots, bins, boosted):
    """The buffers of that many slots; bins has the number of bins of each feature."""
    all_slots = 2 * slots if boosted else slots
    return [
        ("observers.shape", "i", _WORDS),
        ("observers.first", "H", features + 1),
        ("observers.low", "H", slots * features),
        ("observers.high", "H", slots * features),
        ("observers.counts", "H", all_slots * sum(bins) * classes),
        ("observers.seen", "H", all_slots * classes),
        ("observers.prior", "H", all_slots * classes),
        ("observers.cells", "H", features),
    ]


def start_observers(b, features, classes, bins, gini):
    """Set up the slots; what they hold does not matter until one is opened.

    b are the learner's buffers.
    """
    shape, first = b[_OBSERVERS_SHAPE], b[_OBSERVERS_FIRST]
    shape[_O_FEATURES] = features
    shape[_O_CLASSES] = classes
    shape[_O_BINS] = sum(bins)
    shape[_O_GINI] = int(gini)
    for f in range(features):
        first[f + 1] = first[f] + bins[f]
        b[_OBSERVERS_HIGH][f] = 65535  # slot 0, the root's: every code can come


@micropython.viper
def clear_slot(t, slot: int):
    """Nothing counted; the ranges stay."""
    address = ptr32(t)
    shape = ptr32(address[_OBSERVERS_SHAPE])
    counts = ptr16(address[_OBSERVERS_COUNTS])
    seen = ptr16(address[_OBSERVERS_SEEN])
    prior = ptr16(address[_OBSERVERS_PRIOR])
    classes = shape[_O_CLASSES]
    cells = shape[_O_BINS] * classes
    for k in range(slot * cells, (slot + 1) * cells):
        counts[k] = 0
    for k in range(slot * classes, (slot + 1) * classes):
        seen[k] = 0
        prior[k] = 0


@micropython.viper
def locate(t, slot: int, rows, at: int):
    """Find the bins of a slot that the sample at rows[at] falls into; they go to cells."""
    address = ptr32(t)
    shape = ptr32(address[_OBSERVERS_SHAPE])
    first = ptr16(address[_OBSERVERS_FIRST])
    low = ptr16(address[_OBSERVERS_LOW])
    high = ptr16(address[_OBSERVERS_HIGH])
    cells = ptr16(address[_OBSERVERS_CELLS])
    x = ptr16(rows)
    features = shape[_O_FEATURES]
    for f in range(features):
        least = low[slot * features + f]
        # (code - low) * bins / (high - low + 1), < 2**16 * 2**8
        b = (x[at + f] - least) * (first[f + 1] - first[f])
        cells[f] = first[f] + b // (high[slot * features + f] - least + 1)


@micropython.viper
def observe(t, slot: int, label: int, weight: int) -> int:
    """Count the sample that was located last `weight` times; returns the slot's samples.

    At 32768, they are halved, with all counts; weight < 32768.
    """
    address = ptr32(t)
    shape = ptr32(address[_OBSERVERS_SHAPE])
    counts = ptr16(address[_OBSERVERS_COUNTS])
    seen = ptr16(address[_OBSERVERS_SEEN])
    prior = ptr16(address[_OBSERVERS_PRIOR])
    cells = ptr16(address[_OBSERVERS_CELLS])
    classes = shape[_O_CLASSES]
    bins = shape[_O_BINS]
    for f in range(shape[_O_FEATURES]):
        k = (slot * bins + cells[f]) * classes + label
        counts[k] = counts[k] + weight
    samples = 0
    kept = 0
    seen[slot * classes + label] = seen[slot * classes + label] + weight
    prior[slot * classes + label] = prior[slot * classes + label] + weight
    for k in range(slot * classes, (slot + 1) * classes):
        samples += seen[k]
        kept += prior[k]
    if kept >= _FULL:
        samples = 0
        for k in range(slot * bins * classes, (slot + 1) * bins * classes):
            counts[k] = counts[k] >> 1
        for k in range(slot * classes, (slot + 1) * classes):
            seen[k] = seen[k] >> 1
            prior[k] = prior[k] >> 1
            samples += seen[k]
    return samples


@micropython.viper
def merits(n: int, y: int, x: int, t, slot: int, omega: int, current: int):
    """Find the best split of a slot's samples, and the gains of the second best and one other.

    The other one is the split after the bin `current`, 0..T - 1; the second best is of another
    feature than the best. The gain of a feature with used[f] = 0 is multiplied by omega / 256
    (Barddal and Enembreck 2019, equation 3).

    n, y and x are the innermost loop's; whatever is passed, viper has the first arguments, and no
    other variable, in registers.
    """
    address = ptr32(t)
    shape = ptr32(address[_OBSERVERS_SHAPE])
    first = ptr16(address[_OBSERVERS_FIRST])
    low = ptr16(address[_OBSERVERS_LOW])
    high = ptr16(address[_OBSERVERS_HIGH])
    counts = ptr16(address[_OBSERVERS_COUNTS])
    scratch = ptr32(address[_TALLY])
    out = ptr32(address[_MERITS])
    used = ptr16(address[_USED])
    features = shape[_O_FEATURES]
    classes = shape[_O_CLASSES]
    gini = shape[_O_GINI]
    sides = 2 * classes
    out[_M_BEST] = 0
    out[_M_SECOND] = 0
    out[_M_FEATURE] = 0
    out[_M_SAMPLES] = 0
    out[_M_CURRENT] = 0
    for f in range(features):
        begin = first[f]
        end = first[f + 1]
        cell = (slot * shape[_O_BINS] + begin) * classes
        samples = 0
        for c in range(classes):
            n = 0
            x = cell + c
            for _ in range(begin, end):
                n += counts[x]
                x += classes
            scratch[c] = 0  # left of the border
            scratch[classes + c] = n
            samples += n
        whole = 0
        gain = 0
        at = 0
        left = 0
        g = 0
        for b in range(end - begin):  # the border below bin b; with 0, all are on its right
            here = int(b == 0)
            if b:
                for c in range(classes):
                    n = counts[cell]
                    scratch[c] = scratch[c] + n
                    scratch[classes + c] = scratch[classes + c] - n
                    here += n
                    cell += 1
                left += here
            if here:  # else the split is the one before
                g = 0
                if left < samples:
                    if gini:
                        g = int(purity(t, 0, classes, left, gini))
                        g += int(purity(t, classes, classes, samples - left, gini))
                    else:  # purity() of both sides, in line: a call takes 200 instructions
                        for k in range(sides + 2):
                            if k < sides:
                                n = scratch[k]
                            else:
                                n = left if k == sides else samples - left
                            if n < 2:
                                continue
                            x = 8 if n >= 256 else 0  # as log2() of fixed.py
                            if n >> x > 15:
                                x += 4
                            if n >> x > 3:
                                x += 2
                            if n >> x > 1:
                                x += 1
                            top = x
                            x = (n << (15 - x)) - 32768
                            y = ((720 * x) >> 15) - 3110
                            y = ((y * x) >> 15) + 6743
                            y = ((y * x) >> 15) - 11588
                            y = ((y * x) >> 15) + 23619
                            y = (top << 14) + ((y * x) >> 15)
                            y = n * (y >> 4) + ((n * (y & 15)) >> 4)  # as n_log2()
                            if k < sides:
                                g += y
                            else:
                                g -= y
                    if b:
                        g -= whole  # <= 8 * 2**25
                    else:
                        whole = g
                        g = 0
                    if g >= (gain + 1) * samples:
                        gain = g // samples
                        at = b - 1
            if b and begin + b - 1 == current and g:
                out[_M_CURRENT] = g // samples
        if not used[f]:
            gain = (gain * omega) >> 8  # <= 8 * 2**10 * 2**8
        if gain > out[_M_BEST]:
            out[_M_SECOND] = out[_M_BEST]
            out[_M_BEST] = gain
            out[_M_FEATURE] = f
            out[_M_BIN] = at
            least = low[slot * features + f]
            span = high[slot * features + f] - least + 1
            # the greatest code whose bin is at most `at`
            out[_M_THRESHOLD] = least + ((at + 1) * span - 1) // (end - begin)
        elif gain > out[_M_SECOND]:
            out[_M_SECOND] = gain
        if samples > out[_M_SAMPLES]:
            out[_M_SAMPLES] = samples


@micropython.viper
def purity(t, begin: int, classes: int, samples: int, gini: int) -> int:
    """Q10: samples times minus the entropy, or times the chance that two have one class.

    tally[begin], 'i', and on has the counts of the classes, `samples` <= 32768 in all. Between 0
    and -8 * 2**25 for the entropy (-n log2 n + sum n_c log2 n_c), 0 and 2**25 for Gini.
    """
    address = ptr32(t)
    counts = ptr32(address[_TALLY])
    result = 0
    if gini:
        squares = 0
        for c in range(begin, begin + classes):
            squares += counts[c] * counts[c]  # sums to at most 2**30
        if samples:
            result = (squares // samples << 10) + ((squares % samples) << 10) // samples
    else:
        result = 0 - int(n_log2(samples))
        for c in range(begin, begin + classes):
            result += int(n_log2(counts[c]))
    return result

"""What learning leaves count: per feature a histogram over the codes that can reach the leaf.

A slot holds the statistics of one leaf. Its histogram of feature f has equal bins over low..high,
the codes that the path of tests leaves open; each bin has a count for each class. So the candidate
thresholds are the borders of the bins, wherever the leaf is, and naive Bayes reads the same
counts.

Buffers (a tuple, in this order; S slots, T bins of all features together, d features):

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

_FEATURES = const(0)
_CLASSES = const(1)
_BINS = const(2)  # T
_GINI = const(3)  # 1: Gini, 0: information gain
_WORDS = const(4)
# 1..7: first, low, high, counts, seen, prior, cells

_FULL = const(32768)

# what merits() leaves behind, 'i' of MERIT_WORDS
_BEST = const(0)  # Q10 gain of the best split, 0 if there is none
_FEATURE = const(1)
_BIN = const(2)  # the last bin that goes left
_THRESHOLD = const(3)  # the greatest code that goes left
_SECOND = const(4)  # Q10 gain of the second best feature, at least 0, the gain of no split
_SAMPLES = const(5)
_CURRENT = const(6)  # Q10 gain of the split asked for
MERIT_WORDS = 7


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


def start_observers(o, features, classes, bins, gini):
    """Set up the slots; what they hold does not matter until one is opened."""
    shape, first = o[:2]
    shape[_FEATURES] = features
    shape[_CLASSES] = classes
    shape[_BINS] = sum(bins)
    shape[_GINI] = int(gini)
    for f in range(features):
        first[f + 1] = first[f] + bins[f]
        o[3][f] = 65535  # slot 0, the root's: every code can come


@micropython.viper
def clear_slot(o, slot: int):
    """Nothing counted; the ranges stay."""
    shape = ptr32(o[0])
    counts = ptr16(o[4])
    seen = ptr16(o[5])
    prior = ptr16(o[6])
    classes = shape[_CLASSES]
    cells = shape[_BINS] * classes
    for k in range(slot * cells, (slot + 1) * cells):
        counts[k] = 0
    for k in range(slot * classes, (slot + 1) * classes):
        seen[k] = 0
        prior[k] = 0


@micropython.viper
def locate(o, slot: int, rows, at: int):
    """Find the bins of a slot that the sample at rows[at] falls into; they go to cells."""
    shape = ptr32(o[0])
    first = ptr16(o[1])
    low = ptr16(o[2])
    high = ptr16(o[3])
    cells = ptr16(o[7])
    x = ptr16(rows)
    features = shape[_FEATURES]
    for f in range(features):
        least = low[slot * features + f]
        # (code - low) * bins / (high - low + 1), < 2**16 * 2**8
        b = (x[at + f] - least) * (first[f + 1] - first[f])
        cells[f] = first[f] + b // (high[slot * features + f] - least + 1)


@micropython.viper
def observe(o, slot: int, label: int, weight: int) -> int:
    """Count the sample last located `weight` times; returns how many samples the slot has.

    It has them halved, with all counts, at 32768; weight < 32768.
    """
    shape = ptr32(o[0])
    counts = ptr16(o[4])
    seen = ptr16(o[5])
    prior = ptr16(o[6])
    cells = ptr16(o[7])
    classes = shape[_CLASSES]
    bins = shape[_BINS]
    for f in range(shape[_FEATURES]):
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
def merits(o, slot: int, out: ptr32, tally, omega: int, used: ptr16, current: int):
    """Find the best split of a slot's samples, and the gains of the second best and one other.

    That is the split behind the bin `current`, 0..T - 1; the second best is of another feature.
    tally is scratch, 'i' of 2 * classes. The gain of a feature with used[f] = 0 counts omega / 256
    (Barddal and Enembreck 2019, equation 3).
    """
    shape = ptr32(o[0])
    first = ptr16(o[1])
    low = ptr16(o[2])
    high = ptr16(o[3])
    counts = ptr16(o[4])
    scratch = ptr32(tally)
    features = shape[_FEATURES]
    classes = shape[_CLASSES]
    gini = shape[_GINI]
    out[_BEST] = 0
    out[_SECOND] = 0
    out[_FEATURE] = 0
    out[_SAMPLES] = 0
    out[_CURRENT] = 0
    for f in range(features):
        begin = first[f]
        end = first[f + 1]
        cell = (slot * shape[_BINS] + begin) * classes
        samples = 0
        for c in range(classes):
            total = 0
            k = cell + c
            for _ in range(begin, end):
                total += counts[k]
                k += classes
            scratch[c] = 0  # left of the border
            scratch[classes + c] = total
            samples += total
        whole = int(purity(tally, classes, classes, samples, gini))
        gain = 0
        at = 0
        left = 0
        g = 0
        for b in range(end - begin - 1):
            here = 0
            for c in range(classes):
                n = counts[cell + b * classes + c]
                scratch[c] = scratch[c] + n
                scratch[classes + c] = scratch[classes + c] - n
                here += n
            left += here
            if here:  # else the split is the one before
                g = 0
                if left < samples:
                    g = int(purity(tally, 0, classes, left, gini))
                    g += int(purity(tally, classes, classes, samples - left, gini)) - whole
                    g = g // samples
                if g > gain:
                    gain = g
                    at = b
            if begin + b == current:
                out[_CURRENT] = g
        if not used[f]:
            gain = (gain * omega) >> 8  # <= 8 * 2**10 * 2**8
        if gain > out[_BEST]:
            out[_SECOND] = out[_BEST]
            out[_BEST] = gain
            out[_FEATURE] = f
            out[_BIN] = at
            least = low[slot * features + f]
            span = high[slot * features + f] - least + 1
            # the greatest code whose bin is at most `at`
            out[_THRESHOLD] = least + ((at + 1) * span - 1) // (end - begin)
        elif gain > out[_SECOND]:
            out[_SECOND] = gain
        if samples > out[_SAMPLES]:
            out[_SAMPLES] = samples


@micropython.viper
def purity(tally, begin: int, classes: int, samples: int, gini: int) -> int:
    """Q10: samples times minus the entropy, or times the chance that two have one class.

    tally[begin], 'i', and on has the counts of the classes, `samples` <= 32768 in all. Between 0
    and -8 * 2**25 for the entropy (-n log2 n + sum n_c log2 n_c), 0 and 2**25 for Gini.
    """
    counts = ptr32(tally)
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

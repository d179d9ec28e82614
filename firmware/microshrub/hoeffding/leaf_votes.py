"""How a learning leaf predicts: the majority class, or naive Bayes over the bins of its slot.

Votes add up to 65536 * 255 but for rounding, as all learners' do. The slots are those of
histograms.py.
"""

import micropython
from micropython import const

from ..fixed import exp_negative, log2

# From elsewhere, written by `make constants`:
# places of buffers
_VOTES = const(1)
_OBSERVERS_SHAPE = const(17)
_OBSERVERS_FIRST = const(18)
_OBSERVERS_COUNTS = const(21)
_OBSERVERS_SEEN = const(22)
_OBSERVERS_PRIOR = const(23)
_OBSERVERS_CELLS = const(24)
# hoeffding/histograms.py
_O_FEATURES = const(0)
_O_CLASSES = const(1)
_O_BINS = const(2)
# (end)


_LN2 = const(45426)  # Q16
_VOTE = const(1020)  # Q14 to votes: 255 * 65536 / 2**14
_NEVER = const(-536870912)


@micropython.viper
def majority(t, slot: int) -> int:
    """The most frequent class of a slot, the first of equals; votes are the class frequencies."""
    address = ptr32(t)
    prior = ptr16(address[_OBSERVERS_PRIOR])
    out = ptr32(address[_VOTES])
    classes = ptr32(address[_OBSERVERS_SHAPE])[_O_CLASSES]
    first = slot * classes
    total = 0
    best = 0
    for c in range(classes):
        total += prior[first + c]
        if prior[first + c] > prior[first + best]:
            best = c
    for c in range(classes):
        out[c] = 0
        if total:
            out[c] = (prior[first + c] << 14) // total * _VOTE  # < 2**30, <= 2**24
    return best


@micropython.viper
def naive_bayes(t, slot: int) -> int:
    """The class of the sample last located with the greatest posterior, the first of equals.

    Features are taken as independent given the class: log2 prior + sum over the features of
    log2((count + 1) / (seen + bins)), in Q14. The votes are the posteriors; a class that the leaf
    never had gets none.
    """
    address = ptr32(t)
    shape = ptr32(address[_OBSERVERS_SHAPE])
    first = ptr16(address[_OBSERVERS_FIRST])
    counts = ptr16(address[_OBSERVERS_COUNTS])
    seen = ptr16(address[_OBSERVERS_SEEN])
    prior = ptr16(address[_OBSERVERS_PRIOR])
    cells = ptr16(address[_OBSERVERS_CELLS])
    out = ptr32(address[_VOTES])
    classes = shape[_O_CLASSES]
    begin = slot * shape[_O_BINS] * classes
    for c in range(classes):
        score = _NEVER
        if prior[slot * classes + c]:
            score = int(log2(prior[slot * classes + c]))
            bins = 0
            whole = 0
            for f in range(shape[_O_FEATURES]):
                if first[f + 1] - first[f] != bins:
                    bins = first[f + 1] - first[f]
                    whole = int(log2(seen[slot * classes + c] + bins))
                # each feature takes at most 17 * 2**14, 256 of them 2**27
                score += int(log2(counts[begin + cells[f] * classes + c] + 1)) - whole
        out[c] = score
    best = 0
    for c in range(classes):
        if out[c] > out[best]:
            best = c
    return int(posterior(t, classes, best))


@micropython.viper
def posterior(t, classes: int, best: int) -> int:
    """Turn log2 scores in Q14 into votes; returns best."""
    address = ptr32(t)
    out = ptr32(address[_VOTES])
    top = out[best]
    total = 0
    for c in range(classes):
        d = top - out[c]
        if d >= 15 << 14:
            out[c] = 0
        else:
            # 2**-d = exp(-ln 2 * fraction) >> whole; the product is below 2**14 * 2**16
            out[c] = int(exp_negative(((d & 16383) * _LN2) >> 14)) >> (d >> 14)
            total += out[c]
    for c in range(classes):
        out[c] = (out[c] << 14) // total * _VOTE  # total >= 2**14
    return best

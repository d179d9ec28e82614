"""How a learning leaf predicts: the majority class, or naive Bayes over the bins of its slot.

Votes add up to 65536 * 255 but for rounding, as all learners' do. The slots o are those of
observers.py.
"""

import micropython
from micropython import const

from ..fixed import exp_negative, log2

_O_FEATURES = const(0)  # of the observers' shape
_O_CLASSES = const(1)
_O_BINS = const(2)

_LN2 = const(45426)  # Q16
_WHOLE = const(1020)  # Q14 to votes: 255 * 65536 / 2**14
_NEVER = const(-536870912)


@micropython.viper
def majority(o, slot: int, votes) -> int:
    """The most frequent class of a slot, the first of equals; votes are the class frequencies."""
    prior = ptr16(o[6])
    out = ptr32(votes)
    classes = ptr32(o[0])[_O_CLASSES]
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
            out[c] = (prior[first + c] << 14) // total * _WHOLE  # < 2**30, <= 2**24
    return best


@micropython.viper
def naive_bayes(o, slot: int, votes) -> int:
    """The class of the sample last located with the greatest posterior, the first of equals.

    Features are taken as independent given the class: log2 prior + sum over the features of
    log2((count + 1) / (seen + bins)), in Q14. The votes are the posteriors; a class that the leaf
    never had gets none.
    """
    shape = ptr32(o[0])
    first = ptr16(o[1])
    counts = ptr16(o[4])
    seen = ptr16(o[5])
    prior = ptr16(o[6])
    cells = ptr16(o[7])
    out = ptr32(votes)
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
    return int(posterior(votes, classes, best))


@micropython.viper
def posterior(votes, classes: int, best: int) -> int:
    """Turn log2 scores in Q14 into votes; returns best."""
    out = ptr32(votes)
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
        out[c] = (out[c] << 14) // total * _WHOLE  # total >= 2**14
    return best

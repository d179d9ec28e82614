"""What the trees of a grove say of a sample, and what its label says of them.

The buffers are those of grove.py.
"""

import micropython
from micropython import const

from ..fixed import below, exp_decay

_RING = const(0)  # of the table
_GROVE = const(3)
_VOTES = const(4)
_FEATURE = const(5)
_THRESHOLD = const(6)
_KIDS = const(7)
_LEAVES = const(8)
_SPROUT = const(9)
_RNG = const(17)
_PATH = const(18)
_ACCURACY = const(19)
_WEIGHT = const(20)

_USED = const(1)  # of the grove
_MOST = const(2)
_S_SLOT = const(0)  # of the sprout
_R_CLASSES = const(2)  # of the ring's shape

_ONE = const(1048576)  # an accuracy of 1, Q20
_MEMORY = const(8)  # log2 of the samples that an accuracy looks back over
_LEAF_RATE = const(8)  # in 1/256: how fast leaves go on learning


@micropython.viper
def descend(t, rows, at: int):
    """Which leaf the sample at rows[at] reaches in each tree that votes."""
    feature = ptr8(t[_FEATURE])
    threshold = ptr8(t[_THRESHOLD])
    kids = ptr8(t[_KIDS])
    path = ptr8(t[_PATH])
    x = ptr16(rows)
    inner = ptr32(t[_GROVE])[_MOST] - 1
    growing = ptr32(t[_SPROUT])[_S_SLOT]
    first = 0
    for s in range(ptr32(t[_GROVE])[_USED] + 1):
        if s != growing:
            n = 0
            while n < inner:
                k = first + n
                n = kids[2 * k + int((x[at + feature[k]] >> 8) > threshold[k])]
            path[s] = n - inner
        first += inner


@micropython.viper
def count_votes(t) -> int:
    """The trees' class frequencies, weighted; returns the class with the most votes."""
    grove = ptr32(t[_GROVE])
    votes = ptr32(t[_VOTES])
    leaves = ptr8(t[_LEAVES])
    path = ptr8(t[_PATH])
    weight = ptr32(t[_WEIGHT])
    last = ptr32(t[_RING])[_R_CLASSES] - 1
    growing = ptr32(t[_SPROUT])[_S_SLOT]
    for c in range(last + 1):
        votes[c] = 0
    total = 0
    k = 0
    for s in range(grove[_USED] + 1):
        if s != growing:
            w = weight[s]
            total += w  # <= 255 * 2**14 < 2**22
            at = (k + path[s]) * last  # < 256 * 128 * 255 < 2**23
            rest = 255 * w
            for c in range(last):
                vote = leaves[at + c] * w
                votes[c] = votes[c] + vote  # <= 255 * 255 * 2**14 < 2**30
                rest -= vote
            votes[last] = votes[last] + rest
        k += grove[_MOST]
    best = 0
    for c in range(last + 1):
        if total:  # >= 2**14 then, the best tree's weight
            votes[c] = votes[c] // (total >> 4) << 12  # about 255 * 16 * 2**12
        if votes[c] > votes[best]:
            best = c
    return best


@micropython.viper
def judge(t, label: int):
    """What a label says of each tree that voted: of its accuracy, and to the leaf that spoke."""
    grove = ptr32(t[_GROVE])
    leaves = ptr8(t[_LEAVES])
    path = ptr8(t[_PATH])
    accuracy = ptr32(t[_ACCURACY])
    last = ptr32(t[_RING])[_R_CLASSES] - 1
    growing = ptr32(t[_SPROUT])[_S_SLOT]
    dice = int(below(t[_RNG], 256))
    k = 0
    for s in range(grove[_USED] + 1):
        if s != growing:
            at = (k + path[s]) * last
            most = 0
            said = last
            rest = 255
            after = 255
            for c in range(last):
                share = leaves[at + c]
                rest -= share
                if share > most:
                    most = share
                    said = c
                # rounded up or down by chance, so that small changes are not lost: 0..255 again
                share += (((255 if c == label else 0) - share) * _LEAF_RATE + dice) >> 8
                leaves[at + c] = share
                after -= share
            if rest > most:
                said = last
            if after < 0:  # only the label's share has grown, and by more than is too much
                leaves[at + label] = leaves[at + label] + after
            right = _ONE if said == label else 0
            accuracy[s] = accuracy[s] + ((right - accuracy[s]) >> _MEMORY)
            dice = (dice + 97) & 255
        k += grove[_MOST]


@micropython.viper
def weigh(t):
    """The trees' weights from their accuracies."""
    accuracy = ptr32(t[_ACCURACY])
    weight = ptr32(t[_WEIGHT])
    growing = ptr32(t[_SPROUT])[_S_SLOT]
    slots = ptr32(t[_GROVE])[_USED] + 1
    top = 0
    for s in range(slots):
        if s != growing and accuracy[s] > top:
            top = accuracy[s]
    for s in range(slots):
        weight[s] = int(exp_decay((20 * (top - accuracy[s])) >> 4)) if s != growing else 0

"""What the trees of a grove say about a sample, and what its label says about them.

The buffers are those of grove.py.
"""

import micropython
from micropython import const

from ..fixed import below
from .decays import exp_decays

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_GROVE_STATE = const(3)
_GROVE_VOTES = const(4)
_GROVE_LEAVES = const(8)
_SPROUT_STATE = const(9)
_GROVE_RNG = const(17)
_GROVE_PATH = const(18)
_GROVE_ACCURACY = const(19)
_GROVE_WEIGHT = const(20)
_GROVE_GROWN = const(21)
_STORE_STATE = const(22)
# thicket/ring.py
_R_CLASSES = const(2)
# thicket/store.py
_W_LABEL = const(5)
_W_RUN = const(6)
_W_DOUBT = const(7)
# thicket/trees.py
_G_TREES = const(0)
_S_SLOT = const(0)
_G_USED = const(1)
_G_MOST = const(2)
_NARROW = const(128)
# (end)


_ONE = const(1048576)  # an accuracy of 1, Q20
_MEMORY = const(8)  # log2 of the samples that an accuracy looks back over
_NOTHING = const(1048576)  # exp_decay() of it is 0
_LEAF_RATE = const(8)  # in 1/256: how fast leaves go on learning


# Of the next two, c, at and share are 0: viper keeps the first arguments in registers. A loop that
# counts down to 0 takes a third of one over a range.


@micropython.viper
def count_votes(c: int, at: int, t) -> int:
    """The trees' class frequencies, weighted; returns the class with the most votes."""
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    votes = ptr32(address[_GROVE_VOTES])
    leaves = ptr8(address[_GROVE_LEAVES])
    path = ptr8(address[_GROVE_PATH])
    weight = ptr32(address[_GROVE_WEIGHT])
    last = ptr32(address[_RING_SHAPE])[_R_CLASSES] - 1
    growing = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    most_leaves = grove[_G_MOST]
    upper = 0
    if most_leaves > _NARROW:
        upper = grove[_G_TREES] + 1
    for c in range(last):
        votes[c] = 0
    total = 0
    s = grove[_G_USED] + 1
    k = s * most_leaves
    while s:
        s -= 1
        k -= most_leaves
        if s != growing:
            w = weight[s]
            total += w  # <= 255 * 2**14 < 2**22
            at = k + path[s]
            if upper:
                at += path[upper + s] << 8
            at *= last  # < 256 * 2**13 * 255 < 2**29
            c = last
            while c:
                c -= 1
                votes[c] = votes[c] + leaves[at + c] * w  # <= 255 * 255 * 2**14 < 2**30
    rest = 255 * total
    for c in range(last):
        rest -= votes[c]
    votes[last] = rest
    best = 0
    for c in range(last + 1):
        if total > 16:
            votes[c] = votes[c] // (total >> 4) << 12  # about 255 * 16 * 2**12
        if votes[c] > votes[best]:
            best = c
    return best


@micropython.viper
def judge(c: int, share: int, t, label: int):
    """What a label changes in each tree that voted: its accuracy, and the leaf it reached.

    After eight labels of a run, each counts the less, the longer the run is: otherwise the leaves
    would forget all other classes. Where the world has changed (change.py), they follow at once.
    """
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    leaves = ptr8(address[_GROVE_LEAVES])
    path = ptr8(address[_GROVE_PATH])
    accuracy = ptr32(address[_GROVE_ACCURACY])
    last = ptr32(address[_RING_SHAPE])[_R_CLASSES] - 1
    growing = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    dice = int(below(t, _GROVE_RNG, 256))
    run = ptr32(address[_STORE_STATE])[_W_RUN] + 1
    if run < 8 or label != ptr32(address[_STORE_STATE])[_W_LABEL]:
        run = 8
    rate = _LEAF_RATE
    if ptr32(address[_STORE_STATE])[_W_DOUBT] == 0:
        rate = 8 * _LEAF_RATE // run
    most_leaves = grove[_G_MOST]
    upper = 0
    if most_leaves > _NARROW:
        upper = grove[_G_TREES] + 1
    k = 0
    for s in range(grove[_G_USED] + 1):
        if s != growing:
            at = k + path[s]
            if upper:
                at += path[upper + s] << 8
            at *= last
            most = 0
            said = last
            rest = 255
            after = 255
            c = last
            while c:
                c -= 1
                share = leaves[at + c]
                rest -= share
                if share >= most:  # of two that are equal, the first
                    most = share
                    said = c
                # rounded up or down by chance, so that small changes are not lost: 0..255 again
                share += (((255 if c == label else 0) - share) * rate + dice) >> 8
                leaves[at + c] = share
                after -= share
            if rest > most:
                said = last
            if after < 0:  # only the label's share has grown, and by more than is too much
                leaves[at + label] = leaves[at + label] + after
            right = _ONE if said == label else 0
            step = (right - accuracy[s]) >> _MEMORY
            if run > 8:  # a division for each tree takes its time
                step = (step << 3) // run
            accuracy[s] = accuracy[s] + step
            dice = (dice + 97) & 255
        k += most_leaves


# Of the next one, s and x are 0.


@micropython.viper
def weigh(s: int, x: int, t):
    """The trees' weights, from their accuracies, and the less, the fewer samples they grew on."""
    address = ptr32(t)
    accuracy = ptr32(address[_GROVE_ACCURACY])
    weight = ptr32(address[_GROVE_WEIGHT])
    grown = ptr32(address[_GROVE_GROWN])
    growing = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    slots = ptr32(address[_GROVE_STATE])[_G_USED] + 1
    top = 0
    most = 1
    s = slots
    while s:
        s -= 1
        if s != growing:
            x = accuracy[s]
            if x > top:
                top = x
            x = grown[s]
            if x > most:
                most = x
    s = slots
    while s:
        s -= 1
        weight[s] = (20 * (top - accuracy[s])) >> 4  # < 20 * 2**20
    weight[growing] = _NOTHING
    exp_decays(0, 0, slots, t, _GROVE_WEIGHT)
    s = slots
    while s:
        s -= 1
        if grown[s] < most:
            x = (grown[s] << 8) // most
            x = x * x >> 8
            weight[s] = (weight[s] * x >> 8) * x >> 8

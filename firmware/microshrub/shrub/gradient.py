"""The gradient step of the members' weights over the samples of the window.

Shrub Ensembles (Buschjaeger, Hess, Morik 2022), line 9 of Algorithm 1. The buffers are those of
weights.py.
"""

import micropython
from micropython import const

from ..fixed import exp_negative

# From elsewhere, written by `make constants`:
# places of buffers
_MEMBER = const(3)
_WINDOW_SHAPE = const(5)
_WINDOW_LABELS = const(7)
_SHRUBS_SHAPE = const(9)
_SHRUBS_LEAVES = const(13)
_MEMBERS_SHAPE = const(24)
_MEMBERS_WEIGHT = const(25)
_MEMBERS_RANK = const(26)
_MEMBERS_RESIDUAL = const(27)
_MEMBERS_GRADIENT = const(28)
_MEMBERS_LEAF = const(29)
# shrub/pool.py
_P_CLASSES = const(0)
_P_LEAVES = const(3)
_P_ONE_HOT = const(5)
# shrub/weights.py
_M_USED = const(0)
_M_SOFTMAX = const(2)
_M_SCALE = const(3)
_M_SHIFT = const(4)
_UNIT = const(65280)
_ONE = const(65536)
# shrub/window.py
_W_WINDOW = const(0)
_W_SIZE = const(2)
# (end)


@micropython.viper
def soften(t, classes: int):
    """Turn the votes in residual into their softmax, in 1/65280."""
    address = ptr32(t)
    residual = ptr32(address[_MEMBERS_RESIDUAL])
    top = 0
    for c in range(classes):
        residual[c] = residual[c] >> 8
        if residual[c] > top:
            top = residual[c]
    total = 0
    for c in range(classes):
        x = top - residual[c]  # of 65280 a unit; + x >> 8 makes that 65535 of Q16
        residual[c] = int(exp_negative(x + (x >> 8)))
        total += residual[c]  # <= 256 * 2**14 = 2**22
    for c in range(classes):
        residual[c] = residual[c] * _UNIT // total  # < 2**14 * 2**16 = 2**30


@micropython.viper
def gradient_step(i: int, at: int, t):
    """Line 9: weight -= step * gradient, for the members and the shrub of rank `used`.

    The gradient of shrub h is 2 / (B * C) * sum over window and classes of (f - [y = c]) * h; for
    the cross-entropy, softmax(f) stands for f. The shrub of rank `used` has to weigh 0.

    i and at are the innermost loops'; whatever is passed, viper has the first two arguments, and
    no other variable, in registers.
    """
    address = ptr32(t)
    shape = ptr32(address[_SHRUBS_SHAPE])
    labels = ptr8(address[_WINDOW_LABELS])
    leaves = ptr8(address[_SHRUBS_LEAVES])
    weights = ptr32(address[_MEMBERS_WEIGHT])
    rank = ptr8(address[_MEMBERS_RANK])
    residual = ptr32(address[_MEMBERS_RESIDUAL])
    gradient = ptr32(address[_MEMBERS_GRADIENT])
    leaf = ptr32(address[_MEMBERS_LEAF])
    member8 = ptr8(address[_MEMBER])
    member16 = ptr16(address[_MEMBER])
    window = ptr32(address[_WINDOW_SHAPE])[_W_WINDOW]
    size = ptr32(address[_WINDOW_SHAPE])[_W_SIZE]
    leaf_limit = shape[_P_LEAVES]
    wide = int(leaf_limit > 256)
    one_hot = shape[_P_ONE_HOT]
    classes = shape[_P_CLASSES]
    last = classes - 1
    two = 0 if one_hot else int(last == 1)  # which spares the loops over classes
    stride = 1 if one_hot else last  # bytes of a leaf
    room = leaf_limit * stride  # of a slot, < 1024 * 255 < 2**18
    four = int(last >= 4)
    rolled = 4 if four else 2  # the first class in the innermost loop
    used = ptr32(address[_MEMBERS_SHAPE])[_M_USED]
    softmax = ptr32(address[_MEMBERS_SHAPE])[_M_SOFTMAX]
    shrubs = used + 1
    down = 0  # makes room for the sum over the window
    while size > 64 << down:
        down += 1
    for i in range(shrubs):
        gradient[i] = 0
    for b in range(size):
        # the votes, as in mix()
        vote = 0
        i = 0
        while shrubs - i:
            slot = rank[i]
            at = slot * window + b  # < 256 * 1024 = 2**18
            at = slot * room + (member16[at] if wide else member8[at]) * stride  # < 2**26
            leaf[i] = at
            if two:
                vote += leaves[at] * weights[slot]
            i += 1
        if two:
            residual[0] = vote
            residual[1] = 255 * _ONE - vote if used else 0
        elif one_hot:
            for c in range(classes):
                residual[c] = 0
            for i in range(used):
                c = leaves[leaf[i]]
                residual[c] = residual[c] + 255 * weights[rank[i]]  # at most 255 * 65536
        else:
            rest = 255 * _ONE if used else 0
            c = 0
            while c < last:  # by twos; of an odd number, one comes again
                if c + 1 == last:
                    c -= 1
                    rest += vote
                vote = 0
                other = 0
                i = 0
                while used - i:
                    at = leaf[i] + c
                    weight = weights[rank[i]]
                    vote += leaves[at] * weight
                    other += leaves[at + 1] * weight
                    i += 1
                residual[c] = vote
                residual[c + 1] = other
                rest -= vote + other
                vote = other
                c += 2
            residual[last] = rest
        if softmax:
            soften(t, classes)
        else:
            for c in range(classes):
                residual[c] = residual[c] >> 8
        c = labels[b]
        residual[c] = residual[c] - _UNIT
        pivot = residual[last]
        # sum_c margin_c * h_c, where h_last = 255 - the others; |sum| <= 65280 * 255 < 2**24
        # because the h_c are not negative and add up to 255; |margin_c - pivot| < 2**17, and
        # a part of the sum stays below 255 * 2**17 < 2**25
        pivot_255 = 255 * pivot
        first = residual[0] - pivot
        second = residual[1] - pivot
        third = 0
        fourth = 0
        if four:
            third = residual[2] - pivot
            fourth = residual[3] - pivot
        i = 0
        while shrubs - i:
            at = leaf[i]
            if one_hot:
                dot = 255 * residual[leaves[at]]
            else:
                dot = first * leaves[at] + pivot_255
                if not two:
                    dot += second * leaves[at + 1]
                    if four:
                        dot += third * leaves[at + 2] + fourth * leaves[at + 3]
                    c = rolled
                    while c < last:
                        dot += (residual[c] - pivot) * leaves[at + c]
                        c += 1
            # 64 * 65280 * 255 < 2**30, and `down` keeps it so for more samples
            gradient[i] = gradient[i] + (dot >> down)
            i += 1
    scale = ptr32(address[_MEMBERS_SHAPE])[_M_SCALE] // size
    shift = ptr32(address[_MEMBERS_SHAPE])[_M_SHIFT] - down
    while scale >= 32768:
        scale = scale >> 1
        shift -= 1
    shift -= 15  # 1..30: 30 for the least step, 256 classes and 1024 samples
    for i in range(shrubs):
        slot = rank[i]
        dot = gradient[i]
        # dot * scale >> 15 in two parts, each below 2**30; the factor is below 1/3, so shift >= 1
        dot = (dot >> 15) * scale + (((dot & 32767) * scale) >> 15)
        weights[slot] = weights[slot] - ((dot + (1 << (shift - 1))) >> shift)

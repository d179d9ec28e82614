"""The members' weights: votes, gradient step, projection on the simplex with at most M members.

Shrub Ensembles (Buschjaeger, Hess, Morik 2022), equations 5 to 8, lines 9 to 12 of Algorithm 1.

Buffers of the members, in this order, "members.shape" and so on (M = most members):

    shape     'i'  the integers below
    weight    'i'  [M + 1] of slot s, Q16; the members' add up to 65536 = 1.0
    rank      'B'  [M + 1] the slots: members, by weight (before its last rounding), then free ones
    residual  'i'  [classes] scratch: the votes for one sample, then the loss's derivative
    gradient  'i'  [M + 1] scratch: the gradient of rank i
    leaf      'i'  [M + 1] scratch: where the votes of the leaf of rank i begin
"""

import micropython
from micropython import const

from ..fixed import exp_negative

# From elsewhere, written by `make constants`:
# places of buffers
_VOTES = const(1)
_PATH = const(2)
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
# shrub/window.py
_W_WINDOW = const(0)
_W_SIZE = const(2)
# (end)

_M_USED = const(0)  # members
_M_MOST = const(1)  # M
_M_SOFTMAX = const(2)  # 1: cross-entropy, 0: MSE
_M_SCALE = const(3)  # the step: scale / 2**shift, see step_scale
_M_SHIFT = const(4)
_WORDS = const(5)


_ONE = const(65536)
_UNIT = const(65280)  # a vote of 1.0 in the gradient: 65536 * 255 >> 8
_FLOOR = const(-131072)


def members_table(trees, classes):
    """The buffers of at most that many members."""
    return [
        ("members.shape", "i", _WORDS),
        ("members.weight", "i", trees + 1),
        ("members.rank", "B", trees + 1),
        ("members.residual", "i", classes),
        ("members.gradient", "i", trees + 1),
        ("members.leaf", "i", trees + 1),
    ]


def start_members(b, trees, classes, step_q16, softmax):
    """No members yet. step_q16 is the step size in 1/65536, b are the learner's buffers."""
    shape = b[_MEMBERS_SHAPE]
    shape[_M_MOST] = trees
    shape[_M_SOFTMAX] = int(softmax)
    shape[_M_SCALE], shape[_M_SHIFT] = step_scale(step_q16, classes)
    for slot in range(trees + 1):
        b[_MEMBERS_RANK][slot] = slot


def step_scale(step_q16, classes):
    """(scale, shift), 2**28 <= scale < 2**29, with scale / 2**shift the factor of the gradient.

    A weight changes by step * 2 / (B * C) * sum f * h. Kernels have f in 1/65280, h in 1/255 and
    want Q16, so the sum is multiplied by step_q16 * 2 / (B * C * 65280 * 255). Here all but B.
    """
    shift = 0
    top, bottom = step_q16 * 2, classes * _UNIT * 255
    while (top << shift) // bottom < 1 << 28:
        shift += 1
    return (top << shift) // bottom, shift


@micropython.viper
def mix(t) -> int:
    """Votes of the members for the sample whose leaf in slot s is path[s].

    Returns the class with the most, the first of equals. They add up to 65536 * 255, or are 0
    while there are no members.
    """
    address = ptr32(t)
    shape = ptr32(address[_SHRUBS_SHAPE])
    leaves = ptr8(address[_SHRUBS_LEAVES])
    weights = ptr32(address[_MEMBERS_WEIGHT])
    rank = ptr8(address[_MEMBERS_RANK])
    path8 = ptr8(address[_PATH])
    path16 = ptr16(address[_PATH])
    out = ptr32(address[_VOTES])
    used = ptr32(address[_MEMBERS_SHAPE])[_M_USED]
    leaf_limit = shape[_P_LEAVES]
    wide = int(leaf_limit > 256)
    last = shape[_P_CLASSES] - 1
    one_hot = shape[_P_ONE_HOT]
    for c in range(last + 1):
        out[c] = 0
    for i in range(used):
        slot = rank[i]
        weight = weights[slot]
        at = slot * leaf_limit + (path16[slot] if wide else path8[slot])
        if one_hot:
            c = leaves[at]
            out[c] = out[c] + 255 * weight  # every vote <= 255 * 65536 < 2**24
        else:
            at = at * last  # < 256 * 1024 * 255 < 2**26
            for c in range(last):
                out[c] = out[c] + leaves[at + c] * weight
    if used and not one_hot:
        rest = 255 * _ONE
        for c in range(last):
            rest -= out[c]
        out[last] = rest
    best = 0
    for c in range(last + 1):
        if out[c] > out[best]:
            best = c
    return best


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
def gradient_step(i: int, at: int, c: int, t):
    """Line 9: weight -= step * gradient, for the members and the shrub of rank `used`.

    The gradient of shrub h is 2 / (B * C) * sum over window and classes of (f - [y = c]) * h; for
    the cross-entropy, softmax(f) stands for f. The shrub of rank `used` has to weigh 0.

    i, at and c are the innermost loops'; whatever is passed, viper has the first arguments, and no
    other variable, in registers.
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
        while i < shrubs:
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
                while i < used:
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
        while i < shrubs:
            at = leaf[i]
            dot = pivot_255
            if one_hot:
                dot = 255 * residual[leaves[at]]
            else:
                dot += first * leaves[at]
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


@micropython.viper
def favour(t, slot: int):
    """Halve the members' weights, rounding up, and give the shrub in a free slot what is left.

    The weights still add up to 65536; project() then ranks the new one.
    """
    address = ptr32(t)
    weights = ptr32(address[_MEMBERS_WEIGHT])
    rank = ptr8(address[_MEMBERS_RANK])
    rest = _ONE
    for i in range(ptr32(address[_MEMBERS_SHAPE])[_M_USED]):
        weight = (weights[rank[i]] + 1) >> 1
        weights[rank[i]] = weight
        rest -= weight
    weights[slot] = rest


@micropython.viper
def project(t):
    """Lines 10 to 12: rank by weight, keep the M heaviest, project on the simplex, drop zeros.

    With weights sorted downwards, beta is the largest j <= M with w_j > (sum_{i<=j} w_i - 1) / j;
    tau = (sum_{i<=beta} w_i - 1) / beta; w_i becomes max(w_i - tau, 0) (equation 8).
    """
    address = ptr32(t)
    shape = ptr32(address[_MEMBERS_SHAPE])
    weights = ptr32(address[_MEMBERS_WEIGHT])
    rank = ptr8(address[_MEMBERS_RANK])
    shrubs = shape[_M_USED] + 1
    top = weights[rank[0]]
    for i in range(shrubs):
        if weights[rank[i]] > top:
            top = weights[rank[i]]
    for i in range(shrubs):
        slot = rank[i]
        # The projection does not change when all weights shift together, and one that is 1.0 or
        # more below the greatest becomes 0: within -2.0..0 all sums stay below 2**26.
        weight = weights[slot] - top
        if weight < _FLOOR:
            weight = _FLOOR
        weights[slot] = weight
        r = i
        while r > 0:
            above = rank[r - 1]
            if weights[above] >= weight:
                break
            rank[r] = above
            r -= 1
        rank[r] = slot
    total = -_ONE
    excess = 0
    beta = 0
    most = shrubs if shrubs < shape[_M_MOST] else shape[_M_MOST]
    for j in range(most):
        total += weights[rank[j]]
        if weights[rank[j]] * (j + 1) > total:
            beta = j + 1
            excess = total
    tau = excess // beta  # beta >= 1, as w_1 > w_1 - 1
    for i in range(shrubs):
        slot = rank[i]
        weights[slot] = weights[slot] - tau if i < beta else 0
    # tau was rounded down by less than beta / 65536 in all; the heaviest has more than that
    weights[rank[0]] = weights[rank[0]] - (excess - tau * beta)
    shape[_M_USED] = beta

"""The members' weights: votes, and projection on the simplex with at most M members.

Shrub Ensembles (Buschjaeger, Hess, Morik 2022), equations 5 to 8, lines 10 to 12 of Algorithm 1.
Line 9 is gradient.py.

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

# From elsewhere, written by `make constants`:
# places of buffers
_VOTES = const(1)
_PATH = const(2)
_SHRUBS_SHAPE = const(9)
_SHRUBS_LEAVES = const(13)
_MEMBERS_SHAPE = const(24)
_MEMBERS_WEIGHT = const(25)
_MEMBERS_RANK = const(26)
# shrub/pool.py
_P_CLASSES = const(0)
_P_LEAVES = const(3)
_P_ONE_HOT = const(5)
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
    two = 0 if one_hot else int(last == 1)  # which spares the loops over classes
    vote = 0
    for c in range(0 if two else last + 1):
        out[c] = 0
    for i in range(used):
        slot = rank[i]
        weight = weights[slot]
        at = slot * leaf_limit + (path16[slot] if wide else path8[slot])
        if two:
            vote += leaves[at] * weight
        elif one_hot:
            c = leaves[at]
            out[c] = out[c] + 255 * weight  # every vote <= 255 * 65536 < 2**24
        else:
            at = at * last  # < 256 * 1024 * 255 < 2**26
            for c in range(last):
                out[c] = out[c] + leaves[at + c] * weight
    if two:
        rest = 255 * _ONE - vote if used else 0
        out[0] = vote
        out[1] = rest
        return int(rest > vote)
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

"""Whether a grove's, a softmax regression's or a ring's buffers, which were read, can be used.

Every index that the kernels follow must be within its buffer, every path must end, and nothing
may be divided by zero. This takes time in proportion to the bytes of the state.
"""

from micropython import const

from ..fixed import exp_decay

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_SOFTMAX_STATE = const(0)
_RING_CODES = const(1)
_RING_LABELS = const(2)
_SOFTMAX_MEAN = const(2)
_GROVE_STATE = const(3)
_SOFTMAX_DEVIATION = const(3)
_GROVE_FEATURE = const(5)
_SOFTMAX_WEIGHT = const(6)
_GROVE_KIDS = const(7)
_GROVE_LEAVES = const(8)
_SPROUT_STATE = const(9)
_SPROUT_LINE = const(10)
_SPROUT_BEGIN = const(11)
_SPROUT_END = const(12)
_SPROUT_HOOK = const(13)
_SPROUT_IMPURITY = const(14)
_SPROUT_ORDER = const(16)
_GROVE_ACCURACY = const(19)
_GROVE_WEIGHT = const(20)
# thicket/ring.py
_R_LENGTH = const(0)
_R_FEATURES = const(1)
_R_CLASSES = const(2)
_R_HELD = const(3)
_R_HEAD = const(4)
# thicket/trees.py
_G_TREES = const(0)
_S_SLOT = const(0)
_G_USED = const(1)
_S_GROWING = const(1)
_G_MOST = const(2)
_G_WINDOW = const(3)
_S_INNER_USED = const(4)
_G_SINCE = const(5)
_S_LEAF = const(5)
_S_DRAWN = const(6)
_S_TRIED = const(7)
_S_MERIT = const(8)
_S_BY = const(9)
_S_AT = const(10)
_S_TIES = const(11)
# (end)

_ONE = const(1048576)  # an accuracy of 1, Q20
_MOST_COUNT = const(536870911)  # 2**29 - 1
_MOST_TIES = const(65535)
_MOST_SEEN = const(1024)  # samples that a softmax regression's means look back over
_MOST_MEAN = const(16776960)  # 65535 in 1/256
_MOST_WEIGHT = const(1048576)  # 16 in Q16


def ring_is_sound(b):
    """The ring's ends fit each other, and its labels are classes."""
    shape = b[_RING_SHAPE]
    held = shape[_R_HELD]
    head = shape[_R_HEAD]
    full = held == shape[_R_LENGTH]
    return (
        0 <= held <= shape[_R_LENGTH]
        and 0 <= head < shape[_R_LENGTH]
        and (full or head == held)
        and max(b[_RING_LABELS]) < shape[_R_CLASSES]
    )


def softmax_is_sound(b):
    """Means, deviations and weights are where they cannot overflow."""
    return (
        0 <= b[_SOFTMAX_STATE][3] <= _MOST_SEEN
        and are_within(b[_SOFTMAX_MEAN], 0, _MOST_MEAN)
        and are_within(b[_SOFTMAX_DEVIATION], 0, _MOST_MEAN)
        and are_within(b[_SOFTMAX_WEIGHT], -_MOST_WEIGHT, _MOST_WEIGHT)
    )


def grove_is_sound(b):
    """Every voting tree's paths end in leaves, and the tree that grows can go on."""
    if not trees_are_sound(b):
        return False
    return _weights_are(b, b[_SPROUT_STATE][_S_SLOT], b[_GROVE_STATE][_G_USED]) and _leaves_are(b)


def trees_are_sound(b):
    """The same, whatever the leaves hold, and whatever the trees' weights are."""
    grove = b[_GROVE_STATE]
    sprout = b[_SPROUT_STATE]
    used = grove[_G_USED]
    slot = sprout[_S_SLOT]
    if not ring_is_sound(b) or not 0 <= used <= grove[_G_TREES]:
        return False
    if not 0 <= slot <= used or (used < grove[_G_TREES] and slot != used):
        return False
    if not 0 <= grove[_G_SINCE] <= _MOST_COUNT or sprout[_S_GROWING] not in (0, 1):
        return False
    if max(b[_GROVE_FEATURE]) >= b[_RING_SHAPE][_R_FEATURES]:
        return False
    if max(b[_SPROUT_ORDER]) >= b[_RING_SHAPE][_R_FEATURES]:
        return False
    for s in range(used + 1):
        if (s != slot or sprout[_S_GROWING]) and not _ends(b, s):
            return False
    return not sprout[_S_GROWING] or _can_grow(b, sprout)


def are_within(buffer, low, high):
    """Is every item in the range?"""
    return low <= min(buffer) and max(buffer) <= high


def _weights_are(b, slot, used):
    """The weights are those that follow from the accuracies."""
    accuracy = b[_GROVE_ACCURACY]
    if not are_within(accuracy, 0, _ONE):
        return False
    top = 0
    for s in range(used + 1):
        if s != slot:
            top = max(top, accuracy[s])
    for s in range(len(accuracy)):
        wanted = 0
        if s <= used and s != slot:
            wanted = int(exp_decay((20 * (top - accuracy[s])) >> 4))
        if b[_GROVE_WEIGHT][s] != wanted:
            return False
    return True


def _leaves_are(b):
    """The frequencies of each leaf leave something of 255, or nothing, for the last class."""
    leaves = b[_GROVE_LEAVES]
    others = b[_RING_SHAPE][_R_CLASSES] - 1
    for k in range(0, len(leaves), others) if others > 1 else ():
        total = 0
        for c in range(k, k + others):
            total += leaves[c]
        if total > 255:
            return False
    return True


def _ends(b, s):
    """Do the paths of a slot's tree end in leaves? A node's kids have greater numbers."""
    kids = b[_GROVE_KIDS]
    most = b[_GROVE_STATE][_G_MOST]
    inner = most - 1
    reached = bytearray(inner + most)
    reached[0] = 1
    for n in range(inner):
        if reached[n]:
            first = 2 * (s * inner + n)
            for k in range(first, first + 2):
                if not n < kids[k] < inner + most:
                    return False
                reached[kids[k]] = 1
    return True


def _can_grow(b, sprout):
    """Do the growing tree's leaves have samples, and is the split that was found one?"""
    most = b[_GROVE_STATE][_G_MOST]
    used = sprout[_S_INNER_USED]
    features = b[_RING_SHAPE][_R_FEATURES]
    leaf = sprout[_S_LEAF]
    if not 0 <= used < most or max(b[_SPROUT_LINE]) >= b[_RING_SHAPE][_R_LENGTH]:
        return False
    if not 0 <= leaf <= most or (leaf < most and (leaf > used or used == most - 1)):
        return False
    for k in range(used + 1):
        if not b[_SPROUT_BEGIN][k] < b[_SPROUT_END][k] <= b[_GROVE_STATE][_G_WINDOW]:
            return False
        if b[_SPROUT_HOOK][k] >= 2 * max(used, 1) or b[_SPROUT_IMPURITY][k] < 0:
            return False
    if not 0 <= sprout[_S_TRIED] <= sprout[_S_DRAWN] <= features:
        return False
    if not 0 <= sprout[_S_MERIT] <= _MOST_COUNT or not 0 <= sprout[_S_TIES] <= _MOST_TIES:
        return False
    if not 0 <= sprout[_S_BY] < features or not 0 <= sprout[_S_AT] <= 255:
        return False
    return leaf == most or not sprout[_S_MERIT] or _parts(b, sprout, leaf)


def _parts(b, sprout, leaf):
    """Does the best split have samples on both sides?"""
    features = b[_RING_SHAPE][_R_FEATURES]
    left = 0
    begin = b[_SPROUT_BEGIN][leaf]
    end = b[_SPROUT_END][leaf]
    for i in range(begin, end):
        code = b[_RING_CODES][b[_SPROUT_LINE][i] * features + sprout[_S_BY]]
        left += int(code <= sprout[_S_AT])
    return 0 < left < end - begin

"""The pool of shrubs: a fixed number of slots, each with room for one depth-capped tree.

Buffers of a pool, in this order, "shrubs.shape" and so on:

    shape      'i'  the integers below
    feature    'B'  feature[s * inner + n]: what inner node n of slot s tests
    threshold  'B'  one or two bytes an entry: a sample goes left if its code <= threshold
    kids       'B'  one or two bytes an entry, linked shrubs only, see below
    leaves     'B'  one-hot leaves: the class. Otherwise classes - 1 bytes a leaf, the class
                    frequencies in 1/255; the last class has what they leave of 255

Inner nodes have the numbers 0..inner-1, leaf l has the number inner + l. There are two ways to get
from a node to its children, and a pool takes the one that needs fewer bytes:

    by position  inner = 2**depth - 1. The children of n are 2n + 1 and 2n + 2. A node that does
                 not split has the largest code as threshold: all samples go left, to a leaf.
    linked       inner = min(2**depth, window) - 1, as many as a window can fill. With
                 k = s * (2 * inner + 1), kids[k] is the root, kids[k + 1 + 2n] and
                 kids[k + 2 + 2n] are the children of n.
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_PATH = const(2)
_SHRUBS_SHAPE = const(9)
_SHRUBS_FEATURE = const(10)
_SHRUBS_THRESHOLD = const(11)
_SHRUBS_KIDS = const(12)
_SHRUBS_LEAVES = const(13)
_CART_COUNTS = const(18)
_MEMBERS_SHAPE = const(24)
_MEMBERS_RANK = const(26)
# shrub/weights.py
_M_USED = const(0)
# (end)

_P_CLASSES = const(0)
_P_DEPTH = const(1)
_P_INNER = const(2)  # inner nodes a slot
_P_LEAVES = const(3)  # leaves a slot
_P_LINKED = const(4)  # 1: linked, 0: by position
_P_ONE_HOT = const(5)  # 1: a leaf is one class, 0: class frequencies
_P_WIDE_CODES = const(6)  # 1: thresholds of 16 bits, 0: 8 bits
_P_WIDE_KIDS = const(7)  # 1: node numbers of 16 bits, 0: 8 bits
_WORDS = const(8)


def leaf_limit(window, depth):
    """The most leaves that a shrub of this depth grown on this window can have."""
    return min(1 << min(depth, 10), window)


def _choose(window, depth, feature_bits, leaf_bytes):
    """(linked, inner nodes, leaves, bytes of a kid) of the layout that needs fewer bytes."""
    leaves = leaf_limit(window, depth)
    inner = leaves - 1
    kid = 2 if inner + leaves > 256 else 1
    node = 1 + feature_bits // 8
    linked = inner * node + (2 * inner + 1) * kid + leaves * leaf_bytes
    if depth > 10 or linked < ((1 << depth) - 1) * node + (1 << depth) * leaf_bytes:
        return 1, inner, leaves, kid
    return 0, (1 << depth) - 1, 1 << depth, 0


def leaf_slots(classes, window, depth, feature_bits, one_hot):
    """Leaves that a slot has room for."""
    return _choose(window, depth, feature_bits, 1 if one_hot else classes - 1)[2]


def shrubs_table(slots, classes, window, depth, feature_bits, one_hot):
    """The buffers of a pool with that many slots."""
    leaf_bytes = 1 if one_hot else classes - 1
    linked, inner, leaves, kid = _choose(window, depth, feature_bits, leaf_bytes)
    return [
        ("shrubs.shape", "i", _WORDS),
        ("shrubs.feature", "B", slots * inner),
        ("shrubs.threshold", "B", slots * inner * feature_bits // 8),
        ("shrubs.kids", "B", slots * (2 * inner + 1) * kid if linked else 0),
        ("shrubs.leaves", "B", slots * leaves * leaf_bytes),
    ]


def start_shrubs(b, classes, window, depth, feature_bits, one_hot):
    """Set up the pool; what its slots hold does not matter until a shrub is grown there.

    b are the learner's buffers.
    """
    shape = b[_SHRUBS_SHAPE]
    linked, inner, leaves, kid = _choose(
        window, depth, feature_bits, 1 if one_hot else classes - 1
    )
    shape[_P_CLASSES] = classes
    shape[_P_DEPTH] = depth
    shape[_P_INNER] = inner
    shape[_P_LEAVES] = leaves
    shape[_P_LINKED] = linked
    shape[_P_ONE_HOT] = int(one_hot)
    shape[_P_WIDE_CODES] = int(feature_bits == 16)
    shape[_P_WIDE_KIDS] = int(kid == 2)


@micropython.viper
def fill_leaf(t, slot: int, a: int, leaf: int):
    """Write the class frequencies of open node a, or its majority class, into a leaf.

    The frequencies are the rounded running sums' differences, so they add up to 255 exactly.
    """
    address = ptr32(t)
    tree = ptr32(address[_SHRUBS_SHAPE])
    leaves = ptr8(address[_SHRUBS_LEAVES])
    counts = ptr16(address[_CART_COUNTS])
    classes = tree[_P_CLASSES]
    first = a * classes
    at = slot * tree[_P_LEAVES] + leaf
    samples = 0
    most = 0
    for c in range(classes):
        samples += counts[first + c]
        if counts[first + c] > counts[first + most]:
            most = c
    if tree[_P_ONE_HOT]:
        leaves[at] = most
    else:
        at = at * (classes - 1)  # < 256 * 1024 * 255 < 2**26
        so_far = 0
        given = 0
        for c in range(classes - 1):
            so_far += counts[first + c]
            upto = (so_far * 510 + samples) // (2 * samples)  # <= 1024 * 511 < 2**20
            leaves[at + c] = upto - given
            given = upto


@micropython.viper
def descend(t, rows, at: int):
    """Which leaf the sample at rows[at] reaches in slot s of each member: path[s]."""
    address = ptr32(t)
    shape = ptr32(address[_SHRUBS_SHAPE])
    feature = ptr8(address[_SHRUBS_FEATURE])
    threshold8 = ptr8(address[_SHRUBS_THRESHOLD])
    threshold16 = ptr16(address[_SHRUBS_THRESHOLD])
    kids8 = ptr8(address[_SHRUBS_KIDS])
    kids16 = ptr16(address[_SHRUBS_KIDS])
    slots = ptr8(address[_MEMBERS_RANK])
    path8 = ptr8(address[_PATH])
    path16 = ptr16(address[_PATH])
    x = ptr16(rows)
    inner = shape[_P_INNER]
    linked = shape[_P_LINKED]
    wide_kids = shape[_P_WIDE_KIDS]
    wide = shape[_P_WIDE_CODES]
    wide_leaf = int(shape[_P_LEAVES] > 256)
    stride = 2 * inner + 1
    usual = 0 if linked else wide
    for i in range(ptr32(address[_MEMBERS_SHAPE])[_M_USED]):
        slot = slots[i]
        k = slot * inner
        n = 0
        if usual:
            while n < inner:
                n += n + 1 + int(x[at + feature[k + n]] > threshold16[k + n])
        else:
            kid = slot * stride  # < 256 * 2047 < 2**19
            if linked:
                n = kids16[kid] if wide_kids else kids8[kid]
            while n < inner:
                code = x[at + feature[k + n]]
                right = 0
                if wide:
                    right = int(code > threshold16[k + n])
                else:
                    right = int((code >> 8) > threshold8[k + n])
                n += n + 1 + right
                if linked:
                    n = kids16[kid + n] if wide_kids else kids8[kid + n]
        if wide_leaf:
            path16[slot] = n - inner
        else:
            path8[slot] = n - inner

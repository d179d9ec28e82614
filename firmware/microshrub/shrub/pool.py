"""The pool of shrubs: a fixed number of slots, each with room for one depth-capped tree.

Buffers of a pool (a tuple, in this order):

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

_CLASSES = const(0)
_DEPTH = const(1)
_INNER = const(2)  # inner nodes a slot
_LEAVES = const(3)  # leaves a slot
_LINKED = const(4)  # 1: linked, 0: by position
_ONE_HOT = const(5)  # 1: a leaf is one class, 0: class frequencies
_WIDE_CODES = const(6)  # 1: thresholds of 16 bits, 0: 8 bits
_WIDE_KIDS = const(7)  # 1: node numbers of 16 bits, 0: 8 bits
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


def start_shrubs(p, classes, window, depth, feature_bits, one_hot):
    """Set up the pool p; what its slots hold does not matter until a shrub is grown there."""
    shape = p[0]
    linked, inner, leaves, kid = _choose(
        window, depth, feature_bits, 1 if one_hot else classes - 1
    )
    shape[_CLASSES] = classes
    shape[_DEPTH] = depth
    shape[_INNER] = inner
    shape[_LEAVES] = leaves
    shape[_LINKED] = linked
    shape[_ONE_HOT] = int(one_hot)
    shape[_WIDE_CODES] = int(feature_bits == 16)
    shape[_WIDE_KIDS] = int(kid == 2)


@micropython.viper
def fill_leaf(p, class_counts, slot: int, a: int, leaf: int):
    """Write the class frequencies, or the majority class, into a leaf.

    class_counts, 'H', has the counts of node a at a * classes. The frequencies are the rounded
    running sums' differences, so they add up to 255 exactly.
    """
    tree = ptr32(p[0])
    leaves = ptr8(p[4])
    counts = ptr16(class_counts)
    classes = tree[_CLASSES]
    first = a * classes
    at = slot * tree[_LEAVES] + leaf
    samples = 0
    most = 0
    for c in range(classes):
        samples += counts[first + c]
        if counts[first + c] > counts[first + most]:
            most = c
    if tree[_ONE_HOT]:
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
def descend(p, rank, used: int, rows, at: int, path):
    """Which leaf the sample at rows[at] reaches in the first `used` slots s of rank: path[s]."""
    shape = ptr32(p[0])
    feature = ptr8(p[1])
    threshold8 = ptr8(p[2])
    threshold16 = ptr16(p[2])
    kids8 = ptr8(p[3])
    kids16 = ptr16(p[3])
    slots = ptr8(rank)
    path8 = ptr8(path)
    path16 = ptr16(path)
    x = ptr16(rows)
    inner = shape[_INNER]
    linked = shape[_LINKED]
    wide_kids = shape[_WIDE_KIDS]
    wide = shape[_WIDE_CODES]
    wide_leaf = int(shape[_LEAVES] > 256)
    stride = 2 * inner + 1
    for i in range(used):
        slot = slots[i]
        first = slot * inner
        kid = slot * stride  # < 256 * 2047 < 2**19
        n = 0
        if linked:
            n = kids16[kid] if wide_kids else kids8[kid]
        while n < inner:
            code = x[at + feature[first + n]]
            right = 0
            if wide:
                right = int(code > threshold16[first + n])
            else:
                right = int((code >> 8) > threshold8[first + n])
            n = 2 * n + 1 + right
            if linked:
                n = kids16[kid + n] if wide_kids else kids8[kid + n]
        if wide_leaf:
            path16[slot] = n - inner
        else:
            path8[slot] = n - inner

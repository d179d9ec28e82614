"""The trees of a grove, whatever they predict: begins them, splits their leaves, and takes a
sample down to a leaf of each tree.

tree_growth.py decides for classes which split is the best, and what a leaf holds. The buffers are
described in grove.py.

In trees of more than 128 leaves, nodes and leaves have numbers of 16 bits. A program whose trees
have fewer leaves is built without hang() and descend_far().
"""

import micropython
from micropython import const

from ..fixed import below

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_RING_CODES = const(1)
_GROVE_STATE = const(3)
_GROVE_FEATURE = const(5)
_GROVE_THRESHOLD = const(6)
_GROVE_KIDS = const(7)
_SPROUT_STATE = const(9)
_SPROUT_LINE = const(10)
_SPROUT_BEGIN = const(11)
_SPROUT_END = const(12)
_SPROUT_HOOK = const(13)
_SPROUT_IMPURITY = const(14)
_SPROUT_ORDER = const(16)
_GROVE_RNG = const(17)
_GROVE_PATH = const(18)
# thicket/sample_ring.py
_R_LENGTH = const(0)
_R_FEATURES = const(1)
_R_HELD = const(3)
_R_HEAD = const(4)
# (end)

_G_TREES = const(0)  # from here on, words of the grove: T
_G_USED = const(1)  # trees that vote
_G_MOST = const(2)  # L
_G_WINDOW = const(3)  # B
_G_EVERY = const(4)  # samples from one tree to the next
_G_SINCE = const(5)  # since one began to grow
_G_PACE = const(6)  # visits of a sample that growth may take with each sample
_G_WORDS = const(7)
_G_RECENT = const(7)  # with more than 128 leaves: samples that trees now grow on; 0: all

_S_SLOT = const(0)  # from here on, words of the sprout: the slot in which the tree grows
_S_GROWING = const(1)  # 1: a tree is growing
_S_MOST = const(2)  # L
_S_WANTED = const(3)  # features to try for a leaf
_S_INNER_USED = const(4)  # inner nodes of the tree so far
_S_LEAF = const(5)  # the leaf that is to split next, or L: none was chosen yet
_S_DRAWN = const(6)  # features that were tried for it
_S_TRIED = const(7)  # features tried that had two values or more
_S_MERIT = const(8)  # the best split's, or 0: there is none yet
_S_BY = const(9)  # the feature of the best split
_S_AT = const(10)  # its threshold
_S_TIES = const(11)  # splits as good as it
_S_WORDS = const(12)

_NARROW = const(128)  # leaves, up to which eight bits name a node's kid and a leaf
_FIRST = const(8)  # samples for the first tree
_PASSES = const(6)  # visits that growth may take with each sample, in windows
G_WORDS = _G_WORDS
FIXED_IN_GROVE = (_G_TREES, _G_MOST, _G_WINDOW, _G_EVERY, _G_PACE)
FIXED_IN_SPROUT = (_S_MOST, _S_WANTED)


def octets(leaves):
    """Return the bytes of a kid's or a leaf's number in a tree with that many leaves: 1 or 2."""
    return 1 if leaves <= _NARROW else 2


def trees_table(slots, leaves):
    """Describe the buffers of the trees' inner nodes."""
    inner = slots * (leaves - 1)
    return [
        ("grove.feature", "B", inner),
        ("grove.threshold", "B", inner),
        ("grove.kids", "B", 2 * inner * octets(leaves)),
    ]


def sprout_table(features, window, leaves, tally):
    """Describe the buffers of the growing tree; `tally`, a row of a table, is for the trials."""
    return [
        ("sprout.state", "i", _S_WORDS),
        ("sprout.line", "H", window),
        ("sprout.begin", "H", leaves),
        ("sprout.end", "H", leaves),
        ("sprout.hook", "H", leaves),
        ("sprout.impurity", "i", leaves),
        tally,
        ("sprout.order", "B", features),
    ]


def start_trees(b, features, window, trees, leaves, every, wanted):
    """Start without trees; slot 0 is for the next tree, `wanted` features are tried per split."""
    grove = b[_GROVE_STATE]
    grove[_G_TREES] = trees
    grove[_G_MOST] = leaves
    grove[_G_WINDOW] = window
    grove[_G_EVERY] = every
    grove[_G_PACE] = _PASSES * window
    b[_SPROUT_STATE][_S_MOST] = leaves
    b[_SPROUT_STATE][_S_WANTED] = wanted
    for f in range(features):
        b[_SPROUT_ORDER][f] = f


@micropython.viper
def begin(t) -> int:
    """Count a sample; returns 2 if a tree was planted just now, 1 if one grows already, else 0.

    The ring holds `every` samples more than a tree is grown on, so none is overwritten meanwhile.
    """
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    since = grove[_G_SINCE] + 1
    grove[_G_SINCE] = since
    held = ptr32(address[_RING_SHAPE])[_R_HELD]
    if ptr32(address[_SPROUT_STATE])[_S_GROWING]:
        return 1
    gap = grove[_G_EVERY] if held >= 8 * grove[_G_EVERY] else held >> 3
    if held < _FIRST or since < gap:
        return 0
    grove[_G_SINCE] = 0
    size = grove[_G_WINDOW]
    if grove[_G_MOST] > _NARROW and grove[_G_RECENT]:
        size = grove[_G_RECENT]
    plant(0, 0, t, size)
    return 2


# The first two arguments of plant(), span() and divide() are always 0: viper keeps only the first
# two variables of a kernel in registers. Following an address takes less than an index.


@micropython.viper
def plant(i: int, place: int, t, window: int):
    """Plant a tree of one leaf, with the newest `window` samples, or as many as there are.

    The newest are the ring's samples, if it has that many; see sample_store.py.
    """
    address = ptr32(t)
    ring = ptr32(address[_RING_SHAPE])
    sprout = ptr32(address[_SPROUT_STATE])
    kids = ptr8(address[_GROVE_KIDS])
    held = ring[_R_HELD]
    size = held if held < window else window
    length = ring[_R_LENGTH]
    place = ring[_R_HEAD]
    low = length - length * 2 // 5  # where the newest begin; a ring without a store has none
    if held < length or size > length - low or place < low:
        low = 0
    i = address[_SPROUT_LINE]
    end = i + 2 * size
    while end - i:
        turn = i + 2 * (place - low)  # where the ring goes on from its other end
        if turn > end:
            turn = end
        while turn - i:
            place -= 1
            ptr16(i)[0] = place
            i += 2
        place = length
    leaves = sprout[_S_MOST]
    inner = sprout[_S_SLOT] * (leaves - 1)
    ptr8(address[_GROVE_FEATURE])[inner] = 0
    ptr8(address[_GROVE_THRESHOLD])[inner] = 255  # all samples go left, to leaf 0
    for k in range(2 * inner, 2 * inner + 2):
        kids[k] = (leaves - 1) & 255
        if leaves > _NARROW:
            hang(t, k, leaves - 1)
    ptr16(address[_SPROUT_BEGIN])[0] = 0
    ptr16(address[_SPROUT_END])[0] = size
    ptr16(address[_SPROUT_HOOK])[0] = 0
    sprout[_S_GROWING] = 1
    sprout[_S_INNER_USED] = 0
    sprout[_S_LEAF] = leaves


@micropython.viper
def choose(t) -> int:
    """Choose the leaf with the most to gain; if none gains, or there is no room, end the tree."""
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    impurity = ptr32(address[_SPROUT_IMPURITY])
    leaves = sprout[_S_INNER_USED] + 1
    best = 0
    for leaf in range(leaves):
        if impurity[leaf] > impurity[best]:
            best = leaf
    if impurity[best] == 0 or leaves == sprout[_S_MOST]:
        sprout[_S_GROWING] = 0
    sprout[_S_LEAF] = best
    sprout[_S_DRAWN] = 0
    sprout[_S_TRIED] = 0
    sprout[_S_MERIT] = 0
    return leaves


@micropython.viper
def draw(t) -> int:
    """Draw a feature that was not tried for the leaf yet."""
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    order = ptr8(address[_SPROUT_ORDER])
    drawn = sprout[_S_DRAWN]
    features = ptr32(address[_RING_SHAPE])[_R_FEATURES]
    k = drawn + int(below(t, _GROVE_RNG, features - drawn))
    feature = order[k]
    order[k] = order[drawn]
    order[drawn] = feature
    sprout[_S_DRAWN] = drawn + 1
    return feature


@micropython.viper
def span(i: int, a: int, t, feature: int) -> int:
    """Return the least code of the leaf's samples times 256, plus the greatest."""
    address = ptr32(t)
    leaf = ptr32(address[_SPROUT_STATE])[_S_LEAF]
    features = ptr32(address[_RING_SHAPE])[_R_FEATURES]
    column = address[_RING_CODES] + feature
    first = ptr16(address[_SPROUT_BEGIN])[leaf]
    i = address[_SPROUT_LINE] + 2 * first
    end = i + 2 * (ptr16(address[_SPROUT_END])[leaf] - first)
    low = ptr8(column)[ptr16(i)[0] * features]  # < 65535 * 256 < 2**24
    high = low
    i += (end - i) & 2  # of an odd number of samples, the first one is done already
    while end - i:  # in pairs: three comparisons for two samples, not four
        a = ptr8(column)[features * ptr16(i)[0]]
        b = ptr8(column)[features * ptr16(i)[1]]
        i += 4
        if b > a:
            if low > a:
                low = a
            if b > high:
                high = b
        else:
            if high < a:
                high = a
            if b < low:
                low = b
    return (low << 8) + high


@micropython.viper
def divide(i: int, j: int, t, leaf: int) -> int:
    """Split a leaf in two; returns the new, right one. Without a split, close it and return 0."""
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    begin = ptr16(address[_SPROUT_BEGIN])
    end = ptr16(address[_SPROUT_END])
    hook = ptr16(address[_SPROUT_HOOK])
    leaves = sprout[_S_MOST]
    sprout[_S_LEAF] = leaves
    ptr32(address[_SPROUT_IMPURITY])[leaf] = 0
    if sprout[_S_MERIT] == 0:
        return 0
    features = ptr32(address[_RING_SHAPE])[_R_FEATURES]
    threshold = sprout[_S_AT]
    column = address[_RING_CODES] + sprout[_S_BY]
    i = address[_SPROUT_LINE] + 2 * begin[leaf]
    j = i + 2 * (end[leaf] - begin[leaf])
    first = i
    top = j
    while j - i:
        b = ptr16(i)[0]
        if ptr8(column)[features * b] > threshold:  # < 65535 * 256 < 2**24
            j -= 2
            ptr16(i)[0] = ptr16(j)[0]
            ptr16(j)[0] = b
        else:
            i += 2
    if i == first or j == top:  # samples were overwritten since the split was found
        return 0
    node = sprout[_S_INNER_USED]
    other = node + 1  # the leaves so far are 0..node
    sprout[_S_INNER_USED] = other
    inner = sprout[_S_SLOT] * (leaves - 1)
    ptr8(address[_GROVE_FEATURE])[inner + node] = sprout[_S_BY]
    ptr8(address[_GROVE_THRESHOLD])[inner + node] = threshold
    inner = 2 * inner
    kids = ptr8(address[_GROVE_KIDS])
    kids[inner + hook[leaf]] = node & 255  # the root's hook is its own left kid
    kids[inner + 2 * node] = (leaves - 1 + leaf) & 255
    kids[inner + 2 * node + 1] = (leaves - 1 + other) & 255
    if leaves > _NARROW:
        hang(t, inner + hook[leaf], node)
        hang(t, inner + 2 * node, leaves - 1 + leaf)
        hang(t, inner + 2 * node + 1, leaves - 1 + other)
    hook[leaf] = 2 * node
    hook[other] = 2 * node + 1
    end[other] = end[leaf]
    end[leaf] = begin[leaf] + ((i - first) >> 1)
    begin[other] = end[leaf]
    return other


@micropython.viper
def hang(t, k: int, kid: int):
    """Write the upper bits of the kid at place k."""
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    kids = ptr8(address[_GROVE_KIDS])
    kids[2 * (grove[_G_TREES] + 1) * (grove[_G_MOST] - 1) + k] = kid >> 8


@micropython.viper
def is_over(t) -> int:
    """Is the tree done growing, or is its time up?"""
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    sprout = ptr32(address[_SPROUT_STATE])
    if grove[_G_SINCE] >= grove[_G_EVERY]:
        sprout[_S_GROWING] = 0
    return 1 - sprout[_S_GROWING]


@micropython.viper
def hand_over(t, place: int):
    """Give the next tree a slot: an unused one, else the one with the smallest number.

    The address of the slots' numbers stands at `place` in the table t.
    """
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    sprout = ptr32(address[_SPROUT_STATE])
    worth = ptr32(address[place])
    used = grove[_G_USED]
    if used < grove[_G_TREES]:
        used += 1
        grove[_G_USED] = used
        sprout[_S_SLOT] = used
    else:
        worst = 0
        for s in range(used + 1):
            if worth[s] < worth[worst]:
                worst = s
        sprout[_S_SLOT] = worst


# n and k are always 0: viper keeps the first arguments in registers.


@micropython.viper
def descend(n: int, k: int, t, rows, at: int):
    """Find the leaf that the sample at rows[at] reaches in each tree that votes."""
    address = ptr32(t)
    feature = ptr8(address[_GROVE_FEATURE])
    threshold = ptr8(address[_GROVE_THRESHOLD])
    kids = ptr8(address[_GROVE_KIDS])
    path = ptr8(address[_GROVE_PATH])
    x = ptr16(rows)
    inner = ptr32(address[_GROVE_STATE])[_G_MOST] - 1
    if inner >= _NARROW:
        descend_far(t, rows, at)
        return
    growing = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    s = ptr32(address[_GROVE_STATE])[_G_USED] + 1
    first = s * inner
    while s:
        s -= 1
        first -= inner
        if s != growing:
            n = 0
            while n < inner:
                k = first + n
                n = kids[2 * k + int((x[at + feature[k]] >> 8) > threshold[k])]
            path[s] = n - inner


@micropython.viper
def descend_far(t, rows, at: int):
    """Find the leaf that the sample at rows[at] reaches in each tree that votes."""
    address = ptr32(t)
    feature = ptr8(address[_GROVE_FEATURE])
    threshold = ptr8(address[_GROVE_THRESHOLD])
    kids = ptr8(address[_GROVE_KIDS])
    path = ptr8(address[_GROVE_PATH])
    grove = ptr32(address[_GROVE_STATE])
    x = ptr16(rows)
    inner = grove[_G_MOST] - 1
    slots = grove[_G_TREES] + 1
    upper = 2 * slots * inner
    first = 0
    for s in range(grove[_G_USED] + 1):
        if s != ptr32(address[_SPROUT_STATE])[_S_SLOT]:
            n = 0
            while n < inner:
                k = first + n
                k += k + int((x[at + feature[k]] >> 8) > threshold[k])
                n = kids[k] + (kids[upper + k] << 8)
            path[s] = (n - inner) & 255
            path[slots + s] = (n - inner) >> 8
        first += inner

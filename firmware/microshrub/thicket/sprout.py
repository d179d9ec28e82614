"""A tree that grows a little with each sample, on samples of the ring that stay where they are.

It grows best first: the leaf in which the most could be gained, by how mixed its samples are,
splits next, until the tree has all its leaves. Each step of growth is one of three, and is paid
for in visits to samples: choose a leaf, try a feature for it, or split it. After every step, the
tree is complete: whatever is not split yet is a leaf.

Buffers (the numbers say where in the table t of grove.py; B = window, L = leaves of a tree):

     9  sprout     'i'  the integers below
    10  line       'H'  [B] the samples, by their places in the ring, dealt out to the leaves
    11  begin      'H'  [L] where a leaf's part of the line begins
    12  end        'H'  [L] and where it ends
    13  hook       'H'  [L] the kid (see grove.py) that is the leaf
    14  impurity   'i'  [L] samples - sum_c n_c**2 / samples in 1/256: what a split could gain;
                        0: there is none
    15  tally      'H'  [18 * classes] class counts: of each bin, of the leaf, and on the left
    16  order      'B'  [features] a shuffled list, of which the first ones were tried
"""

import micropython
from micropython import const

from .trials import BINS, attempt

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_RING_CODES = const(1)
_RING_LABELS = const(2)
_GROVE_FEATURE = const(5)
_GROVE_THRESHOLD = const(6)
_GROVE_KIDS = const(7)
_GROVE_LEAVES = const(8)
_SPROUT_STATE = const(9)
_SPROUT_LINE = const(10)
_SPROUT_BEGIN = const(11)
_SPROUT_END = const(12)
_SPROUT_HOOK = const(13)
_SPROUT_IMPURITY = const(14)
_SPROUT_TALLY = const(15)
_SPROUT_ORDER = const(16)
# thicket/ring.py
_R_LENGTH = const(0)
_R_FEATURES = const(1)
_R_CLASSES = const(2)
_R_HELD = const(3)
_R_HEAD = const(4)
# (end)


_S_SLOT = const(0)  # of the sprout: the slot in which the tree grows
_S_GROWING = const(1)  # 1: it does
_S_MOST = const(2)  # L
_S_WANTED = const(3)  # features to try for a leaf
_S_INNER_USED = const(4)  # inner nodes of the tree so far
_S_LEAF = const(5)  # the leaf that is to split next, or L: none was chosen yet
_S_DRAWN = const(6)  # features that were tried for it
_S_TRIED = const(7)  # those that had two values
_S_MERIT = const(8)  # the best split's, or 0: there is none yet
_S_BY = const(9)  # and its feature
_S_AT = const(10)  # and its threshold
_S_TIES = const(11)  # splits as good as it
_WORDS = const(12)


def sprout_table(features, classes, window, leaves):
    """The buffers."""
    return [
        ("sprout.state", "i", _WORDS),
        ("sprout.line", "H", window),
        ("sprout.begin", "H", leaves),
        ("sprout.end", "H", leaves),
        ("sprout.hook", "H", leaves),
        ("sprout.impurity", "i", leaves),
        ("sprout.tally", "H", (BINS + 2) * classes),
        ("sprout.order", "B", features),
    ]


def start_sprout(b, features, leaves, wanted):
    """Nothing grows yet, in slot 0."""
    b[_SPROUT_STATE][_S_MOST] = leaves
    b[_SPROUT_STATE][_S_WANTED] = wanted
    for f in range(features):
        b[_SPROUT_ORDER][f] = f


@micropython.viper
def plant(t, window: int):
    """A tree of one leaf, with the newest `window` samples, or all that there are."""
    address = ptr32(t)
    ring = ptr32(address[_RING_SHAPE])
    sprout = ptr32(address[_SPROUT_STATE])
    line = ptr16(address[_SPROUT_LINE])
    kids = ptr8(address[_GROVE_KIDS])
    size = ring[_R_HELD]
    if size > window:
        size = window
    place = ring[_R_HEAD]
    for i in range(size):
        if place == 0:
            place = ring[_R_LENGTH]
        place -= 1
        line[i] = place
    leaves = sprout[_S_MOST]
    inner = sprout[_S_SLOT] * (leaves - 1)
    ptr8(address[_GROVE_FEATURE])[inner] = 0
    ptr8(address[_GROVE_THRESHOLD])[inner] = 255  # all samples go left, to leaf 0
    kids[2 * inner] = leaves - 1
    kids[2 * inner + 1] = leaves - 1
    ptr16(address[_SPROUT_BEGIN])[0] = 0
    ptr16(address[_SPROUT_END])[0] = size
    ptr16(address[_SPROUT_HOOK])[0] = 0
    sprout[_S_GROWING] = 1
    sprout[_S_INNER_USED] = 0
    sprout[_S_LEAF] = leaves
    measure(t, 0)


@micropython.viper
def measure(t, leaf: int):
    """Count a leaf's classes; from them, its impurity and what it predicts."""
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    labels = ptr8(address[_RING_LABELS])
    leaves = ptr8(address[_GROVE_LEAVES])
    line = ptr16(address[_SPROUT_LINE])
    tally = ptr16(address[_SPROUT_TALLY])
    classes = ptr32(address[_RING_SHAPE])[_R_CLASSES]
    begin = ptr16(address[_SPROUT_BEGIN])[leaf]
    end = ptr16(address[_SPROUT_END])[leaf]
    for c in range(classes):
        tally[c] = 0
    for i in range(begin, end):
        c = labels[line[i]]
        tally[c] = tally[c] + 1
    samples = end - begin
    k = (sprout[_S_SLOT] * sprout[_S_MOST] + leaf) * (classes - 1)  # < 256 * 128 * 255 < 2**23
    squares = 0  # <= 2048**2 = 2**22
    so_far = 0
    given = 0
    for c in range(classes):
        n = tally[c]
        squares += n * n
        so_far += n
        if c < classes - 1:  # differences of rounded running sums, so they add up to 255
            upto = (so_far * 510 + samples) // (2 * samples)  # < 2048 * 512 = 2**20
            leaves[k + c] = upto - given
            given = upto
    ptr32(address[_SPROUT_IMPURITY])[leaf] = (
        (samples * samples - squares) << 8
    ) // samples  # < 2**30


@micropython.viper
def advance(t) -> int:
    """Take the next step of growth; returns about how many visits to samples it took."""
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    if sprout[_S_LEAF] == sprout[_S_MOST]:
        return int(choose(t))
    if (
        sprout[_S_DRAWN] < ptr32(address[_RING_SHAPE])[_R_FEATURES]
        and sprout[_S_TRIED] < sprout[_S_WANTED]
    ):
        return int(attempt(t))
    return int(split(t))


@micropython.viper
def choose(t) -> int:
    """Choose the leaf with the most to gain; without one, or without room, the tree is done."""
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
def split(t) -> int:
    """Split the leaf in two, the left one with its number, if a split was found; else close it."""
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    codes = ptr8(address[_RING_CODES])
    kids = ptr8(address[_GROVE_KIDS])
    line = ptr16(address[_SPROUT_LINE])
    begin = ptr16(address[_SPROUT_BEGIN])
    end = ptr16(address[_SPROUT_END])
    hook = ptr16(address[_SPROUT_HOOK])
    leaf = sprout[_S_LEAF]
    leaves = sprout[_S_MOST]
    sprout[_S_LEAF] = leaves
    if sprout[_S_MERIT] == 0:
        ptr32(address[_SPROUT_IMPURITY])[leaf] = 0
        return 1
    features = ptr32(address[_RING_SHAPE])[_R_FEATURES]
    feature = sprout[_S_BY]
    threshold = sprout[_S_AT]
    first = begin[leaf]
    i = first
    j = end[leaf]
    while i < j:
        b = line[i]
        if codes[b * features + feature] <= threshold:
            i += 1
        else:
            j -= 1
            line[i] = line[j]
            line[j] = b
    node = sprout[_S_INNER_USED]
    sprout[_S_INNER_USED] = node + 1
    other = node + 1  # the leaves so far are 0..node
    inner = sprout[_S_SLOT] * (leaves - 1)
    ptr8(address[_GROVE_FEATURE])[inner + node] = feature
    ptr8(address[_GROVE_THRESHOLD])[inner + node] = threshold
    inner = 2 * inner
    kids[inner + hook[leaf]] = node  # the root's hook is its own left kid
    kids[inner + 2 * node] = leaves - 1 + leaf
    kids[inner + 2 * node + 1] = leaves - 1 + other
    hook[leaf] = 2 * node
    hook[other] = 2 * node + 1
    begin[other] = i
    end[other] = end[leaf]
    end[leaf] = i
    measure(t, leaf)
    measure(t, other)
    return 2 * (end[other] - first)

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

from .trees import choose, divide
from .trials import attempt

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_RING_LABELS = const(2)
_GROVE_LEAVES = const(8)
_SPROUT_STATE = const(9)
_SPROUT_LINE = const(10)
_SPROUT_BEGIN = const(11)
_SPROUT_END = const(12)
_SPROUT_IMPURITY = const(14)
_SPROUT_TALLY = const(15)
# thicket/ring.py
_R_FEATURES = const(1)
_R_CLASSES = const(2)
# thicket/trees.py
_S_SLOT = const(0)
_S_MOST = const(2)
_S_WANTED = const(3)
_S_LEAF = const(5)
_S_DRAWN = const(6)
_S_TRIED = const(7)
# (end)


# i and k are 0: viper keeps only the first two variables of a kernel in registers.


@micropython.viper
def measure(i: int, k: int, t, leaf: int):
    """Count a leaf's classes; from them, its impurity and what it predicts."""
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    labels = ptr8(address[_RING_LABELS])
    leaves = ptr8(address[_GROVE_LEAVES])
    tally = ptr16(address[_SPROUT_TALLY])
    classes = ptr32(address[_RING_SHAPE])[_R_CLASSES]
    first = ptr16(address[_SPROUT_BEGIN])[leaf]
    samples = ptr16(address[_SPROUT_END])[leaf] - first
    i = address[_SPROUT_LINE] + 2 * first
    end = i + 2 * samples
    k = 0
    if classes == 2:  # of which the labels' sum is the second one's count
        if samples & 1:
            k = labels[ptr16(i)[0]]
            i += 2
        while end - i:
            k += labels[ptr16(i)[0]] + labels[ptr16(i)[1]]
            i += 4
        tally[0] = samples - k
        tally[1] = k
    else:
        while k < classes:
            tally[k] = 0
            k += 1
        while end - i:
            k = labels[ptr16(i)[0]]
            tally[k] = tally[k] + 1
            i += 2
    size = samples
    shift = 8
    while size >= 2048:  # so that the square of the samples, shifted, is below 2**30
        size >>= 1
        shift -= 2
    k = (sprout[_S_SLOT] * sprout[_S_MOST] + leaf) * (classes - 1)  # < 256 * 2**11 * 255
    squares = 0  # < 2**28
    so_far = 0
    given = 0
    for c in range(classes):
        n = tally[c]
        squares += n * n
        so_far += n
        if c < classes - 1:  # differences of rounded running sums, so they add up to 255
            upto = (so_far * 510 + samples) // (2 * samples)  # < 2**23
            leaves[k + c] = upto - given
            given = upto
    impurity = ((samples * samples - squares) << shift) // samples
    ptr32(address[_SPROUT_IMPURITY])[leaf] = impurity << (8 - shift)


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
def split(t) -> int:
    """Split the leaf that was chosen, if a split was found; returns the visits it took."""
    address = ptr32(t)
    leaf = ptr32(address[_SPROUT_STATE])[_S_LEAF]
    other = int(divide(0, 0, t, leaf))
    if not other:
        return 1
    measure(0, 0, t, leaf)
    measure(0, 0, t, other)
    return 2 * (ptr16(address[_SPROUT_END])[other] - ptr16(address[_SPROUT_BEGIN])[leaf])

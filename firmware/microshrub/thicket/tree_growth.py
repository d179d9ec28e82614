"""A tree that grows a little with each sample, on samples of the ring that stay where they are.

It grows best first: the leaf with the most to gain, by how mixed its samples are, splits next,
until the tree has all its leaves. A step of growth chooses a leaf, tries a feature for it, or
splits it; its cost is counted in visits to samples. After every step, the tree is complete: every
node that is not split yet is a leaf.

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

Trying a feature needs no sorting: the leaf's samples are counted by class in at most 16 bins of
equal width between its least and greatest code; the bins' borders are the possible splits. The
best split maximises the Gini merit: sum_c left_c**2 / left + sum_c right_c**2 / right, over all
features that were tried. While labels come in runs, every other tree tries one threshold of a
feature, drawn at random (Geurts, Ernst, Wehenkel: Extremely randomized trees, Machine Learning
2006): such trees are better on runs that they have not seen. So do all trees while there are few
samples.
"""

import micropython
from micropython import const

from ..fixed import below
from .sample_store import in_runs
from .trees import choose, divide, draw, span

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_RING_CODES = const(1)
_RING_LABELS = const(2)
_GROVE_LEAVES = const(8)
_SPROUT_STATE = const(9)
_SPROUT_LINE = const(10)
_SPROUT_BEGIN = const(11)
_SPROUT_END = const(12)
_SPROUT_IMPURITY = const(14)
_SPROUT_TALLY = const(15)
_GROVE_RNG = const(17)
_STORE_STATE = const(22)
# thicket/sample_ring.py
_R_FEATURES = const(1)
_R_CLASSES = const(2)
# thicket/sample_store.py
_W_SEEN = const(4)
# thicket/trees.py
_S_SLOT = const(0)
_S_MOST = const(2)
_S_WANTED = const(3)
_S_LEAF = const(5)
_S_DRAWN = const(6)
_S_TRIED = const(7)
_S_MERIT = const(8)
_S_BY = const(9)
_S_AT = const(10)
_S_TIES = const(11)
# (end)

_BINS = const(16)
BINS = _BINS
_SMALL = const(16)  # samples of a leaf that is split at a threshold drawn at random
_TRIAL = const(128)  # visits that a trial is worth besides those to samples and 8 a class


@micropython.viper
def attempt(t) -> int:
    """Draw a feature that was not tried for the leaf yet, and look for a better split on it."""
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    feature = int(draw(t))
    leaf = sprout[_S_LEAF]
    samples = ptr16(address[_SPROUT_END])[leaf] - ptr16(address[_SPROUT_BEGIN])[leaf]
    high = int(span(0, 0, t, feature))
    low = high >> 8
    high = high & 255
    if low == high:
        return samples
    sprout[_S_TRIED] = sprout[_S_TRIED] + 1
    few = int(samples <= _SMALL and ptr32(address[_STORE_STATE])[_W_SEEN] < 256)
    at_random = few
    if not few and sprout[_S_SLOT] & 1:
        at_random = int(in_runs(t))
    if at_random:
        try_one(0, 0, t, feature, low + int(below(t, _GROVE_RNG, high - low)))
        samples += samples + 4 * ptr32(address[_RING_SHAPE])[_R_CLASSES]
        return samples if few else samples + _TRIAL
    width = 0
    while (high - low) >> width >= _BINS:
        width += 1
    bins = ((high - low) >> width) + 1
    count(0, 0, t, feature, low, width)
    compare(0, 0, t, feature, low, width, bins)
    return 2 * samples + _TRIAL + 8 * ptr32(address[_RING_SHAPE])[_R_CLASSES]


@micropython.viper
def propose(t, merit: int, feature: int, threshold: int):
    """Keep a split if it is the best so far; ties are broken at random."""
    sprout = ptr32(ptr32(t)[_SPROUT_STATE])
    better = int(merit > sprout[_S_MERIT])
    if better:
        sprout[_S_TIES] = 0
    if merit == sprout[_S_MERIT] or better:
        sprout[_S_TIES] = sprout[_S_TIES] + 1
        if better or int(below(t, _GROVE_RNG, sprout[_S_TIES])) == 0:
            sprout[_S_MERIT] = merit
            sprout[_S_BY] = feature
            sprout[_S_AT] = threshold


# Of the next three, i, k and n are 0: viper keeps only the first two variables of a kernel in
# registers.


@micropython.viper
def try_one(i: int, k: int, t, feature: int, threshold: int):
    """Is a threshold drawn at random the best split so far?"""
    address = ptr32(t)
    leaf = ptr32(address[_SPROUT_STATE])[_S_LEAF]
    labels = ptr8(address[_RING_LABELS])
    tally = address[_SPROUT_TALLY]
    features = ptr32(address[_RING_SHAPE])[_R_FEATURES]
    classes = ptr32(address[_RING_SHAPE])[_R_CLASSES]
    begin = ptr16(address[_SPROUT_BEGIN])[leaf]
    samples = ptr16(address[_SPROUT_END])[leaf] - begin
    line = address[_SPROUT_LINE] + 2 * begin
    column = address[_RING_CODES] + feature
    k = 2 * classes
    while k:
        k -= 1
        ptr16(tally)[k] = 0
    right = tally + 2 * classes
    i = samples
    while i:
        i -= 1
        k = ptr16(line)[i]
        if ptr8(column)[features * k] > threshold:
            k = labels[k]
            ptr16(right)[k] = ptr16(right)[k] + 1
        else:
            k = labels[k]
            ptr16(tally)[k] = ptr16(tally)[k] + 1
    left = 0
    squares_left = 0  # < 2**28, as all sums of squares
    squares_right = 0
    for c in range(classes):
        k = ptr16(tally)[c]
        left += k
        squares_left += k * k
        k = ptr16(right)[c]
        squares_right += k * k
    shift = 8
    i = samples
    while i >= 2048:  # so that the square of the samples, shifted, is below 2**30
        i >>= 1
        shift -= 2
    merit = (squares_left << shift) // left + (squares_right << shift) // (samples - left)
    propose(t, merit, feature, threshold)


@micropython.viper
def count(i: int, k: int, t, feature: int, low: int, width: int):
    """Count the leaf's samples by class in each bin of 2**width codes from low on."""
    address = ptr32(t)
    leaf = ptr32(address[_SPROUT_STATE])[_S_LEAF]
    labels = ptr8(address[_RING_LABELS])
    tally = address[_SPROUT_TALLY]
    features = ptr32(address[_RING_SHAPE])[_R_FEATURES]
    classes = ptr32(address[_RING_SHAPE])[_R_CLASSES]
    first = ptr16(address[_SPROUT_BEGIN])[leaf]
    line = address[_SPROUT_LINE] + 2 * first
    column = address[_RING_CODES] + feature
    cell = tally + 2 * _BINS * classes
    while cell - tally:  # four at a time
        cell -= 8
        ptr16(cell)[0] = 0
        ptr16(cell)[1] = 0
        ptr16(cell)[2] = 0
        ptr16(cell)[3] = 0
    i = ptr16(address[_SPROUT_END])[leaf] - first
    while i:
        i -= 1
        k = ptr16(line)[i]
        k = ((ptr8(column)[features * k] - low) >> width) * classes + labels[k]
        ptr16(tally)[k] = ptr16(tally)[k] + 1


@micropython.viper
def compare(k: int, n: int, t, feature: int, low: int, width: int, bins: int):
    """Is a border between two bins the best split so far?

    The squares on the right are sum_c (total_c - left_c)**2; each term is
    total_c**2 - 2 * total_c * left_c + left_c**2.
    """
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    classes = ptr32(address[_RING_SHAPE])[_R_CLASSES]
    leaf = sprout[_S_LEAF]
    size = ptr16(address[_SPROUT_END])[leaf] - ptr16(address[_SPROUT_BEGIN])[leaf]
    k = address[_SPROUT_TALLY]
    total = k + 2 * _BINS * classes
    left = total + 2 * classes
    # the leaf's samples by class; none of them is on the left yet
    squares = 0  # of these samples, < 2**28, as all sums of squares below
    rest = size  # samples of the classes not counted yet
    for c in range(classes):
        n = rest
        if c < classes - 1:
            n = 0
            k = total - 2 * (_BINS * classes - c)
            while k < total:
                n += ptr16(k)[0]
                k += 2 * classes
        rest -= n
        squares += n * n
        ptr16(total)[c] = n
        ptr16(left)[c] = 0
    left_size = 0
    squares_left = 0
    met = 0  # sum_c total_c * left_c
    shift = 8
    n = size
    while n >= 2048:  # so that the square of the samples, shifted, is below 2**30
        n >>= 1
        shift -= 2
    # Of up to 1,024 samples, products tell where two divisions would be in vain; they are below
    # size**3 / 4 << scale, which is at most 2**30
    scale = 8 if size < 256 else 2
    bound = sprout[_S_MERIT] >> (8 - scale) if size <= 1024 else 0
    k = total - 2 * _BINS * classes
    border = 0
    while bins - border - 1:
        border += 1
        moved = 0
        of_class = total
        while left - of_class:
            n = ptr16(k)[0]
            k += 2
            if n:
                passed = ptr16(of_class)[classes]
                ptr16(of_class)[classes] = passed + n
                squares_left += n * (passed + passed + n)
                met += n * ptr16(of_class)[0]
                moved += n
            of_class += 2
        if not moved:
            continue
        left_size += moved
        n = size - left_size
        squares_right = squares - 2 * met + squares_left
        both = left_size * n
        if bound and (squares_left * n + squares_right * left_size) << scale < bound * both:
            continue
        # a part's squares are at most its size squared
        merit = (squares_left << shift) // left_size + (squares_right << shift) // n
        if merit > sprout[_S_MERIT]:  # as in propose(), which is for the others: a call takes long
            sprout[_S_MERIT] = merit
            sprout[_S_BY] = feature
            sprout[_S_AT] = low + (border << width) - 1
            sprout[_S_TIES] = 1
            if size <= 1024:
                bound = merit >> (8 - scale)
        elif merit == sprout[_S_MERIT]:
            propose(t, merit, feature, low + (border << width) - 1)


# i and k are 0: viper keeps only the first two variables of a kernel in registers.


@micropython.viper
def measure(i: int, k: int, t, leaf: int):
    """Count a leaf's classes, and compute its impurity and its class frequencies."""
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
    if classes == 2:  # the sum of the labels is the second class's count
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

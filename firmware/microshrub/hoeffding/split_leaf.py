"""Splitting a leaf: two nodes from the pool, and slots for them, taken from others if need be.

n are the nodes, o the slots; found is what the slots' merits() says of a split. See nodes.py and
observers.py.
"""

import micropython
from micropython import const

from .pool import take_pair, take_slot

_N_SLOTS = const(1)  # of the nodes' shape
_N_NEXT_SLOT = const(3)
_N_FREE_SLOT = const(5)
_N_KEEP = const(8)
_N_TWIN = const(10)

_O_FEATURES = const(0)  # of the observers' shape
_O_CLASSES = const(1)
_O_BINS = const(2)

_BEST = const(0)  # of the merits
_FEATURE = const(1)
_BIN = const(2)
_THRESHOLD = const(3)

_NO_SLOT = const(65535)


@micropython.viper
def divide(n, o, found, tally, node: int) -> int:
    """Split a leaf as found says; returns the left one of its new leaves.

    Each of them gets a slot if there is one for it. Without room for two nodes the leaf stays,
    and the result is 0. tally is scratch, 'i' of 2 * classes.
    """
    shape = ptr32(n[0])
    feature = ptr8(n[1])
    threshold = ptr16(n[2])
    child = ptr16(n[3])
    slots = ptr16(n[4])
    gain = ptr16(n[5])
    split = ptr32(found)
    classes = ptr32(o[0])[_O_CLASSES]
    left = int(take_pair(n))
    if not left:
        return 0
    slot = slots[node]
    feature[node] = split[_FEATURE]
    threshold[node] = split[_THRESHOLD]
    child[node] = left
    gain[node] = split[_BEST]
    distribute(o, found, tally, slot)
    errors_left = int(settle(n, tally, left, 0, classes))
    errors_right = int(settle(n, tally, left + 1, classes, classes))
    better = left + 1  # the leaf with more errors has more to learn
    other = left
    most = errors_right
    least = errors_left
    if errors_left > errors_right:
        better = left
        other = left + 1
        most = errors_left
        least = errors_right
    if shape[_N_KEEP]:
        spare = int(spare_slot(n, o, slot, most))
        if spare != _NO_SLOT:
            inherit(n, o, found, tally, better, slot, spare, better - left)
            spare = int(spare_slot(n, o, spare, least))
            if spare != _NO_SLOT:
                inherit(n, o, found, tally, other, slot, spare, other - left)
    else:
        slots[node] = _NO_SLOT
        spare = int(spare_slot(n, o, slot, least))
        if spare != _NO_SLOT:
            inherit(n, o, found, tally, other, slot, spare, other - left)
        inherit(n, o, found, tally, better, slot, slot, better - left)
    return left


@micropython.viper
def distribute(o, found, tally, slot: int):
    """The class counts of a slot on either side of the split: left in tally[0..], right behind."""
    first = ptr16(o[1])
    counts = ptr16(o[4])
    split = ptr32(found)
    sides = ptr32(tally)
    classes = ptr32(o[0])[_O_CLASSES]
    bins = ptr32(o[0])[_O_BINS]
    begin = first[split[_FEATURE]]
    for c in range(2 * classes):
        sides[c] = 0
    for b in range(first[split[_FEATURE] + 1] - begin):
        side = 0 if b <= split[_BIN] else classes
        k = (slot * bins + begin + b) * classes
        for c in range(classes):
            sides[side + c] = sides[side + c] + counts[k + c]


@micropython.viper
def settle(n, tally, leaf: int, side: int, classes: int) -> int:
    """Make a new leaf that predicts the majority of tally[side..]; returns its errors there."""
    sides = ptr32(tally)
    feature = ptr8(n[1])
    child = ptr16(n[3])
    slots = ptr16(n[4])
    gain = ptr16(n[5])
    best = 0
    total = 0
    for c in range(classes):
        total += sides[side + c]
        if sides[side + c] > sides[side + best]:
            best = c
    feature[leaf] = best
    child[leaf] = 0
    slots[leaf] = _NO_SLOT
    gain[leaf] = 0
    return total - sides[side + best]


@micropython.viper
def spare_slot(n, o, mine: int, errors: int) -> int:
    """A slot for a new leaf: a free one, else that of the least promising node.

    Which is the one with the fewest errors, if they are fewer than the given ones, but `mine` and
    leaves that keep theirs. A leaf goes on predicting its majority class, an inner node (EFDT)
    keeps its split for good. The result is 65535 if there is none.
    """
    shape = ptr32(n[0])
    feature = ptr8(n[1])
    child = ptr16(n[3])
    slots = ptr16(n[4])
    gain = ptr16(n[5])
    owner = ptr16(n[6])
    prior = ptr16(o[6])
    classes = ptr32(o[0])[_O_CLASSES]
    found = shape[_N_FREE_SLOT]
    if found != _NO_SLOT:
        shape[_N_FREE_SLOT] = owner[found]
        return found
    if shape[_N_NEXT_SLOT] < shape[_N_SLOTS]:
        found = shape[_N_NEXT_SLOT]
        shape[_N_NEXT_SLOT] = found + 1
        return found
    label = 0
    for s in range(shape[_N_SLOTS]):
        if s != mine and (child[owner[s]] or not gain[owner[s]]):
            total = 0
            best = s * classes
            for k in range(s * classes, (s + 1) * classes):
                total += prior[k]
                if prior[k] > prior[best]:
                    best = k
            if total - prior[best] < errors:
                errors = total - prior[best]
                label = best - s * classes
                found = s
    if found != _NO_SLOT:
        slots[owner[found]] = _NO_SLOT
        if not child[owner[found]]:
            feature[owner[found]] = label
    return found


@micropython.viper
def inherit(n, o, found, tally, leaf: int, parent: int, slot: int, right: int):
    """Give a new leaf a slot, with its parent's ranges, cut by the split, and its counts."""
    low = ptr16(o[2])
    high = ptr16(o[3])
    prior = ptr16(o[6])
    split = ptr32(found)
    sides = ptr32(tally)
    features = ptr32(o[0])[_O_FEATURES]
    classes = ptr32(o[0])[_O_CLASSES]
    for f in range(features):
        low[slot * features + f] = low[parent * features + f]
        high[slot * features + f] = high[parent * features + f]
    f = slot * features + split[_FEATURE]
    side = 0
    if right:
        low[f] = split[_THRESHOLD] + 1
        side = classes
    else:
        high[f] = split[_THRESHOLD]
    take_slot(n, o, leaf, slot)
    twin = ptr32(n[0])[_N_TWIN]
    for c in range(classes):
        prior[slot * classes + c] = sides[side + c]
        if twin:
            prior[(slot + twin) * classes + c] = sides[side + c]

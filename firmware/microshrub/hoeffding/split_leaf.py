"""Splitting a leaf: two nodes from the pool, and slots for them, if need be from other nodes.

The nodes and slots are those of pool.py; the split is the one that histograms.merits() found last.
"""

import micropython
from micropython import const

from .pool import take_pair, take_slot

# From elsewhere, written by `make constants`:
# places of buffers
_TALLY = const(2)
_MERITS = const(3)
_TREE_SHAPE = const(7)
_TREE_FEATURE = const(8)
_TREE_THRESHOLD = const(9)
_TREE_CHILD = const(10)
_TREE_SLOT = const(11)
_TREE_GAIN = const(12)
_TREE_OWNER = const(13)
_OBSERVERS_SHAPE = const(17)
_OBSERVERS_FIRST = const(18)
_OBSERVERS_LOW = const(19)
_OBSERVERS_HIGH = const(20)
_OBSERVERS_COUNTS = const(21)
_OBSERVERS_PRIOR = const(23)
# hoeffding/histograms.py
_M_BEST = const(0)
_O_FEATURES = const(0)
_M_FEATURE = const(1)
_O_CLASSES = const(1)
_M_BIN = const(2)
_O_BINS = const(2)
_M_THRESHOLD = const(3)
# hoeffding/pool.py
_N_SLOTS = const(1)
_N_NEXT_SLOT = const(3)
_N_FREE_SLOT = const(5)
_N_KEEP = const(8)
_N_TWIN = const(10)
_NO_SLOT = const(65535)
# (end)


@micropython.viper
def divide(t, node: int) -> int:
    """Split a leaf by the split that merits() found; returns the left new leaf.

    Each of them gets a slot if there is one for it. If there is no room for two nodes, the leaf
    stays, and the result is 0.
    """
    address = ptr32(t)
    shape = ptr32(address[_TREE_SHAPE])
    feature = ptr8(address[_TREE_FEATURE])
    threshold = ptr16(address[_TREE_THRESHOLD])
    child = ptr16(address[_TREE_CHILD])
    slots = ptr16(address[_TREE_SLOT])
    gain = ptr16(address[_TREE_GAIN])
    split = ptr32(address[_MERITS])
    classes = ptr32(address[_OBSERVERS_SHAPE])[_O_CLASSES]
    left = int(take_pair(t))
    if not left:
        return 0
    slot = slots[node]
    feature[node] = split[_M_FEATURE]
    threshold[node] = split[_M_THRESHOLD]
    child[node] = left
    gain[node] = split[_M_BEST]
    distribute(t, slot)
    errors_left = int(settle(t, left, 0, classes))
    errors_right = int(settle(t, left + 1, classes, classes))
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
        spare = int(spare_slot(t, slot, most))
        if spare != _NO_SLOT:
            inherit(t, better, slot, spare, better - left)
            spare = int(spare_slot(t, spare, least))
            if spare != _NO_SLOT:
                inherit(t, other, slot, spare, other - left)
    else:
        slots[node] = _NO_SLOT
        spare = int(spare_slot(t, slot, least))
        if spare != _NO_SLOT:
            inherit(t, other, slot, spare, other - left)
        inherit(t, better, slot, slot, better - left)
    return left


@micropython.viper
def distribute(t, slot: int):
    """The class counts of a slot on either side of the split: left in tally[0..], right behind."""
    address = ptr32(t)
    first = ptr16(address[_OBSERVERS_FIRST])
    counts = ptr16(address[_OBSERVERS_COUNTS])
    split = ptr32(address[_MERITS])
    sides = ptr32(address[_TALLY])
    classes = ptr32(address[_OBSERVERS_SHAPE])[_O_CLASSES]
    bins = ptr32(address[_OBSERVERS_SHAPE])[_O_BINS]
    begin = first[split[_M_FEATURE]]
    for c in range(2 * classes):
        sides[c] = 0
    for b in range(first[split[_M_FEATURE] + 1] - begin):
        side = 0 if b <= split[_M_BIN] else classes
        k = (slot * bins + begin + b) * classes
        for c in range(classes):
            sides[side + c] = sides[side + c] + counts[k + c]


@micropython.viper
def settle(t, leaf: int, side: int, classes: int) -> int:
    """Make a new leaf that predicts the majority of tally[side..]; returns its errors there."""
    address = ptr32(t)
    sides = ptr32(address[_TALLY])
    feature = ptr8(address[_TREE_FEATURE])
    child = ptr16(address[_TREE_CHILD])
    slots = ptr16(address[_TREE_SLOT])
    gain = ptr16(address[_TREE_GAIN])
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
def spare_slot(t, mine: int, errors: int) -> int:
    """Return a slot for a new leaf: a free one, else the slot of the least promising node.

    That is the one with the fewest errors, if these are fewer than the given ones, but not `mine`
    and leaves that keep their slot. A leaf without a slot goes on predicting its majority class;
    an inner node (EFDT) then keeps its split for good. The result is 65535 if there is none.
    """
    address = ptr32(t)
    shape = ptr32(address[_TREE_SHAPE])
    feature = ptr8(address[_TREE_FEATURE])
    child = ptr16(address[_TREE_CHILD])
    slots = ptr16(address[_TREE_SLOT])
    gain = ptr16(address[_TREE_GAIN])
    owner = ptr16(address[_TREE_OWNER])
    prior = ptr16(address[_OBSERVERS_PRIOR])
    classes = ptr32(address[_OBSERVERS_SHAPE])[_O_CLASSES]
    slot_found = shape[_N_FREE_SLOT]
    if slot_found != _NO_SLOT:
        shape[_N_FREE_SLOT] = owner[slot_found]
        return slot_found
    if shape[_N_NEXT_SLOT] < shape[_N_SLOTS]:
        slot_found = shape[_N_NEXT_SLOT]
        shape[_N_NEXT_SLOT] = slot_found + 1
        return slot_found
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
                slot_found = s
    if slot_found != _NO_SLOT:
        slots[owner[slot_found]] = _NO_SLOT
        if not child[owner[slot_found]]:
            feature[owner[slot_found]] = label
    return slot_found


@micropython.viper
def inherit(t, leaf: int, parent: int, slot: int, right: int):
    """Give a new leaf a slot, with its share of its parent's ranges and counts."""
    address = ptr32(t)
    low = ptr16(address[_OBSERVERS_LOW])
    high = ptr16(address[_OBSERVERS_HIGH])
    prior = ptr16(address[_OBSERVERS_PRIOR])
    split = ptr32(address[_MERITS])
    sides = ptr32(address[_TALLY])
    features = ptr32(address[_OBSERVERS_SHAPE])[_O_FEATURES]
    classes = ptr32(address[_OBSERVERS_SHAPE])[_O_CLASSES]
    for f in range(features):
        low[slot * features + f] = low[parent * features + f]
        high[slot * features + f] = high[parent * features + f]
    f = slot * features + split[_M_FEATURE]
    side = 0
    if right:
        low[f] = split[_M_THRESHOLD] + 1
        side = classes
    else:
        high[f] = split[_M_THRESHOLD]
    take_slot(t, leaf, slot)
    twin = ptr32(address[_TREE_SHAPE])[_N_TWIN]
    for c in range(classes):
        prior[slot * classes + c] = sides[side + c]
        if twin:
            prior[(slot + twin) * classes + c] = sides[side + c]

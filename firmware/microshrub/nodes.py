"""The pool of tree nodes and slots of statistics: splitting a leaf, giving a subtree back.

Buffers (a tuple, in this order; N nodes, S slots):

    shape      'i'  the integers below
    feature    'B'  [N] inner node: what it tests. Leaf: the class it predicts without a slot
    threshold  'H'  [N] inner node: a sample goes left if its code <= threshold
    child      'H'  [N] inner node: its left child, the right one is the next. Leaf: 0
    slot       'H'  [N] the node's slot of statistics, or 65535
    gain       'H'  [N] inner node: the Q10 gain with which it was split
    owner      'H'  [S] the node that a slot belongs to
    since      'H'  [S] samples since the slot was last looked at
    hits       'H'  [S * 2] how often the majority class, and naive Bayes, would have been right

Nodes come and go in pairs, the two children of one node. Pairs given back form a list through
child of the left one, slots given back a list through owner; 0 and 65535 end them. The slots are
those of observers.py, o; found is what its merits() says of a split.
"""

import micropython
from micropython import const

from .observers import clear_slot

_NODES = const(0)  # N
_SLOTS = const(1)  # S
_NEXT_NODE = const(2)  # never used before: from here on
_NEXT_SLOT = const(3)
_FREE_PAIR = const(4)  # the first pair given back, or 0
_FREE_SLOT = const(5)  # the first slot given back, or 65535
_COUNT = const(6)  # nodes in use
_FULL = const(7)  # 1: a split was wanted and there were no nodes
_KEEP = const(8)  # 1: inner nodes keep their slot
_WORDS = const(9)

_NO_SLOT = const(65535)

_O_FEATURES = const(0)  # of the observers' shape
_O_CLASSES = const(1)
_O_BINS = const(2)
_BEST = const(0)  # of the merits
_FEATURE = const(1)
_BIN = const(2)
_THRESHOLD = const(3)


def nodes_table(nodes, slots):
    """The buffers of a pool of that many nodes and slots."""
    return [
        ("tree.shape", "i", _WORDS),
        ("tree.feature", "B", nodes),
        ("tree.threshold", "H", nodes),
        ("tree.child", "H", nodes),
        ("tree.slot", "H", nodes),
        ("tree.gain", "H", nodes),
        ("tree.owner", "H", slots),
        ("tree.since", "H", slots),
        ("tree.hits", "H", 2 * slots),
    ]


def start_nodes(n, nodes, slots, keep):
    """A tree of one leaf, node 0, with slot 0."""
    shape = n[0]
    shape[_NODES] = nodes
    shape[_SLOTS] = slots
    shape[_NEXT_NODE] = shape[_NEXT_SLOT] = shape[_COUNT] = 1
    shape[_FREE_SLOT] = _NO_SLOT
    shape[_KEEP] = int(keep)


@micropython.viper
def divide(n, o, found, tally, node: int):
    """Split a leaf as found says, and give it two leaves; tally is scratch, 'i' of 2 * classes.

    Each new leaf gets a slot if there is one for it. Without room for two nodes the leaf stays.
    """
    shape = ptr32(n[0])
    feature = ptr8(n[1])
    threshold = ptr16(n[2])
    child = ptr16(n[3])
    slots = ptr16(n[4])
    gain = ptr16(n[5])
    split = ptr32(found)
    classes = ptr32(o[0])[_O_CLASSES]
    left = shape[_FREE_PAIR]
    if left:
        shape[_FREE_PAIR] = child[left]
    elif shape[_NEXT_NODE] + 2 <= shape[_NODES]:
        left = shape[_NEXT_NODE]
        shape[_NEXT_NODE] = left + 2
    else:
        shape[_FULL] = 1
        return
    shape[_COUNT] = shape[_COUNT] + 2
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
    if shape[_KEEP]:
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
    best = 0
    total = 0
    for c in range(classes):
        total += sides[side + c]
        if sides[side + c] > sides[side + best]:
            best = c
    feature[leaf] = best
    child[leaf] = 0
    slots[leaf] = _NO_SLOT
    return total - sides[side + best]


@micropython.viper
def spare_slot(n, o, mine: int, errors: int) -> int:
    """A slot for a new leaf: a free one, else that of the least promising leaf.

    Which is the one with the fewest errors, but `mine`, if they are fewer than the given ones; it
    goes on predicting its majority class. 65535 if there is none.
    """
    shape = ptr32(n[0])
    feature = ptr8(n[1])
    child = ptr16(n[3])
    slots = ptr16(n[4])
    owner = ptr16(n[6])
    prior = ptr16(o[6])
    classes = ptr32(o[0])[_O_CLASSES]
    found = shape[_FREE_SLOT]
    if found != _NO_SLOT:
        shape[_FREE_SLOT] = owner[found]
        return found
    if shape[_NEXT_SLOT] < shape[_SLOTS]:
        found = shape[_NEXT_SLOT]
        shape[_NEXT_SLOT] = found + 1
        return found
    label = 0
    for s in range(shape[_SLOTS]):
        if s != mine and not child[owner[s]]:
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
        feature[owner[found]] = label
    return found


@micropython.viper
def inherit(n, o, found, tally, leaf: int, parent: int, slot: int, right: int):
    """Give a new leaf a slot, with its parent's ranges, cut by the split, and its counts."""
    low = ptr16(o[2])
    high = ptr16(o[3])
    prior = ptr16(o[6])
    slots = ptr16(n[4])
    owner = ptr16(n[6])
    since = ptr16(n[7])
    hits = ptr16(n[8])
    split = ptr32(found)
    sides = ptr32(tally)
    features = ptr32(o[0])[_O_FEATURES]
    classes = ptr32(o[0])[_O_CLASSES]
    clear_slot(o, slot)
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
    for c in range(classes):
        prior[slot * classes + c] = sides[side + c]
    slots[leaf] = slot
    owner[slot] = leaf
    since[slot] = 0
    hits[2 * slot] = 0
    hits[2 * slot + 1] = 0


@micropython.viper
def release(n, node: int):
    """Give all nodes and slots below an inner node back; it is a leaf then.

    The pairs still to be given back form a stack through gain of their left nodes.
    """
    shape = ptr32(n[0])
    child = ptr16(n[3])
    slots = ptr16(n[4])
    gain = ptr16(n[5])
    owner = ptr16(n[6])
    waiting = child[node]
    child[node] = 0
    gain[waiting] = 0
    while waiting:
        pair = waiting
        waiting = gain[pair]
        for k in range(pair, pair + 2):
            if slots[k] != _NO_SLOT:
                owner[slots[k]] = shape[_FREE_SLOT]
                shape[_FREE_SLOT] = slots[k]
                slots[k] = _NO_SLOT
            if child[k]:
                gain[child[k]] = waiting
                waiting = child[k]
        child[pair] = shape[_FREE_PAIR]
        shape[_FREE_PAIR] = pair
        shape[_COUNT] = shape[_COUNT] - 2

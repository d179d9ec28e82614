"""The pool of tree nodes and of slots of statistics: what is in use, and what is free.

Buffers (a tuple, in this order; N nodes, S slots):

    shape      'i'  the integers below
    feature    'B'  [N] inner node: what it tests. Leaf: the class it predicts without a slot
    threshold  'H'  [N] inner node: a sample goes left if its code <= threshold
    child      'H'  [N] inner node: its left child, the right one is the next. Leaf: 0
    slot       'H'  [N] the node's slot of statistics, or 65535
    gain       'H'  [N] inner node: the Q10 gain with which it was split. Leaf: 1 if it keeps its
                    slot, else 0
    owner      'H'  [S] the node that a slot belongs to
    since      'H'  [S] samples since the slot was last looked at
    hits       'H'  [S * 2] how often the majority class, and naive Bayes, would have been right
    alternate  'H'  [P] root of the subtree that may replace that of an inner node, or 0, at the
                    pair of the latter's children (HAT, see adaptive.py; else P = 0)

Nodes come and go in pairs, the two children of one node, or the root of an alternate subtree and
a node that nothing uses; nodes 2 * p + 1 and 2 * p + 2 are pair p. Pairs given back form a list
through child of the left one, slots given back a list through owner; 0 and 65535 end them. The
slots are those of observers.py, o.
"""

import micropython
from micropython import const

from .histograms import clear_slot

_NODES = const(0)  # N
_SLOTS = const(1)  # S
_NEXT_NODE = const(2)  # never used before: from here on
_NEXT_SLOT = const(3)
_FREE_PAIR = const(4)  # the first pair given back, or 0
_FREE_SLOT = const(5)  # the first slot given back, or 65535
_COUNT = const(6)  # nodes in use
_FULL = const(7)  # 1: nodes were wanted and there were none
_KEEP = const(8)  # 1: inner nodes keep their slot
_ADAPTIVE = const(9)  # 1: there are alternate subtrees
_TWIN = const(10)  # a slot's boosted twin is so many slots further on, 0: it has none
_WORDS = const(11)

_NO_SLOT = const(65535)


def nodes_table(nodes, slots, adaptive):
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
        ("tree.alternate", "H", nodes // 2 if adaptive else 0),
    ]


def start_nodes(n, nodes, slots, keep, adaptive, boosted):
    """A tree of one leaf, node 0, with slot 0."""
    shape = n[0]
    shape[_NODES] = nodes
    shape[_SLOTS] = slots
    shape[_NEXT_NODE] = shape[_NEXT_SLOT] = shape[_COUNT] = 1
    shape[_FREE_SLOT] = _NO_SLOT
    shape[_KEEP] = int(keep)
    shape[_ADAPTIVE] = int(adaptive)
    shape[_TWIN] = slots if boosted else 0


@micropython.viper
def take_pair(n) -> int:
    """The left node of an unused pair, or 0 if there is none."""
    shape = ptr32(n[0])
    left = shape[_FREE_PAIR]
    if left:
        shape[_FREE_PAIR] = ptr16(n[3])[left]
    elif shape[_NEXT_NODE] + 2 <= shape[_NODES]:
        left = shape[_NEXT_NODE]
        shape[_NEXT_NODE] = left + 2
    else:
        shape[_FULL] = 1
        return 0
    shape[_COUNT] = shape[_COUNT] + 2
    if shape[_ADAPTIVE]:
        ptr16(n[9])[left >> 1] = 0
    return left


@micropython.viper
def take_slot(n, o, leaf: int, slot: int):
    """Give a leaf a slot, with nothing counted yet; the slot's ranges stay."""
    slots = ptr16(n[4])
    owner = ptr16(n[6])
    since = ptr16(n[7])
    hits = ptr16(n[8])
    twin = ptr32(n[0])[_TWIN]
    clear_slot(o, slot)
    if twin:
        clear_slot(o, slot + twin)
    slots[leaf] = slot
    owner[slot] = leaf
    since[slot] = 0
    hits[2 * slot] = 0
    hits[2 * slot + 1] = 0


@micropython.viper
def release(n, node: int):
    """Give all nodes and slots below an inner node back; it is a leaf then."""
    child = ptr16(n[3])
    pair = child[node]
    child[node] = 0
    ptr16(n[5])[node] = 0
    if ptr32(n[0])[_ADAPTIVE] and ptr16(n[9])[pair >> 1]:
        give_back(n, ptr16(n[9])[pair >> 1])
    give_back(n, pair)


@micropython.viper
def give_back(n, pair: int):
    """Put a pair of nodes and all below them back into the pool, with their slots.

    The pairs still to be given back form a stack through gain of their left nodes.
    """
    shape = ptr32(n[0])
    child = ptr16(n[3])
    gain = ptr16(n[5])
    alternate = ptr16(n[9])
    waiting = pair
    gain[waiting] = 0
    while waiting:
        pair = waiting
        waiting = gain[pair]
        for k in range(pair, pair + 2):
            free_slot(n, k)
            if child[k]:
                gain[child[k]] = waiting
                waiting = child[k]
                if shape[_ADAPTIVE] and alternate[child[k] >> 1]:
                    gain[alternate[child[k] >> 1]] = waiting
                    waiting = alternate[child[k] >> 1]
        child[pair] = shape[_FREE_PAIR]
        shape[_FREE_PAIR] = pair
        shape[_COUNT] = shape[_COUNT] - 2


@micropython.viper
def free_slot(n, node: int):
    """Take a node's slot, if it has one, back into the pool."""
    shape = ptr32(n[0])
    slots = ptr16(n[4])
    if slots[node] != _NO_SLOT:
        ptr16(n[6])[slots[node]] = shape[_FREE_SLOT]
        shape[_FREE_SLOT] = slots[node]
        slots[node] = _NO_SLOT

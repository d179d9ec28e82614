"""The pool of tree nodes and slots for statistics, in use or free.

Buffers, in this order, "tree.shape" and so on (N nodes, S slots):

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
                    pair of the latter's children (HAT, see hat.py; else P = 0)

Nodes come and go in pairs, the two children of one node, or the root of an alternate subtree and
a node that nothing uses; nodes 2 * p + 1 and 2 * p + 2 are pair p. Returned pairs form a list
through child of the left node, returned slots a list through owner; 0 and 65535 end them. The
slots are those of histograms.py.
"""

import micropython
from micropython import const

from .histograms import clear_slot

# From elsewhere, written by `make constants`:
# places of buffers
_TREE_SHAPE = const(7)
_TREE_CHILD = const(10)
_TREE_SLOT = const(11)
_TREE_GAIN = const(12)
_TREE_OWNER = const(13)
_TREE_SINCE = const(14)
_TREE_HITS = const(15)
_TREE_ALTERNATE = const(16)
# (end)

_N_NODES = const(0)  # N
_N_SLOTS = const(1)  # S
_N_NEXT_NODE = const(2)  # never used before: from here on
_N_NEXT_SLOT = const(3)
_N_FREE_PAIR = const(4)  # the first pair given back, or 0
_N_FREE_SLOT = const(5)  # the first slot given back, or 65535
_N_COUNT = const(6)  # nodes in use
_N_FULL = const(7)  # 1: nodes were wanted and there were none
_N_KEEP = const(8)  # 1: inner nodes keep their slot
_N_ADAPTIVE = const(9)  # 1: there are alternate subtrees
_N_TWIN = const(10)  # a slot's boosted twin is so many slots further on, 0: it has none
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


def start_nodes(b, nodes, slots, keep, adaptive, boosted):
    """Start with a tree of one leaf, node 0, with slot 0; b are the learner's buffers."""
    shape = b[_TREE_SHAPE]
    shape[_N_NODES] = nodes
    shape[_N_SLOTS] = slots
    shape[_N_NEXT_NODE] = shape[_N_NEXT_SLOT] = shape[_N_COUNT] = 1
    shape[_N_FREE_SLOT] = _NO_SLOT
    shape[_N_KEEP] = int(keep)
    shape[_N_ADAPTIVE] = int(adaptive)
    shape[_N_TWIN] = slots if boosted else 0


@micropython.viper
def take_pair(t) -> int:
    """The left node of an unused pair, or 0 if there is none."""
    address = ptr32(t)
    shape = ptr32(address[_TREE_SHAPE])
    left = shape[_N_FREE_PAIR]
    if left:
        shape[_N_FREE_PAIR] = ptr16(address[_TREE_CHILD])[left]
    elif shape[_N_NEXT_NODE] + 2 <= shape[_N_NODES]:
        left = shape[_N_NEXT_NODE]
        shape[_N_NEXT_NODE] = left + 2
    else:
        shape[_N_FULL] = 1
        return 0
    shape[_N_COUNT] = shape[_N_COUNT] + 2
    if shape[_N_ADAPTIVE]:
        ptr16(address[_TREE_ALTERNATE])[left >> 1] = 0
    return left


@micropython.viper
def take_slot(t, leaf: int, slot: int):
    """Give a leaf a slot, with nothing counted yet; the slot's ranges stay."""
    address = ptr32(t)
    slots = ptr16(address[_TREE_SLOT])
    owner = ptr16(address[_TREE_OWNER])
    since = ptr16(address[_TREE_SINCE])
    hits = ptr16(address[_TREE_HITS])
    twin = ptr32(address[_TREE_SHAPE])[_N_TWIN]
    clear_slot(t, slot)
    if twin:
        clear_slot(t, slot + twin)
    slots[leaf] = slot
    owner[slot] = leaf
    since[slot] = 0
    hits[2 * slot] = 0
    hits[2 * slot + 1] = 0


@micropython.viper
def release(t, node: int):
    """Give all nodes and slots below an inner node back; it is a leaf then."""
    address = ptr32(t)
    child = ptr16(address[_TREE_CHILD])
    pair = child[node]
    child[node] = 0
    ptr16(address[_TREE_GAIN])[node] = 0
    if ptr32(address[_TREE_SHAPE])[_N_ADAPTIVE] and ptr16(address[_TREE_ALTERNATE])[pair >> 1]:
        give_back(t, ptr16(address[_TREE_ALTERNATE])[pair >> 1])
    give_back(t, pair)


@micropython.viper
def give_back(t, pair: int):
    """Put a pair of nodes and all below them back into the pool, with their slots.

    The pairs still to be given back form a stack through gain of their left nodes.
    """
    address = ptr32(t)
    shape = ptr32(address[_TREE_SHAPE])
    child = ptr16(address[_TREE_CHILD])
    gain = ptr16(address[_TREE_GAIN])
    alternate = ptr16(address[_TREE_ALTERNATE])
    waiting = pair
    gain[waiting] = 0
    while waiting:
        pair = waiting
        waiting = gain[pair]
        for k in range(pair, pair + 2):
            free_slot(t, k)
            if child[k]:
                gain[child[k]] = waiting
                waiting = child[k]
                if shape[_N_ADAPTIVE] and alternate[child[k] >> 1]:
                    gain[alternate[child[k] >> 1]] = waiting
                    waiting = alternate[child[k] >> 1]
        child[pair] = shape[_N_FREE_PAIR]
        shape[_N_FREE_PAIR] = pair
        shape[_N_COUNT] = shape[_N_COUNT] - 2


@micropython.viper
def free_slot(t, node: int):
    """Take a node's slot, if it has one, back into the pool."""
    address = ptr32(t)
    shape = ptr32(address[_TREE_SHAPE])
    slots = ptr16(address[_TREE_SLOT])
    if slots[node] != _NO_SLOT:
        ptr16(address[_TREE_OWNER])[slots[node]] = shape[_N_FREE_SLOT]
        shape[_N_FREE_SLOT] = slots[node]
        slots[node] = _NO_SLOT

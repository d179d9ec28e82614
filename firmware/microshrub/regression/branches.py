"""How a HoeffdingRegressor grows and shrinks: its pool of nodes and slots, splits, and pruning.

Nodes come and go in pairs, the two children of one node: nodes 2 * p + 1 and 2 * p + 2 are pair
p. Free pairs form a list through the threshold of the left node, free slots one through owner;
0 and 65535 end them. The buffers are described in hoeffding.py.
"""

import micropython
from micropython import const

from ..fixed import square_root
from .histograms import clear, rate

# From elsewhere, written by `make constants`:
# places of buffers
_NODE_STATE = const(0)
_NODE_FEATURE = const(1)
_NODE_THRESHOLD = const(2)
_NODE_CHILD = const(3)
_NODE_SLOT = const(4)
_NODE_SINCE = const(5)
_NODE_COUNT = const(6)
_NODE_MEAN = const(7)
_NODE_ERROR = const(8)
_NODE_BELOW = const(9)
_SLOT_OWNER = const(10)
_SLOT_HELD = const(11)
_SLOT_BASE = const(12)
_SLOT_WIDTH = const(13)
_SLOT_COUNT = const(14)
_SLOT_SUM = const(15)
_SPLIT_FOUND = const(17)
# regression/histograms.py
_F_BEST = const(0)
_F_SECOND = const(1)
_F_FEATURE = const(2)
_F_BIN = const(3)
# regression/hoeffding.py
_H_FEATURES = const(0)
_H_BINS = const(1)
_H_BOUND = const(3)
_H_TIE = const(4)
_H_DEPTH = const(5)
_H_NODES = const(6)
_H_SLOTS = const(7)
_H_MEMORY = const(8)
_H_NEXT_NODE = const(9)
_H_NEXT_SLOT = const(10)
_H_FREE_PAIR = const(11)
_H_FREE_SLOT = const(12)
_H_COUNT = const(13)
# (end)

_NO_SLOT = const(65535)


@micropython.viper
def consider(t, node: int, level: int):
    """A leaf that has seen enough samples gets a slot, or splits if that is worth it.

    The leaf is `level` tests below the root.
    """
    address = ptr32(t)
    slots = ptr16(address[_NODE_SLOT])
    ptr16(address[_NODE_SINCE])[node] = 0
    if level >= ptr32(address[_NODE_STATE])[_H_DEPTH]:
        return
    if slots[node] == _NO_SLOT:
        give_slot(t, node)
    elif int(wants_split(t, slots[node])):
        split(t, node)


@micropython.viper
def wants_split(t, slot: int) -> int:
    """Return Hoeffding's bound on the ratio of the second best split's merit to the best's."""
    address = ptr32(t)
    state = ptr32(address[_NODE_STATE])
    best_split = ptr32(address[_SPLIT_FOUND])
    rate(t, slot)
    best = best_split[_F_BEST]
    if not best:
        return 0
    # Q10; a slot of which rate() finds splits holds samples
    epsilon = int(square_root(state[_H_BOUND] // ptr16(address[_SLOT_HELD])[slot]))
    if epsilon < state[_H_TIE]:
        return 1
    down = 0
    while best >> down > 65535:
        down += 1
    ratio = ((best_split[_F_SECOND] >> down) << 12) // (best >> down)  # < 2**16 * 2**12; <= 2**12
    return int((ratio * ratio) >> 14 < 1024 - epsilon)


@micropython.viper
def split(t, node: int):
    """Make the best split that rate() found; the leaf stays if there is no room for two nodes."""
    address = ptr32(t)
    state = ptr32(address[_NODE_STATE])
    best_split = ptr32(address[_SPLIT_FOUND])
    slots = ptr16(address[_NODE_SLOT])
    error = ptr32(address[_NODE_ERROR])
    left = int(take_pair(t))
    if not left:
        make_room(t, node)
        left = int(take_pair(t))
    if not left:
        return
    slot = slots[node]
    k = slot * state[_H_FEATURES] + best_split[_F_FEATURE]
    end = ptr16(address[_SLOT_BASE])[k] + best_split[_F_BIN] + 1
    ptr8(address[_NODE_FEATURE])[node] = best_split[_F_FEATURE]
    ptr16(address[_NODE_THRESHOLD])[node] = (end << ptr8(address[_SLOT_WIDTH])[k]) - 1
    ptr16(address[_NODE_CHILD])[node] = left
    # the leaves have some time to show that they are nearer to the targets than the node's mean
    ptr32(address[_NODE_BELOW])[node] = 0
    error[left] = error[node] >> 1
    error[left + 1] = error[node] >> 1
    k = k * state[_H_BINS]
    end = k + best_split[_F_BIN] + 1
    before = int(settle(t, left, k, end))
    after = int(settle(t, left + 1, end, k + state[_H_BINS]))
    slots[node] = _NO_SLOT
    more = left + int(after > before)  # the leaf that more samples come to
    slots[more] = slot
    ptr16(address[_SLOT_OWNER])[slot] = more
    clear(t, slot)
    give_slot(t, 2 * left + 1 - more)


@micropython.viper
def settle(t, leaf: int, begin: int, end: int) -> int:
    """Make a new leaf that predicts the mean of these bins; returns their samples."""
    address = ptr32(t)
    count = ptr16(address[_SLOT_COUNT])
    total = ptr32(address[_SLOT_SUM])
    samples = 0
    targets = 0
    for k in range(begin, end):
        samples += count[k]
        targets += total[k]
    mean = (targets // samples) << 8
    ptr32(address[_NODE_MEAN])[leaf] = mean + ((targets % samples) << 8) // samples  # < 2**22
    memory = ptr32(address[_NODE_STATE])[_H_MEMORY]
    ptr8(address[_NODE_COUNT])[leaf] = samples if samples < memory else memory
    ptr16(address[_NODE_CHILD])[leaf] = 0
    ptr16(address[_NODE_SLOT])[leaf] = _NO_SLOT
    ptr16(address[_NODE_SINCE])[leaf] = 0
    ptr32(address[_NODE_BELOW])[leaf] = 0
    return samples


@micropython.viper
def take_pair(t) -> int:
    """The left node of an unused pair, or 0 if there is none."""
    address = ptr32(t)
    state = ptr32(address[_NODE_STATE])
    left = state[_H_FREE_PAIR]
    if left:
        state[_H_FREE_PAIR] = ptr16(address[_NODE_THRESHOLD])[left]
    elif state[_H_NEXT_NODE] + 2 <= state[_H_NODES]:
        left = state[_H_NEXT_NODE]
        state[_H_NEXT_NODE] = left + 2
    else:
        return 0
    state[_H_COUNT] = state[_H_COUNT] + 2
    return left


@micropython.viper
def make_room(t, leaf: int):
    """Take that split back which made predictions the least better lately.

    That has to be less than a quarter of the leaf's error; else nothing changes.
    """
    address = ptr32(t)
    child = ptr16(address[_NODE_CHILD])
    error = ptr32(address[_NODE_ERROR])
    below = ptr32(address[_NODE_BELOW])
    least = error[leaf] >> 2
    worst = -1
    for node in range(ptr32(address[_NODE_STATE])[_H_NEXT_NODE]):
        left = child[node]
        if left and not child[left] and not child[left + 1] and left != leaf - 1 + (leaf & 1):
            better = error[node] - below[node]
            if better < least:
                least = better
                worst = node
    if worst >= 0:
        prune(t, worst)


@micropython.viper
def give_slot(t, leaf: int):
    """Give a leaf a slot: a free one, else the slot of the leaf with the least recent error.

    That error has to be less than half of its own; otherwise the leaf goes on without a slot.
    """
    address = ptr32(t)
    state = ptr32(address[_NODE_STATE])
    slots = ptr16(address[_NODE_SLOT])
    owner = ptr16(address[_SLOT_OWNER])
    error = ptr32(address[_NODE_ERROR])
    slot = state[_H_FREE_SLOT]
    if slot != _NO_SLOT:
        state[_H_FREE_SLOT] = owner[slot]
    elif state[_H_NEXT_SLOT] < state[_H_SLOTS]:
        slot = state[_H_NEXT_SLOT]
        state[_H_NEXT_SLOT] = slot + 1
    else:
        least = error[leaf] >> 1
        for s in range(state[_H_SLOTS]):
            if error[owner[s]] < least:
                least = error[owner[s]]
                slot = s
        if slot == _NO_SLOT:
            return
        slots[owner[slot]] = _NO_SLOT
    slots[leaf] = slot
    owner[slot] = leaf
    clear(t, slot)


@micropython.viper
def look_round(t):
    """Halve all errors; splits that made predictions worse lately are taken back."""
    address = ptr32(t)
    child = ptr16(address[_NODE_CHILD])
    error = ptr32(address[_NODE_ERROR])
    below = ptr32(address[_NODE_BELOW])
    for node in range(ptr32(address[_NODE_STATE])[_H_NEXT_NODE]):
        left = child[node]
        if left and below[node] > error[node] and not child[left] and not child[left + 1]:
            prune(t, node)
        error[node] = error[node] >> 1
        below[node] = below[node] >> 1


@micropython.viper
def prune(t, node: int):
    """Make a leaf of a node whose children are leaves."""
    address = ptr32(t)
    state = ptr32(address[_NODE_STATE])
    child = ptr16(address[_NODE_CHILD])
    slots = ptr16(address[_NODE_SLOT])
    left = child[node]
    for leaf in range(left, left + 2):
        slot = slots[leaf]
        if slot != _NO_SLOT:
            ptr16(address[_SLOT_OWNER])[slot] = state[_H_FREE_SLOT]
            state[_H_FREE_SLOT] = slot
            slots[leaf] = _NO_SLOT
    child[node] = 0
    ptr16(address[_NODE_SINCE])[node] = 0
    ptr16(address[_NODE_THRESHOLD])[left] = state[_H_FREE_PAIR]
    state[_H_FREE_PAIR] = left
    state[_H_COUNT] = state[_H_COUNT] - 2

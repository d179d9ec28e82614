"""Checks the buffers of a HoeffdingRegressor that came from a file.

Every path has to end, every index has to be within its buffer, and no sum may overflow.
"""

from micropython import const

from ..thicket.state_check import are_within

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
# regression/branches.py
_NO_SLOT = const(65535)
# regression/histograms.py
_F_FULL = const(16384)
# regression/hoeffding.py
_H_FEATURES = const(0)
_H_BINS = const(1)
_H_GRACE = const(2)
_H_NODES = const(6)
_H_SLOTS = const(7)
_H_MEMORY = const(8)
_H_NEXT_NODE = const(9)
_H_NEXT_SLOT = const(10)
_H_FREE_PAIR = const(11)
_H_FREE_SLOT = const(12)
_H_COUNT = const(13)
_H_ROUND = const(14)
_H_PERIOD = const(1024)
# (end)

_MOST_CODE = const(65535)
_MOST_MEAN = const(16776960)  # 65535 in 1/256
_WIDEST = const(16)


def tree_is_sound(b):
    """Whether the kernels can work with these buffers, the learner's tuple of them."""
    state = b[_NODE_STATE]
    return (
        0 <= state[_H_ROUND] < _H_PERIOD
        and max(b[_NODE_COUNT]) <= state[_H_MEMORY]
        and max(b[_NODE_SINCE]) < state[_H_GRACE]
        and are_within(b[_NODE_MEAN], 0, _MOST_MEAN)
        and _errors_are(b, state[_H_ROUND])
        and _pairs_are(b)
        and _slots_are(b)
        and _histograms_are(b)
    )


def _errors_are(b, samples):
    """Do all counts stay below 2**28 to the end of a round?"""
    most = (_H_PERIOD + samples) * _MOST_CODE
    return are_within(b[_NODE_ERROR], 0, most) and are_within(b[_NODE_BELOW], 0, most)


def _pairs_are(b):
    """Is every pair of nodes that was ever used free, or has it one parent?"""
    state, feature, child = b[_NODE_STATE], b[_NODE_FEATURE], b[_NODE_CHILD]
    end = state[_H_NEXT_NODE]
    if not 1 <= end <= state[_H_NODES] or not end & 1:
        return False
    taken = bytearray(end >> 1)
    free = 0
    left = state[_H_FREE_PAIR]
    while left:
        if not _is_left(left, taken) or child[left] or child[left + 1]:
            return False
        taken[left >> 1] = 1
        free += 2
        left = b[_NODE_THRESHOLD][left]
    for node in range(end):
        left = child[node]
        if left:
            if not _is_left(left, taken) or feature[node] >= state[_H_FEATURES]:
                return False
            taken[left >> 1] = 1
    return state[_H_COUNT] == end - free and (not taken or min(taken) > 0)


def _is_left(left, taken):
    """Is this the left node of a pair that nothing has yet?"""
    return left & 1 and 0 < left < 2 * len(taken) and not taken[left >> 1]


def _slots_are(b):
    """Every slot that was ever used is free, or belongs to the leaf that has it."""
    state, child, slots, owner = b[_NODE_STATE], b[_NODE_CHILD], b[_NODE_SLOT], b[_SLOT_OWNER]
    end = state[_H_NEXT_SLOT]
    if not 1 <= end <= state[_H_SLOTS]:
        return False
    taken = bytearray(end)
    slot = state[_H_FREE_SLOT]
    while slot != _NO_SLOT:
        if not 0 <= slot < end or taken[slot]:
            return False
        taken[slot] = 1
        slot = owner[slot]
    for node in range(state[_H_NEXT_NODE]):
        slot = slots[node]
        if slot != _NO_SLOT:
            if slot >= end or taken[slot] or owner[slot] != node or child[node]:
                return False
            taken[slot] = 1
    return min(taken) > 0


def _histograms_are(b):
    """No feature has counted more than its slot, and no target is above the greatest code."""
    state, held, count, total = b[_NODE_STATE], b[_SLOT_HELD], b[_SLOT_COUNT], b[_SLOT_SUM]
    bins = state[_H_BINS]
    if max(held) > _F_FULL or max(b[_SLOT_WIDTH]) > _WIDEST:
        return False
    for k in range(len(b[_SLOT_BASE])):
        left = held[k // state[_H_FEATURES]]
        last = 0
        for j in range(bins):
            n = count[k * bins + j]
            left -= n
            if n:
                last = j
            if not 0 <= total[k * bins + j] <= n * _MOST_CODE:
                return False
        if left < 0 or (b[_SLOT_BASE][k] + last) << b[_SLOT_WIDTH][k] > _MOST_CODE:
            return False
    return True

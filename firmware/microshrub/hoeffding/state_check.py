"""Checks the buffers of a Hoeffding tree that came from a file or over the link.

Every index that the kernels follow has to be within its buffer, every way has to end, every
sample that reaches a slot has to be within its ranges, and no count may overflow. Takes time in
proportion to the bytes of the state.
"""

from array import array

from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_STATE = const(0)
_STRICT = const(6)
_TREE_SHAPE = const(7)
_OBSERVERS_SHAPE = const(17)
_DRIFT_WIDTH = const(25)
# hoeffding/histograms.py
_O_FEATURES = const(0)
_O_CLASSES = const(1)
_FULL = const(32768)
# hoeffding/pool.py
_N_NODES = const(0)
_N_SLOTS = const(1)
_N_NEXT_NODE = const(2)
_N_NEXT_SLOT = const(3)
_N_FREE_PAIR = const(4)
_N_FREE_SLOT = const(5)
_N_COUNT = const(6)
_N_ADAPTIVE = const(9)
_NO_SLOT = const(65535)
# hoeffding/tree.py
_S_CLASSES = const(6)
_S_DEPTH = const(7)
_S_ALTERNATE = const(15)
# (end)

_T_NODES = const(7)  # of the parts that is_sound() makes of the buffers: tuples
_T_SLOTS = const(8)
_T_WINDOWS = const(9)

_COUNTED = const(65535)  # what is counted to has to be below
_IS_FREE = const(1)  # what a pair of nodes is
_IS_CHILDREN = const(2)
_IS_ROOT = const(3)  # of an alternate subtree, and a node that nothing uses


def is_sound(buffers):
    """Whether the kernels can work with these buffers, the learner's tuple of them."""
    nodes = buffers[_TREE_SHAPE:_OBSERVERS_SHAPE]
    slots = buffers[_OBSERVERS_SHAPE:_DRIFT_WIDTH]
    t = buffers[:_TREE_SHAPE] + (nodes, slots, buffers[_DRIFT_WIDTH:])
    if t[_STATE][_S_ALTERNATE] or not _strict_is(t[_STRICT]) or not _counts_are(t[_T_SLOTS]):
        return False
    for k in (5, 7, 8):  # gain, since, hits
        if max(t[_T_NODES][k]) >= _COUNTED:
            return False
    if t[_T_WINDOWS]:
        from ..adwin import windows_are_sound

        if not windows_are_sound(t[_T_WINDOWS]):
            return False
    return _tree_is(t)


def _strict_is(s):
    """The statistics of SVFDT: each of a number of values, their mean and their variance."""
    for k in range(0, len(s), 3):
        if not 0 <= s[k] <= 1024 or not 0 <= s[k + 1] < 1 << 21 or not 0 <= s[k + 2] < 1 << 30:
            return False
    return True


def _counts_are(o):
    """No slot has counted too many, and no feature more of a class than the slot."""
    shape, first, counts, seen, prior = o[0], o[1], o[4], o[5], o[6]
    classes = shape[_O_CLASSES]
    of_class = array("i", [0] * classes)
    at = 0
    for slot in range(0, len(prior), classes):
        kept = 0
        for k in range(slot, slot + classes):
            kept += prior[k]
            if seen[k] > prior[k]:
                return False
        if kept >= _FULL:
            return False
        for f in range(shape[_O_FEATURES]):
            for c in range(classes):
                of_class[c] = seen[slot + c]
            for _ in range(first[f], first[f + 1]):
                for c in range(classes):
                    of_class[c] -= counts[at]
                    at += 1
            if min(of_class) < 0:
                return False
    return True


def _tree_is(t):
    """Is each pair of nodes, and each slot, free or used by exactly one node?"""
    n = t[_T_NODES]
    shape = n[0]
    end = shape[_N_NEXT_NODE]
    if not 1 <= end <= shape[_N_NODES] or not end & 1:
        return False
    if not 1 <= shape[_N_NEXT_SLOT] <= shape[_N_SLOTS]:
        return False
    roles = bytearray(end >> 1)
    parents = array("H", bytes(2 * (end >> 1)))
    taken = bytearray(shape[_N_NEXT_SLOT])
    return (
        _free_pairs_are(n, roles)
        and _pairs_are(t, roles, parents)
        and _free_slots_are(n, taken)
        and _slots_are(t, roles, parents, taken)
    )


def _free_pairs_are(n, roles):
    """Follow the list of free pairs, and count what is in use."""
    shape, child = n[0], n[3]
    left = shape[_N_FREE_PAIR]
    free = 0
    while left:
        if not _is_unused(left, roles):
            return False
        roles[left >> 1] = _IS_FREE
        free += 1
        left = child[left]
    return shape[_N_COUNT] == shape[_N_NEXT_NODE] - 2 * free


def _is_unused(left, roles):
    """Is this the left node of a pair that has no role yet?"""
    return left & 1 and 0 < left < 2 * len(roles) and not roles[left >> 1]


def _pairs_are(t, roles, parents):
    """Is every pair free, an alternate, or some node's, and do inner nodes test features?"""
    shape, feature, child, alternate = (
        t[_T_NODES][0],
        t[_T_NODES][1],
        t[_T_NODES][3],
        t[_T_NODES][9],
    )
    features = t[_T_SLOTS][0][_O_FEATURES]
    for node in range(shape[_N_NEXT_NODE]):
        left = child[node]
        if not left or (node and roles[(node - 1) >> 1] == _IS_FREE):
            continue
        if feature[node] >= features or not _is_unused(left, roles):
            return False
        roles[left >> 1] = _IS_CHILDREN
        parents[left >> 1] = node
        root = alternate[left >> 1] if shape[_N_ADAPTIVE] else 0
        if root:
            if not _is_unused(root, roles):
                return False
            roles[root >> 1] = _IS_ROOT
            parents[root >> 1] = node
    return not roles or min(roles) > 0


def _free_slots_are(n, taken):
    """Follow the list of free slots."""
    owner = n[6]
    slot = n[0][_N_FREE_SLOT]
    while slot != _NO_SLOT:
        if not 0 <= slot < len(taken) or taken[slot]:
            return False
        taken[slot] = 1
        slot = owner[slot]
    return True


def _slots_are(t, roles, parents, taken):
    """Does each slot belong to the node that has it, and has a leaf without a slot a class?"""
    feature, child, slots, owner = t[_T_NODES][1], t[_T_NODES][3], t[_T_NODES][4], t[_T_NODES][6]
    features = t[_T_SLOTS][0][_O_FEATURES]
    low = array("i", [0] * features)
    high = array("i", [0] * features)
    for node in range(t[_T_NODES][0][_N_NEXT_NODE]):
        role = roles[(node - 1) >> 1] if node else 0
        if role == _IS_FREE:
            continue
        slot = slots[node]
        idle = role == _IS_ROOT and not node & 1
        if slot != _NO_SLOT:
            if idle or slot >= len(taken) or taken[slot] or owner[slot] != node:
                return False
            taken[slot] = 1
            if not _reach(t, node, roles, parents, low, high):
                return False
            if not _holds(t[_T_SLOTS], slot, low, high):
                return False
        elif not child[node] and not idle and feature[node] >= t[_STATE][_S_CLASSES]:
            return False
    return min(taken) > 0


def _reach(t, node, roles, parents, low, high):
    """Write the codes that the tests on the way to a node let through; False: no such way."""
    feature, threshold = t[_T_NODES][1], t[_T_NODES][2]
    for f in range(len(low)):
        low[f] = 0
        high[f] = 65535
    left = t[_STATE][_S_DEPTH] + 1  # an alternate is one step more
    while node:
        if left < 0:
            return False
        left -= 1
        pair = (node - 1) >> 1
        above = parents[pair]
        if roles[pair] == _IS_CHILDREN:
            f = feature[above]
            if node & 1:
                high[f] = min(high[f], threshold[above])
            else:
                low[f] = max(low[f], threshold[above] + 1)
        node = above
    return True


def _holds(o, slot, low, high):
    """Are these codes within the ranges of the slot?"""
    at = slot * len(low)
    for f in range(len(low)):
        least = o[2][at + f]
        most = o[3][at + f]
        if least > most or (low[f] <= high[f] and (low[f] < least or high[f] > most)):
            return False
    return True

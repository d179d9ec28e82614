"""Checks the buffers of a shrub ensemble that came from a file or over the link.

Every index that the kernels follow must be within its buffer, and every path must end. This takes
time in proportion to the bytes of the state.
"""

from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_STATE = const(0)
_MEMBER = const(3)
_WINDOW_SHAPE = const(5)
_SHRUBS_SHAPE = const(9)
_CART_SHAPE = const(14)
_MEMBERS_SHAPE = const(24)
# shrub/ensemble.py
_SEEN = const(0)
_EVERY = const(1)
# shrub/pool.py
_P_INNER = const(2)
_P_LEAVES = const(3)
_P_LINKED = const(4)
_P_ONE_HOT = const(5)
_P_WIDE_KIDS = const(7)
# shrub/weights.py
_M_USED = const(0)
_M_MOST = const(1)
_ONE = const(65536)
# shrub/window.py
_W_WINDOW = const(0)
_W_SIZE = const(2)
_W_HEAD = const(3)
_W_WIDE_CODES = const(4)
_W_WIDE_ORDER = const(5)
_W_SORTED = const(6)
# (end)


def is_sound(buffers, features, classes):
    """Whether the kernels can work with these buffers, the learner's tuple of them."""
    state = buffers[_STATE]
    shrubs = buffers[_SHRUBS_SHAPE:_CART_SHAPE]
    members = buffers[_MEMBERS_SHAPE:]
    return (
        0 <= state[_SEEN] < state[_EVERY]
        and _window_is(buffers[_WINDOW_SHAPE:_SHRUBS_SHAPE], features, classes)
        and _members_are(members)
        and _shrubs_are(shrubs, members, features, classes)
        and _below(buffers[_MEMBER], shrubs[0][_P_LEAVES])
    )


def _item(buffer, k, wide):
    return buffer[2 * k] | buffer[2 * k + 1] << 8 if wide else buffer[k]


def _below(member, leaves):
    """Is every entry the number of a leaf?"""
    if leaves <= 256:
        return max(member) < leaves
    return all([_item(member, k, 1) < leaves for k in range(len(member) // 2)])


def _window_is(w, features, classes):
    """Do the ring's ends fit each other, and does each order sort the ring's samples by code?"""
    shape, codes, labels, order = w
    length = shape[_W_WINDOW]
    size = shape[_W_SIZE]
    if not 0 <= size <= length or not 0 <= shape[_W_HEAD] < length or max(labels) >= classes:
        return False
    if size < length and shape[_W_HEAD] != size:
        return False
    seen = bytearray(length)
    for f in range(features if shape[_W_SORTED] else 0):
        stamp = f % 255 + 1
        last = 0
        for r in range(f * length, f * length + size):
            b = _item(order, r, shape[_W_WIDE_ORDER])
            if b >= size or seen[b] == stamp:
                return False
            seen[b] = stamp
            code = _item(codes, f * length + b, shape[_W_WIDE_CODES])
            if code < last:
                return False
            last = code
    return True


def _members_are(m):
    """Do the ranks have each slot once, and do the members' weights add up to one?"""
    shape, weight, rank = m[0], m[1], m[2]
    used = shape[_M_USED]
    if not 0 <= used <= shape[_M_MOST]:
        return False
    seen = bytearray(len(rank))
    for slot in rank:
        if slot >= len(rank) or seen[slot]:
            return False
        seen[slot] = 1
    total = 0
    for i in range(used):
        if not 0 <= weight[rank[i]] <= _ONE:
            return False
        total += weight[rank[i]]
    return total == (_ONE if used else 0)


def _shrubs_are(p, m, features, classes):
    """Do inner nodes test features, are leaves valid, and does every path end in a leaf?"""
    shape, feature, _, kids, leaves = p
    if max(feature) >= features:
        return False
    if shape[_P_ONE_HOT]:
        if max(leaves) >= classes:
            return False
    elif classes > 2:
        for k in range(0, len(leaves), classes - 1):
            if sum(leaves[k : k + classes - 1]) > 255:
                return False
    for i in range(m[0][_M_USED] if shape[_P_LINKED] else 0):
        if not _ends(shape, kids, m[2][i]):
            return False
    return True


def _ends(shape, kids, slot):
    """Do the paths in a linked shrub end in leaves? A node's children have greater numbers."""
    inner = shape[_P_INNER]
    numbers = inner + shape[_P_LEAVES]
    wide = shape[_P_WIDE_KIDS]
    first = slot * (2 * inner + 1)
    reached = bytearray(numbers)
    root = _item(kids, first, wide)
    if root >= numbers:
        return False
    reached[root] = 1
    for n in range(inner):
        if reached[n]:
            for k in range(first + 1 + 2 * n, first + 3 + 2 * n):
                child = _item(kids, k, wide)
                if not n < child < numbers:
                    return False
                reached[child] = 1
    return True

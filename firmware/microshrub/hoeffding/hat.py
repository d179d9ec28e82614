"""HAT: alternate subtrees grow where a Hoeffding tree has got worse, and replace it if better.

Bifet, Gavalda: Adaptive Learning from Evolving Data Streams, IDA 2009. Each inner node watches the
errors made below it through a window of adwin.py. When they have risen, an alternate subtree
starts there as a leaf; both learn from then on, and when chance no longer explains the difference
between their errors, the better one stays. If the pool has no nodes left, the node itself becomes
a leaf. A leaf whose errors have risen forgets what it has counted; in the paper, it does not.

The kernels' table t is described in learn.py. Window p is that of the inner node whose children
are pair p, or of the alternate whose root is in it; the windows of the slots follow.
"""

import micropython
from micropython import const

from ..adwin import add_bit, clear_window, mean
from ..fixed import square_root
from .learn import answer, find_leaf, grow
from .pool import free_slot, give_back, release, take_pair, take_slot
from .split_leaf import spare_slot

# From elsewhere, written by `make constants`:
# places of buffers
_STATE = const(0)
_TREE_SHAPE = const(7)
_TREE_FEATURE = const(8)
_TREE_THRESHOLD = const(9)
_TREE_CHILD = const(10)
_TREE_SLOT = const(11)
_TREE_GAIN = const(12)
_TREE_OWNER = const(13)
_TREE_ALTERNATE = const(16)
_OBSERVERS_LOW = const(19)
_OBSERVERS_HIGH = const(20)
_DRIFT_WIDTH = const(25)
# hoeffding/pool.py
_N_NODES = const(0)
_NO_SLOT = const(65535)
# hoeffding/tree.py
_S_FEATURES = const(5)
_S_HOST = const(14)
_S_ALTERNATE = const(15)
# (end)


_LEAST = const(300)  # errors, or none, that both have to have been watched for
_CHANCE = const(7555)  # 2 ln(2 / 0.05) in Q10


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Learn a sample, in the tree and in the alternate subtrees on its path; see Learner."""
    leaf = int(find_leaf(t, 0, rows, at))
    predicted = int(answer(t, leaf, rows, at))
    changes = int(watch(t, rows, at, int(predicted != label)))
    if changes + int(grow_alternates(t, rows, at, label)):
        leaf = int(find_leaf(t, 0, rows, at))
        answer(t, leaf, rows, at)
    watch_new(t, int(grow(t, 0, 0, rows, at, label)))
    return predicted


@micropython.viper
def watch_new(t, left: int):
    """Start the windows of a node that was split into `left` and the next, unless that is 0."""
    address = ptr32(t)
    slots = ptr16(address[_TREE_SLOT])
    if left:
        clear_window(t, _DRIFT_WIDTH, left >> 1)
        for k in range(left, left + 2):
            if slots[k] != _NO_SLOT:
                clear_window(
                    t, _DRIFT_WIDTH, (ptr32(address[_TREE_SHAPE])[_N_NODES] >> 1) + slots[k]
                )


@micropython.viper
def watch(t, rows, at: int, wrong: int) -> int:
    """Tell the nodes on the sample's path whether there was an error; returns 1 if one changed."""
    address = ptr32(t)
    feature = ptr8(address[_TREE_FEATURE])
    threshold = ptr16(address[_TREE_THRESHOLD])
    child = ptr16(address[_TREE_CHILD])
    slots = ptr16(address[_TREE_SLOT])
    alternate = ptr16(address[_TREE_ALTERNATE])
    x = ptr16(rows)
    node = 0
    while child[node]:
        pair = child[node] >> 1
        if int(add_bit(t, _DRIFT_WIDTH, pair, wrong)):
            if alternate[pair]:
                give_back(t, alternate[pair])
                alternate[pair] = 0
            if int(renew(t, node, rows, at)):
                return 1
        elif alternate[pair]:
            verdict = int(compare(t, pair, alternate[pair] >> 1))
            if verdict > 0:
                replace(t, node)
                return 1
            if verdict < 0:
                give_back(t, alternate[pair])
                alternate[pair] = 0
        node = child[node] + int(x[at + feature[node]] > threshold[node])
    if slots[node] != _NO_SLOT:
        k = (ptr32(address[_TREE_SHAPE])[_N_NODES] >> 1) + slots[node]
        if int(add_bit(t, _DRIFT_WIDTH, k, wrong)):
            take_slot(t, node, slots[node])
            return 1
    return 0


@micropython.viper
def compare(t, old: int, new: int) -> int:
    """1: the errors in window `new` are fewer than in `old`, -1: they are more, 0: not known.

    They are if the means differ by more than sqrt(2 v ln(2 / 0.05) / m), as in differs(); v is the
    variance of the old ones.
    """
    address = ptr32(t)
    width = ptr16(address[_DRIFT_WIDTH])
    if width[old] < _LEAST or width[new] < _LEAST:
        return 0
    errors = int(mean(t, _DRIFT_WIDTH, old))
    variance = (errors * (16384 - errors)) >> 14
    # width < 2**14: the product is below 2**28
    m = width[old] * width[new] // (width[old] + width[new])
    # 2**12 * 2**13, >> 10, << 14: Q28, below 2**29
    bound = int(square_root((((variance * _CHANCE) >> 10) << 14) // m))
    ahead = errors - int(mean(t, _DRIFT_WIDTH, new))
    return int(ahead > bound) - int(ahead < 0 - bound)


@micropython.viper
def grow_alternates(t, rows, at: int, label: int) -> int:
    """Learn the sample in the alternate subtrees on its path; returns how many there are."""
    address = ptr32(t)
    state = ptr32(address[_STATE])
    feature = ptr8(address[_TREE_FEATURE])
    threshold = ptr16(address[_TREE_THRESHOLD])
    child = ptr16(address[_TREE_CHILD])
    alternate = ptr16(address[_TREE_ALTERNATE])
    x = ptr16(rows)
    node = 0
    level = 0
    count = 0
    while child[node]:
        root = alternate[child[node] >> 1]
        if root:
            count += 1
            leaf = int(find_leaf(t, root, rows, at))
            wrong = int(int(answer(t, leaf, rows, at)) != label)
            add_bit(t, _DRIFT_WIDTH, root >> 1, wrong)
            state[_S_HOST] = node
            state[_S_ALTERNATE] = root
            watch_new(t, int(grow(t, root, level, rows, at, label)))
            state[_S_ALTERNATE] = 0
        node = child[node] + int(x[at + feature[node]] > threshold[node])
        level += 1
    return count


@micropython.viper
def renew(t, node: int, rows, at: int) -> int:
    """Give an inner node an empty leaf as its alternate.

    Without nodes for it the inner node becomes that leaf, which returns 1; without a slot for it
    all stays as it is.
    """
    address = ptr32(t)
    child = ptr16(address[_TREE_CHILD])
    slots = ptr16(address[_TREE_SLOT])
    slot = int(spare_slot(t, _NO_SLOT, _NO_SLOT))
    if slot == _NO_SLOT:
        return 0
    root = int(take_pair(t))
    if not root:
        release(t, node)
        free_slot(t, node)
        restart(t, node, slot, node, rows, at)
        return 1
    for k in range(root, root + 2):
        child[k] = 0
        slots[k] = _NO_SLOT
    restart(t, root, slot, node, rows, at)
    clear_window(t, _DRIFT_WIDTH, root >> 1)
    ptr16(address[_TREE_ALTERNATE])[child[node] >> 1] = root
    return 0


@micropython.viper
def restart(t, leaf: int, slot: int, place: int, rows, at: int):
    """Let a leaf start over, in the slot that it keeps.

    Its ranges are those that the way of the sample at rows[at] down to node `place` leaves open.
    """
    address = ptr32(t)
    feature = ptr8(address[_TREE_FEATURE])
    threshold = ptr16(address[_TREE_THRESHOLD])
    child = ptr16(address[_TREE_CHILD])
    low = ptr16(address[_OBSERVERS_LOW])
    high = ptr16(address[_OBSERVERS_HIGH])
    x = ptr16(rows)
    first = slot * ptr32(address[_STATE])[_S_FEATURES]
    for k in range(first, first + ptr32(address[_STATE])[_S_FEATURES]):
        low[k] = 0
        high[k] = 65535
    node = 0
    while node != place:
        k = first + feature[node]
        right = int(x[at + feature[node]] > threshold[node])
        if right:
            low[k] = threshold[node] + 1
        else:
            high[k] = threshold[node]
        node = child[node] + right
    take_slot(t, leaf, slot)
    clear_window(t, _DRIFT_WIDTH, (ptr32(address[_TREE_SHAPE])[_N_NODES] >> 1) + slot)
    ptr16(address[_TREE_GAIN])[leaf] = 1


@micropython.viper
def replace(t, node: int):
    """Put an inner node's alternate in its place, and give the old subtree back."""
    address = ptr32(t)
    feature = ptr8(address[_TREE_FEATURE])
    threshold = ptr16(address[_TREE_THRESHOLD])
    child = ptr16(address[_TREE_CHILD])
    slots = ptr16(address[_TREE_SLOT])
    gain = ptr16(address[_TREE_GAIN])
    alternate = ptr16(address[_TREE_ALTERNATE])
    pair = child[node] >> 1
    root = alternate[pair]
    alternate[pair] = 0
    release(t, node)
    free_slot(t, node)
    feature[node] = feature[root]
    threshold[node] = threshold[root]
    child[node] = child[root]
    slots[node] = slots[root]
    if child[node]:
        gain[node] = gain[root]
    if slots[node] != _NO_SLOT:
        ptr16(address[_TREE_OWNER])[slots[node]] = node
    child[root] = 0
    slots[root] = _NO_SLOT
    give_back(t, root)

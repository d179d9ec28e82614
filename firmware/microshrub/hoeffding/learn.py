"""A Hoeffding tree at work: takes a sample down to a leaf, predicts, and updates the leaf.

All of the tree's kernels take the table t of the buffers' addresses (tree.py makes the buffers):

    state   'i'  the integers below
    votes   'i'  [classes] the votes for the last sample that was predicted
    tally   'i'  [2 * classes] scratch: class counts left and right of a split
    merits  'i'  what histograms.merits() found last
    used    'H'  [features] scratch of split_rules.py
    rng     'i'  [2] the random numbers of the boosting
    strict  'i'  statistics of earlier splits, see svfdt.py
    then the nodes (pool.py), the slots (histograms.py) and, with `adaptive`, windows (adwin.py)
"""

import micropython
from micropython import const

from ..fixed import poisson
from .histograms import locate, observe
from .leaf_votes import majority, naive_bayes
from .split_leaf import divide
from .split_rules import review, wants_split

# From elsewhere, written by `make constants`:
# places of buffers
_STATE = const(0)
_VOTES = const(1)
_RNG = const(5)
_TREE_FEATURE = const(8)
_TREE_THRESHOLD = const(9)
_TREE_CHILD = const(10)
_TREE_SLOT = const(11)
_TREE_SINCE = const(14)
_TREE_HITS = const(15)
# hoeffding/leaf_votes.py
_VOTE = const(1020)
# hoeffding/pool.py
_NO_SLOT = const(65535)
# hoeffding/tree.py
_S_RULE = const(0)
_EFDT = const(1)
_S_GRACE = const(1)
_S_CLASSES = const(6)
_S_DEPTH = const(7)
_S_POLICY = const(8)
_S_TWIN = const(9)
_S_LAMBDA_MIN = const(10)
_S_LAMBDA_MAX = const(11)
_S_BY_MAJORITY = const(12)
_S_BY_BAYES = const(13)
# (end)


_REVIEW = const(2000)  # samples of an inner node between two looks at its split (EFDT)


@micropython.viper
def find_leaf(t, node: int, rows, at: int) -> int:
    """The leaf below a node that the sample at rows[at] reaches."""
    address = ptr32(t)
    feature = ptr8(address[_TREE_FEATURE])
    threshold = ptr16(address[_TREE_THRESHOLD])
    child = ptr16(address[_TREE_CHILD])
    x = ptr16(rows)
    while child[node]:
        node = child[node] + int(x[at + feature[node]] > threshold[node])
    return node


@micropython.viper
def answer(t, leaf: int, rows, at: int) -> int:
    """Compute a leaf's prediction; without a slot, all votes are for its one class."""
    address = ptr32(t)
    state = ptr32(address[_STATE])
    slot = ptr16(address[_TREE_SLOT])[leaf]
    if slot == _NO_SLOT:
        votes = ptr32(address[_VOTES])
        label = ptr8(address[_TREE_FEATURE])[leaf]
        for c in range(state[_S_CLASSES]):
            votes[c] = 0
        votes[label] = 16711680  # 65536 * 255
        return label
    if state[_S_RULE]:
        locate(t, slot, rows, at)
    slot += state[_S_TWIN]
    if state[_S_RULE] == 2:
        hits = ptr16(address[_TREE_HITS])
        k = 2 * (slot - state[_S_TWIN])
        state[_S_BY_MAJORITY] = int(majority(t, slot))
        state[_S_BY_BAYES] = int(naive_bayes(t, slot))
        if hits[k + 1] > hits[k]:
            return state[_S_BY_BAYES]
    elif state[_S_RULE]:
        return int(naive_bayes(t, slot))
    return int(majority(t, slot))


@micropython.viper
def grow(t, node: int, level: int, rows, at: int, label: int) -> int:
    """Learn the sample at rows[at] below a node that is `level` tests below the root.

    The leaf that it reaches has to be the leaf that predicted last. Now and then, check whether a
    node should change; returns the left one of two new nodes, or 0.
    """
    address = ptr32(t)
    state = ptr32(address[_STATE])
    feature = ptr8(address[_TREE_FEATURE])
    threshold = ptr16(address[_TREE_THRESHOLD])
    child = ptr16(address[_TREE_CHILD])
    slots = ptr16(address[_TREE_SLOT])
    since = ptr16(address[_TREE_SINCE])
    x = ptr16(rows)
    while child[node]:
        slot = slots[node]
        if slot != _NO_SLOT:
            locate(t, slot, rows, at)
            observe(t, slot, label, 1)
            since[slot] = since[slot] + 1
            if since[slot] >= _REVIEW:
                since[slot] = 0
                before = child[node]
                left = int(review(t, node, slot))
                if child[node] != before:
                    return left
        node = child[node] + int(x[at + feature[node]] > threshold[node])
        level += 1
    slot = slots[node]
    if slot == _NO_SLOT:
        return 0
    if state[_S_RULE] == 0 or state[_S_POLICY] == _EFDT:
        locate(t, slot, rows, at)
    if state[_S_RULE] == 2:
        keep_score(t, slot, label)
    if state[_S_TWIN]:
        observe(t, slot + state[_S_TWIN], label, int(weight(t, label)))
    observe(t, slot, label, 1)
    since[slot] = since[slot] + 1
    if since[slot] < state[_S_GRACE]:
        return 0
    since[slot] = 0
    if level < state[_S_DEPTH] and int(wants_split(t, slot, rows, at)):
        return int(divide(t, node))
    return 0


@micropython.viper
def keep_score(t, slot: int, label: int):
    """Which of majority class and naive Bayes was right about this sample?"""
    address = ptr32(t)
    state = ptr32(address[_STATE])
    hits = ptr16(address[_TREE_HITS])
    k = 2 * slot
    if state[_S_BY_MAJORITY] == label:
        hits[k] = hits[k] + 1
    if state[_S_BY_BAYES] == label:
        hits[k + 1] = hits[k + 1] + 1
    if hits[k] == 65535 or hits[k + 1] == 65535:
        hits[k] = hits[k] >> 1
        hits[k + 1] = hits[k + 1] >> 1


@micropython.viper
def weight(t, label: int) -> int:
    """How often OLBoost counts a sample, given the votes that its class just got.

    It is drawn from a Poisson distribution of mean lambda_max - (lambda_max - lambda_min) * share.
    """
    address = ptr32(t)
    state = ptr32(address[_STATE])
    share = ptr32(address[_VOTES])[label] // _VOTE  # Q14
    spread = state[_S_LAMBDA_MAX] - state[_S_LAMBDA_MIN]  # <= 2**12
    return int(poisson(t, _RNG, state[_S_LAMBDA_MAX] - ((spread * share) >> 14)))

"""A Hoeffding tree at work: the way down to a leaf, its answer, and what a sample changes there.

The kernels' tuple t of hoeffding.py is described here, since all of the tree's kernels take it:

    state   'i'  the integers below
    votes   'i'  [classes] the votes for the last sample that was asked for
    tally   'i'  [2 * classes] scratch: class counts left and right of a split
    merits  'i'  what observers.merits() found
    used    'H'  [features] scratch of growth.py
    rng     'i'  [2] of the boosting
    strict  'i'  what strict.py knows of earlier splits
    nodes, slots, and with `adaptive` windows: tuples, see nodes.py, observers.py and drift.py
"""

import micropython
from micropython import const

from ..fixed import poisson
from .histograms import locate, observe
from .leaf_votes import majority, naive_bayes
from .split_leaf import divide
from .split_rules import review, wants_split

_STATE = const(0)
_VOTES = const(1)
_TALLY = const(2)
_MERITS = const(3)
_RNG = const(5)
_NODES = const(7)
_SLOTS = const(8)

_RULE = const(0)  # leaf: 0 majority class, 1 naive Bayes, 2 whichever was right more often
_GRACE = const(1)
_CLASSES = const(6)
_DEPTH = const(7)
_POLICY = const(8)
_TWIN = const(9)  # a slot's boosted twin is so many slots further on, 0: there is none
_LAMBDA_MIN = const(10)  # Q8
_LAMBDA_MAX = const(11)
_BY_MAJORITY = const(12)  # what the leaf last asked says by either rule
_BY_BAYES = const(13)

_EFDT = const(1)
_REVIEW = const(2000)  # samples of an inner node between two looks at its split (EFDT)
_VOTE = const(1020)  # votes for a share of 1 / 2**14
_NO_SLOT = const(65535)


@micropython.viper
def find_leaf(t, node: int, rows, at: int) -> int:
    """The leaf below a node that the sample at rows[at] reaches."""
    feature = ptr8(t[_NODES][1])
    threshold = ptr16(t[_NODES][2])
    child = ptr16(t[_NODES][3])
    x = ptr16(rows)
    while child[node]:
        node = child[node] + int(x[at + feature[node]] > threshold[node])
    return node


@micropython.viper
def answer(t, leaf: int, rows, at: int) -> int:
    """What a leaf predicts; without a slot it has one class, and all votes are for it."""
    state = ptr32(t[_STATE])
    slot = ptr16(t[_NODES][4])[leaf]
    if slot == _NO_SLOT:
        votes = ptr32(t[_VOTES])
        label = ptr8(t[_NODES][1])[leaf]
        for c in range(state[_CLASSES]):
            votes[c] = 0
        votes[label] = 16711680  # 65536 * 255
        return label
    if state[_RULE]:
        locate(t[_SLOTS], slot, rows, at)
    slot += state[_TWIN]
    if state[_RULE] == 2:
        hits = ptr16(t[_NODES][8])
        k = 2 * (slot - state[_TWIN])
        state[_BY_MAJORITY] = int(majority(t[_SLOTS], slot, t[_VOTES]))
        state[_BY_BAYES] = int(naive_bayes(t[_SLOTS], slot, t[_VOTES]))
        if hits[k + 1] > hits[k]:
            return state[_BY_BAYES]
    elif state[_RULE]:
        return int(naive_bayes(t[_SLOTS], slot, t[_VOTES]))
    return int(majority(t[_SLOTS], slot, t[_VOTES]))


@micropython.viper
def grow(t, node: int, level: int, rows, at: int, label: int) -> int:
    """Learn the sample at rows[at] below a node that lies so many tests below the root.

    The leaf that it reaches was the last that was asked for an answer. See now and then whether a
    node should change; returns the left one of two new nodes, or 0.
    """
    state = ptr32(t[_STATE])
    feature = ptr8(t[_NODES][1])
    threshold = ptr16(t[_NODES][2])
    child = ptr16(t[_NODES][3])
    slots = ptr16(t[_NODES][4])
    since = ptr16(t[_NODES][7])
    x = ptr16(rows)
    while child[node]:
        slot = slots[node]
        if slot != _NO_SLOT:
            locate(t[_SLOTS], slot, rows, at)
            observe(t[_SLOTS], slot, label, 1)
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
    if state[_RULE] == 0 or state[_POLICY] == _EFDT:
        locate(t[_SLOTS], slot, rows, at)
    if state[_RULE] == 2:
        keep_score(t, slot, label)
    if state[_TWIN]:
        observe(t[_SLOTS], slot + state[_TWIN], label, int(weight(t, label)))
    observe(t[_SLOTS], slot, label, 1)
    since[slot] = since[slot] + 1
    if since[slot] < state[_GRACE]:
        return 0
    since[slot] = 0
    if level < state[_DEPTH] and int(wants_split(t, slot, rows, at)):
        return int(divide(t[_NODES], t[_SLOTS], t[_MERITS], t[_TALLY], node))
    return 0


@micropython.viper
def keep_score(t, slot: int, label: int):
    """Which of majority class and naive Bayes was right about this sample?"""
    state = ptr32(t[_STATE])
    hits = ptr16(t[_NODES][8])
    k = 2 * slot
    if state[_BY_MAJORITY] == label:
        hits[k] = hits[k] + 1
    if state[_BY_BAYES] == label:
        hits[k + 1] = hits[k + 1] + 1
    if hits[k] == 65535 or hits[k + 1] == 65535:
        hits[k] = hits[k] >> 1
        hits[k + 1] = hits[k + 1] >> 1


@micropython.viper
def weight(t, label: int) -> int:
    """How often OLBoost counts a sample for which the last answer gave its class so many votes.

    It is drawn from a Poisson distribution of mean lambda_max - (lambda_max - lambda_min) * share.
    """
    state = ptr32(t[_STATE])
    share = ptr32(t[_VOTES])[label] // _VOTE  # Q14
    spread = state[_LAMBDA_MAX] - state[_LAMBDA_MIN]  # <= 2**12
    return int(poisson(t[_RNG], state[_LAMBDA_MAX] - ((spread * share) >> 14)))

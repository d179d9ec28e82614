"""HoeffdingRegressor: a tree for numbers that grows with the stream, in a fixed pool of nodes.

Ikonomovska, Gama, Dzeroski: Learning Model Trees from Evolving Data Streams, Data Mining and
Knowledge Discovery 2011 (FIMT-DD): a leaf splits where that reduces the variance of its targets
most, once Hoeffding's bound says that the second best feature's reduction is a smaller one. What
differs: histograms take the place of search trees (histograms.py), and leaves predict a mean, of
their last targets, instead of a linear model. Instead of tests for drift, each inner node keeps a
mean, too, and becomes a leaf again once that is nearer to the targets than what the leaves below
say, or when its nodes are of more use elsewhere (branches.py).

Only some leaves can learn how to split at a time: those where the errors are.

Buffers of the table t (N nodes, S slots, B bins):

     0  node.state      'i'  the integers below
     1  node.feature    'B'  [N] inner node: what it tests
     2  node.threshold  'H'  [N] inner node: a sample goes left if its code <= threshold
     3  node.child      'H'  [N] inner node: its left child, the right one is the next. Leaf: 0
     4  node.slot       'H'  [N] the leaf's slot, or 65535
     5  node.since      'H'  [N] samples since the leaf last tried to split, or to get a slot
     6  node.count      'B'  [N] samples in the mean, at most `memory`
     7  node.mean       'i'  [N] of the last targets that came by, in 1/256
     8  node.error      'i'  [N] what the mean was away from them lately, in all
     9  node.below      'i'  [N] inner node: what the leaves below were away, in all
    10  slot.owner      'H'  [S] the leaf that a slot belongs to
    11  slot.held       'H'  [S] samples in the histograms
    12  slot.base       'H'  [S * features] where the bins begin, in widths
    13  slot.width      'B'  [S * features] log2 of the codes in a bin
    14  slot.count      'H'  [S * features * B] samples in each bin
    15  slot.sum        'i'  [S * features * B] the sum of their targets
    16  slot.old        'i'  [2 * B] scratch: bins before they were made wider
    17  split.found     'i'  what histograms.rate() found last
"""

import micropython
from micropython import const

from ..fixed import log2
from ..regressor import Regressor
from .branches import consider, look_round
from .histograms import observe

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
# regression/branches.py
_NO_SLOT = const(65535)
# regression/histograms.py
_F_WORDS = const(4)
# (end)

_H_FEATURES = const(0)  # of the state
_H_BINS = const(1)
_H_GRACE = const(2)
_H_BOUND = const(3)  # ln(1 / delta) / 2 in Q20
_H_TIE = const(4)  # Q10
_H_DEPTH = const(5)
_H_NODES = const(6)
_H_SLOTS = const(7)
_H_MEMORY = const(8)
_H_NEXT_NODE = const(9)  # never used before: from here on
_H_NEXT_SLOT = const(10)
_H_FREE_PAIR = const(11)  # the first pair given back, or 0
_H_FREE_SLOT = const(12)  # the first slot given back, or 65535
_H_COUNT = const(13)  # nodes in use
_H_ROUND = const(14)  # samples since all nodes were looked at
_WORDS = const(15)

_H_PERIOD = const(1024)  # samples between two looks at all nodes
_MIDDLE = const(32767)  # the prediction before there is a target


@micropython.viper
def predict(t, rows, at: int) -> int:
    """The code of the target of the sample at rows[at]."""
    address = ptr32(t)
    feature = ptr8(address[_NODE_FEATURE])
    threshold = ptr16(address[_NODE_THRESHOLD])
    child = ptr16(address[_NODE_CHILD])
    x = ptr16(rows)
    node = 0
    while child[node]:
        node = child[node] + int(x[at + feature[node]] > threshold[node])
    return (ptr32(address[_NODE_MEAN])[node] + 128) >> 8


@micropython.viper
def learn(t, rows, at: int, target: int) -> int:
    """Learn a sample; returns the code predicted before."""
    address = ptr32(t)
    state = ptr32(address[_NODE_STATE])
    feature = ptr8(address[_NODE_FEATURE])
    threshold = ptr16(address[_NODE_THRESHOLD])
    child = ptr16(address[_NODE_CHILD])
    since = ptr16(address[_NODE_SINCE])
    below = ptr32(address[_NODE_BELOW])
    x = ptr16(rows)
    predicted = int(predict(t, rows, at))
    away = predicted - target if predicted > target else target - predicted
    node = 0
    level = 0
    while child[node]:
        follow(t, node, target)
        below[node] = below[node] + away  # of two rounds at most, < 2**11 * 2**16, like error
        node = child[node] + int(x[at + feature[node]] > threshold[node])
        level += 1
    follow(t, node, target)
    slot = ptr16(address[_NODE_SLOT])[node]
    if slot != _NO_SLOT:
        observe(t, slot, rows, at, target)
    since[node] = since[node] + 1
    if since[node] >= state[_H_GRACE]:
        consider(t, node, level)
    state[_H_ROUND] = state[_H_ROUND] + 1
    if state[_H_ROUND] == _H_PERIOD:
        state[_H_ROUND] = 0
        look_round(t)
    return predicted


@micropython.viper
def follow(t, node: int, target: int):
    """Move the mean of a node towards the target."""
    address = ptr32(t)
    count = ptr8(address[_NODE_COUNT])
    mean = ptr32(address[_NODE_MEAN])
    error = ptr32(address[_NODE_ERROR])
    away = ((mean[node] + 128) >> 8) - target
    error[node] = error[node] + (away if away > 0 else 0 - away)
    if count[node] < ptr32(address[_NODE_STATE])[_H_MEMORY]:
        count[node] = count[node] + 1
    # rounded down, which moves it by no more than there is
    mean[node] = mean[node] + ((target << 8) - mean[node]) // count[node]


class HoeffdingRegressor(Regressor):
    """A Hoeffding tree for numbers, of at most `nodes` nodes, of which `leaves` learn to split.

    Without options it is as large as 16 KB allow.

    Parameters (all but features have defaults):

    features          1..256, numbers in a sample
    depth             0..30, the longest path of tests
    nodes             1..65535, inner nodes and leaves together; 0: eight for each of `leaves`,
                      less one
    leaves            1..65534, slots for statistics: this many leaves can split, the others only
                      predict; 0: as many as fit into 16 KB, up to 32
    grace_period      1..65535, samples that a leaf learns between two attempts to split
    split_confidence  1/2**29..0.5, the delta of Hoeffding's bound
    tie_threshold     0..1; once the bound is below it, the two best splits count as equally good
    bins              2..255, bins in the histogram of a feature
    memory            1..255, samples that the mean of a node looks back over

    Raises ValueError, which names the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    PARAMETERS = (
        "depth 12 0..30;"
        "nodes 0 1..65535;"
        "leaves 0 1..65534;"
        "grace_period 25 1..65535;"
        "split_confidence 0.05 1/536870912..1/2 0;"
        "tie_threshold 0.2 0..1 1024;"
        "bins 8 2..255;"
        "memory 8 1..255"
    )

    _FIXED = (("node.state", range(_H_NEXT_NODE)),)

    def _prepare(self):
        if not self.leaves:
            self.fit("leaves", 1, 32)
        self.nodes = self._nodes()

    def _nodes(self):
        return getattr(self, "nodes") or min(8 * self.leaves - 1, 65535)  # noqa: B009

    def _is_sound(self):
        from .tree_check import tree_is_sound

        return tree_is_sound(self._flat)

    def _table(self):
        nodes, slots, bins = self._nodes(), self.leaves, self.bins
        return [
            ("node.state", "i", _WORDS),
            ("node.feature", "B", nodes),
            ("node.threshold", "H", nodes),
            ("node.child", "H", nodes),
            ("node.slot", "H", nodes),
            ("node.since", "H", nodes),
            ("node.count", "B", nodes),
            ("node.mean", "i", nodes),
            ("node.error", "i", nodes),
            ("node.below", "i", nodes),
            ("slot.owner", "H", slots),
            ("slot.held", "H", slots),
            ("slot.base", "H", slots * self.features),
            ("slot.width", "B", slots * self.features),
            ("slot.count", "H", slots * self.features * bins),
            ("slot.sum", "i", slots * self.features * bins),
            ("slot.old", "i", 2 * bins),
            ("split.found", "i", _F_WORDS),
        ]

    def _start(self):
        b = self._flat
        state = b[_NODE_STATE]
        state[_H_FEATURES] = self.features
        state[_H_BINS] = self.bins
        state[_H_GRACE] = self.grace_period
        state[_H_BOUND] = log2(self.split_confidence) * 45426 >> 11  # Q14 * Q16 (ln 2), halved
        state[_H_TIE] = self.tie_threshold
        state[_H_DEPTH] = self.depth
        state[_H_NODES] = self.nodes
        state[_H_SLOTS] = self.leaves
        state[_H_MEMORY] = self.memory
        state[_H_NEXT_NODE] = state[_H_NEXT_SLOT] = state[_H_COUNT] = 1
        state[_H_FREE_SLOT] = _NO_SLOT
        b[_NODE_MEAN][0] = _MIDDLE << 8

    @property
    def nodes_used(self):
        """Nodes of the tree now, 1..nodes."""
        return self._flat[_NODE_STATE][_H_COUNT]

    def progress(self):
        """Figures for users, as a dict of ints."""
        return {"nodes_used": self.nodes_used}

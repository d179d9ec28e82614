"""HoeffdingTree: a decision tree that grows with the stream, in a fixed pool of nodes and leaves.

Domingos, Hulten: Mining High-Speed Data Streams, KDD 2000 (VFDT). Manapragada, Webb, Salehi:
Extremely Fast Decision Tree, KDD 2018 (EFDT). Turrisi da Costa, de Carvalho, Barbon: Strict Very
Fast Decision Tree, Pattern Recognition Letters 2018 (SVFDT). Barddal, Enembreck: Learning
Regularized Hoeffding Trees from Data Streams, SAC 2019 (HT-REG). Bifet, Gavalda: Adaptive Learning
from Evolving Data Streams, IDA 2009 (HAT). Turrisi da Costa, Mastelini, de Carvalho, Barbon:
Online Local Boosting, 2019 (OLBoost). Naive Bayes leaves as in Holmes, Kirkby, Pfahringer:
Stress-testing Hoeffding Trees, PKDD 2005.
"""

import micropython
from micropython import const

from ..fixed import RNG_WORDS, log2, seed_generator
from ..learner import Learner, ParameterError, whole
from .histograms import observers_table, start_observers
from .learn import answer, find_leaf, grow
from .pool import nodes_table, start_nodes

# From elsewhere, written by `make constants`:
# places of buffers
_STATE = const(0)
_VOTES = const(1)
_RNG = const(5)
_TREE_SHAPE = const(7)
_OBSERVERS_FIRST = const(18)
# hoeffding/histograms.py
_M_WORDS = const(7)
# hoeffding/pool.py
_N_COUNT = const(6)
_N_FULL = const(7)
# hoeffding/svfdt.py
_STRICT_WORDS = const(12)
# (end)


# words of the state
_S_RULE = const(0)  # leaf: 0 majority class, 1 naive Bayes, 2 whichever was right more often
_S_GRACE = const(1)
_S_BOUND = const(2)  # R**2 ln(1 / delta) / 2 in Q20
_S_TIE = const(3)  # Q10
_S_OMEGA = const(4)  # 256: no regularization
_S_FEATURES = const(5)
_S_CLASSES = const(6)
_S_DEPTH = const(7)
_S_POLICY = const(8)  # its place in _POLICIES
_S_TWIN = const(9)  # a slot's boosted twin is so many slots further on, 0: there is none
_S_LAMBDA_MIN = const(10)  # Q8
_S_LAMBDA_MAX = const(11)
_S_BY_MAJORITY = const(12)  # what the leaf last asked says by either rule
_S_BY_BAYES = const(13)
_S_HOST = const(14)  # the node whose alternate subtree learns
_S_ALTERNATE = const(15)  # that subtree's root, or 0 if it is the tree itself
_S_WORDS = const(16)

_LEAF_KINDS = "mc nb nba"  # as the kernels count them
_POLICIES = "vfdt efdt svfdt1 svfdt2"
_EFDT = const(1)  # places of policies
_SVFDT1 = const(2)
_SVFDT2 = const(3)


@micropython.viper
def predict(t, rows, at: int) -> int:
    """The class of the sample at rows[at]; leaves the votes in the table."""
    return int(answer(t, int(find_leaf(t, 0, rows, at)), rows, at))


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Learn a sample; returns the class predicted before."""
    predicted = int(predict(t, rows, at))
    grow(t, 0, 0, rows, at, label)
    return predicted


class HoeffdingTree(Learner):
    """A Hoeffding tree of at most `nodes` nodes, of which `leaves` learn at a time.

    Without options it adapts to drift, and is as large as 16 KB allow.

    Parameters (all but features and classes have defaults):

    depth             0..30, the longest path of tests; with 0 the tree is one leaf: naive Bayes,
                      or the majority class
    nodes             1..65535, inner nodes and leaves together, alternate subtrees included; 0:
                      four for each of `leaves`, less one
    leaves            1..65534, slots for statistics: this many leaves learn (with "efdt", inner
                      nodes take one each, too), the others only predict; 0: as many as fit into
                      16 KB, up to 32
    grace_period      1..65535, samples that a leaf learns between two attempts to split
    split_confidence  1/2**29..0.5, the delta of Hoeffding's bound
    tie_threshold     0..1; once the bound is below it, the two best splits count as equally good
    criterion         "infogain" or "gini"
    policy            "vfdt" (a leaf splits for good), "efdt" (a leaf splits as soon as that beats
                      not splitting, and inner nodes revise their splits), "svfdt1" (a leaf splits
                      only if it is as impure, and gains as much, as others that split) or
                      "svfdt2" (the same, but high impurity or gain is enough by itself)
    regularization    0..1, the omega of HT-REG, a factor on the gain of features that the path
                      does not test yet; 1: no regularization
    adaptive          HAT: subtrees that get worse are replaced, and leaves that do start over;
                      with regularization, HAT-REG
    leaf              "mc" (majority class), "nb" (naive Bayes) or "nba" (the better of the two)
    boost             OLBoost: leaves predict from separate statistics, in which a sample counts
                      the more, the less its class was expected
    lambda_min        0..16, how often `boost` counts a sample, on average, if the leaf was
                      certain of its class
    lambda_max        lambda_min..16, how often `boost` counts a sample whose class was ruled out
    bins              2..255, bins in the histogram of a feature
    two_valued        indices of features that have only two values, and get two bins
    seed              0..2**30 - 1, seed of the boosting's random numbers

    Raises ValueError, which names the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    PARAMETERS = (
        "depth 8 0..30;"
        "nodes 0 1..65535;"
        "leaves 0 1..65534;"
        "grace_period 25 1..65535;"
        "split_confidence 1e-7 1/536870912..1/2 0;"
        "tie_threshold 0.2 0..1 1024;"
        "criterion infogain infogain|gini;"
        "policy vfdt vfdt|efdt|svfdt1|svfdt2;"
        "regularization 1.0 0..1 256;"
        "adaptive True;"
        "leaf nba mc|nb|nba;"
        "boost False;"
        "lambda_min 1.0 0..16 256;"
        "lambda_max 6.0 0..16 256;"
        "bins 8 2..255;"
        "two_valued ();"
        "seed 0 0..1073741823"
    )

    def _prepare(self):
        if self.lambda_min > self.lambda_max:
            raise ParameterError(
                "lambda_min", "at most lambda_max", round(self.lambda_min / 256, 2)
            )
        given, last = getattr(self, "two_valued"), self.features - 1  # noqa: B009
        if not isinstance(given, (tuple, list, range)):
            raise ParameterError("two_valued", "a tuple of features", given)
        self.two_valued = tuple([whole("two_valued", f, 0, last) for f in given])
        if not self.leaves:
            self.fit("leaves", 1, 32)
        self.nodes = self._nodes()
        self.votes_change = self.adaptive  # a subtree that was replaced answers again
        if self.adaptive:
            from .hat import learn

            self._learn = learn

    def _nodes(self):
        return getattr(self, "nodes") or min(4 * self.leaves - 1, 65535)  # noqa: B009

    _FIXED = (
        ("state", range(_S_LAMBDA_MAX + 1)),
        ("tree.shape", (0, 1, 8, 9, 10)),
        ("observers.shape", range(4)),
    )

    def _fixed(self):
        first = self._flat[_OBSERVERS_FIRST]
        return Learner._fixed(self) + [(first, range(len(first)))]

    def _is_sound(self):
        from .state_check import is_sound

        return is_sound(self._flat)

    def _bins(self):
        return [2 if f in self.two_valued else self.bins for f in range(self.features)]

    def _table(self):
        table = [
            ("state", "i", _S_WORDS),
            ("votes", "i", self.classes),
            ("tally", "i", 2 * self.classes),
            ("merits", "i", _M_WORDS),
            ("used", "H", self.features),
            ("rng", "i", RNG_WORDS),
            ("strict", "i", _STRICT_WORDS),
        ]
        nodes = self._nodes()
        table += nodes_table(nodes, self.leaves, self.adaptive)
        table += observers_table(
            self.features, self.classes, self.leaves, self._bins(), self.boost
        )
        if self.adaptive:
            from ..adwin import windows_table

            table += windows_table(nodes // 2 + self.leaves)
        return table

    def _start(self):
        b = self._flat
        state = b[_STATE]
        state[_S_RULE] = _LEAF_KINDS.split().index(self.leaf)
        state[_S_GRACE] = self.grace_period
        state[_S_BOUND] = hoeffding_bound(self.split_confidence, self.classes, self.criterion)
        state[_S_TIE] = self.tie_threshold
        state[_S_OMEGA] = self.regularization
        state[_S_FEATURES] = self.features
        state[_S_CLASSES] = self.classes
        state[_S_DEPTH] = self.depth
        state[_S_POLICY] = _POLICIES.split().index(self.policy)
        state[_S_TWIN] = self.leaves if self.boost else 0
        state[_S_LAMBDA_MIN] = self.lambda_min
        state[_S_LAMBDA_MAX] = self.lambda_max
        seed_generator(b[_RNG], self.seed)
        efdt = self.policy == "efdt"
        start_nodes(b, self.nodes, self.leaves, efdt, self.adaptive, self.boost)
        gini = self.criterion == "gini"
        start_observers(b, self.features, self.classes, self._bins(), gini)

    @property
    def votes(self):
        """Votes of the last prediction, array('i'); they add up to about 65536 * 255."""
        return self._flat[_VOTES]

    @property
    def full(self):
        """Whether nodes were wanted, for a split or an alternate, and none were left."""
        return bool(self._flat[_TREE_SHAPE][_N_FULL])

    @property
    def nodes_used(self):
        """Nodes of the tree now, 1..nodes."""
        return self._flat[_TREE_SHAPE][_N_COUNT]

    def explain(self, x, quantizer=None, names=None, classes=None, units=None):
        """The tests that x passes and what the leaf predicts, as text: see explanation.py."""
        from ..explanation import explain

        return explain(self, x, quantizer, names, classes, units)

    def progress(self):
        """Figures for users, as a dict of ints."""
        return {"nodes_used": self.nodes_used}


def hoeffding_bound(odds, classes, criterion):
    """R**2 ln(odds) / 2 in Q20, R being log2(classes) for information gain and 1 for Gini."""
    spread = log2(classes) if criterion == "infogain" else 1 << 14
    return spread * spread * log2(odds) * 45426 >> 39  # Q14 * Q14 * Q14 * Q16 (ln 2), halved

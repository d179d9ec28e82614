"""HoeffdingTree: a decision tree that grows with the stream, in a fixed pool of nodes and leaves.

Domingos, Hulten: Mining High-Speed Data Streams, KDD 2000 (VFDT). Manapragada, Webb, Salehi:
Extremely Fast Decision Tree, KDD 2018 (EFDT). Barddal, Enembreck: Learning Regularized Hoeffding
Trees from Data Streams, SAC 2019 (HT-REG). Naive Bayes leaves as in Holmes, Kirkby, Pfahringer:
Stress-testing Hoeffding Trees, PKDD 2005.
"""

import micropython
from micropython import const

from .fixed import log2
from .growth import review, wants_split
from .learner import Learner, choice, twelve_bits, whole
from .leaves import majority, naive_bayes
from .nodes import divide, nodes_table, start_nodes
from .observers import MERIT_WORDS, observe, observers_table, start_observers

_STATE = const(0)  # of the kernels' tuple: 'i' the integers below
_VOTES = const(1)  # 'i' [classes] the votes for the last sample that was asked for
_TALLY = const(2)  # 'i' [2 * classes] scratch: class counts left and right of a split
_MERITS = const(3)  # 'i' what observers.merits found
# 4: 'B' [features] which of them the path to a leaf tests, see growth.py
_NODES = const(5)
_SLOTS = const(6)

_RULE = const(0)  # leaf: 0 majority class, 1 naive Bayes, 2 whichever was right more often
_GRACE = const(1)
_BOUND = const(2)  # R**2 ln(1 / delta) / 2 in Q20
_TIE = const(3)  # Q10
_OMEGA = const(4)  # 256: no regularization
_FEATURES = const(5)
_CLASSES = const(6)
_DEPTH = const(7)
_EAGER = const(8)  # 1: policy "efdt"
_WORDS = const(9)

_REVIEW = const(2000)  # samples of an inner node between two looks at its split (EFDT)
_NO_SLOT = const(65535)

_N_COUNT = const(6)  # of the nodes' shape
_N_FULL = const(7)

_CRITERIA = ("infogain", "gini")
_LEAF_KINDS = ("mc", "nb", "nba")
_POLICIES = ("vfdt", "efdt")


@micropython.viper
def predict(t, rows, at: int) -> int:
    """The class of the sample at rows[at]; leaves the votes in the table."""
    feature = ptr8(t[_NODES][1])
    threshold = ptr16(t[_NODES][2])
    child = ptr16(t[_NODES][3])
    x = ptr16(rows)
    node = 0
    while child[node]:
        node = child[node] + int(x[at + feature[node]] > threshold[node])
    return int(answer(t, node, rows, at))


@micropython.viper
def answer(t, leaf: int, rows, at: int) -> int:
    """What a leaf predicts; without a slot it has one class, and all votes are for it."""
    slot = ptr16(t[_NODES][4])[leaf]
    rule = ptr32(t[_STATE])[_RULE]
    if slot == _NO_SLOT:
        votes = ptr32(t[_VOTES])
        label = ptr8(t[_NODES][1])[leaf]
        for c in range(ptr32(t[_STATE])[_CLASSES]):
            votes[c] = 0
        votes[label] = 16711680  # 65536 * 255
        return label
    if rule == 2:
        hits = ptr16(t[_NODES][8])
        rule = int(hits[2 * slot + 1] > hits[2 * slot])
    if rule:
        return int(naive_bayes(t[_SLOTS], slot, rows, at, t[_VOTES]))
    return int(majority(t[_SLOTS], slot, t[_VOTES]))


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Count the sample on its way down; see now and then whether a node should change."""
    state = ptr32(t[_STATE])
    feature = ptr8(t[_NODES][1])
    threshold = ptr16(t[_NODES][2])
    child = ptr16(t[_NODES][3])
    slots = ptr16(t[_NODES][4])
    since = ptr16(t[_NODES][7])
    x = ptr16(rows)
    predicted = int(predict(t, rows, at))
    node = 0
    level = 0
    while child[node]:
        slot = slots[node]
        if slot != _NO_SLOT:
            observe(t[_SLOTS], slot, rows, at, label)
            since[slot] = since[slot] + 1
            if since[slot] >= _REVIEW:
                since[slot] = 0
                review(t, node, slot)
                if not child[node]:
                    return predicted  # a leaf now, which has counted the sample
        node = child[node] + int(x[at + feature[node]] > threshold[node])
        level += 1
    slot = slots[node]
    if slot != _NO_SLOT:
        if state[_RULE] == 2:
            keep_score(t, slot, rows, at, label)
        observe(t[_SLOTS], slot, rows, at, label)
        since[slot] = since[slot] + 1
        if since[slot] >= state[_GRACE]:
            since[slot] = 0
            if level < state[_DEPTH] and int(wants_split(t, slot, rows, at)):
                divide(t[_NODES], t[_SLOTS], t[_MERITS], t[_TALLY], node)
    return predicted


@micropython.viper
def keep_score(t, slot: int, rows, at: int, label: int):
    """Which of majority class and naive Bayes is right about this sample?"""
    hits = ptr16(t[_NODES][8])
    k = 2 * slot
    if int(majority(t[_SLOTS], slot, t[_VOTES])) == label:
        hits[k] = hits[k] + 1
    if int(naive_bayes(t[_SLOTS], slot, rows, at, t[_VOTES])) == label:
        hits[k + 1] = hits[k + 1] + 1
    if hits[k] == 65535 or hits[k + 1] == 65535:
        hits[k] = hits[k] >> 1
        hits[k + 1] = hits[k + 1] >> 1


class HoeffdingTree(Learner):
    """A Hoeffding tree of at most `nodes` nodes, of which `leaves` at a time learn.

    Parameters (all but features and classes have defaults):

    depth             0..30, the longest path of tests; 0 is naive Bayes, or the majority, alone
    nodes             1..65535, inner nodes and leaves together
    leaves            1..65534 slots of statistics: that many leaves learn (with "efdt" inner nodes
                      have one each, too), the others go on predicting
    grace_period      1..65535 samples of a leaf between two looks for a split
    split_confidence  1/2**29..0.5, the delta of Hoeffding's bound
    tie_threshold     0..1, a bound below which two splits count as equally good
    criterion         "infogain" or "gini"
    policy            "vfdt" (a leaf splits for good) or "efdt" (it splits as soon as that beats
                      not splitting; inner nodes keep their statistics and change their mind)
    regularization    0..1, the omega of HT-REG: what the gain of a feature that the path does not
                      use yet counts for; 1: no regularization
    leaf              "mc" (majority class), "nb" (naive Bayes) or "nba" (the better of the two)
    bins              2..255 bins of a feature's histogram
    two_valued        features, as numbers, that have only two values and get two bins

    Raises ValueError naming the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    def __init__(
        self,
        features,
        classes,
        depth=8,
        nodes=127,
        leaves=16,
        grace_period=200,
        split_confidence=1e-7,
        tie_threshold=0.05,
        criterion="infogain",
        policy="vfdt",
        regularization=1.0,
        leaf="nba",
        bins=16,
        two_valued=(),
    ):
        self.features = whole("features", features, 1, 256)
        self.classes = whole("classes", classes, 2, 256)
        self.depth = whole("depth", depth, 0, 30)
        self.nodes = whole("nodes", nodes, 1, 65535)
        self.leaves = whole("leaves", leaves, 1, 65534)
        self.grace_period = whole("grace_period", grace_period, 1, 65535)
        self.odds = _part("split_confidence", split_confidence, 1 / (1 << 29), 0.5, 0)
        self.tie = _part("tie_threshold", tie_threshold, 0, 1, 1024)
        self.criterion = choice("criterion", criterion, _CRITERIA)
        self.policy = choice("policy", policy, _POLICIES)
        self.omega = _part("regularization", regularization, 0, 1, 256)
        self.leaf = choice("leaf", leaf, _LEAF_KINDS)
        self.bins = whole("bins", bins, 2, 255)
        if not isinstance(two_valued, (tuple, list, range)):
            raise ValueError("two_valued has to be a tuple of features, not %r" % (two_valued,))
        self.two_valued = tuple([whole("two_valued", f, 0, features - 1) for f in two_valued])
        self._allocate()

    def configuration(self):
        """All parameters as one line of text."""
        return (
            "HoeffdingTree features=%d classes=%d depth=%d nodes=%d leaves=%d grace_period=%d "
            "split_confidence=1/%d tie_threshold=%d/1024 criterion=%s policy=%s "
            "regularization=%d/256 leaf=%s bins=%d two_valued=%s"
        ) % (
            self.features, self.classes, self.depth, self.nodes, self.leaves, self.grace_period,
            self.odds, self.tie, self.criterion, self.policy, self.omega, self.leaf, self.bins,
            ",".join([str(f) for f in self.two_valued]),
        )  # fmt: skip

    def _bins(self):
        return [2 if f in self.two_valued else self.bins for f in range(self.features)]

    def _parts(self):
        return (
            [
                ("state", "i", _WORDS),
                ("votes", "i", self.classes),
                ("tally", "i", 2 * self.classes),
                ("merits", "i", MERIT_WORDS),
                ("used", "B", self.features),
            ],
            nodes_table(self.nodes, self.leaves),
            observers_table(self.features, self.classes, self.leaves, self._bins()),
        )

    def _start(self):
        state = self._nest[_STATE]
        state[_RULE] = _LEAF_KINDS.index(self.leaf)
        state[_GRACE] = self.grace_period
        state[_BOUND] = hoeffding_bound(self.odds, self.classes, self.criterion)
        state[_TIE] = self.tie
        state[_OMEGA] = self.omega
        state[_FEATURES] = self.features
        state[_CLASSES] = self.classes
        state[_DEPTH] = self.depth
        state[_EAGER] = int(self.policy == "efdt")
        start_nodes(self._nest[_NODES], self.nodes, self.leaves, state[_EAGER])
        gini = self.criterion == "gini"
        start_observers(self._nest[_SLOTS], self.features, self.classes, self._bins(), gini)

    @property
    def votes(self):
        """Votes of the last prediction, array('i'); they add up to about 65536 * 255."""
        return self._nest[_VOTES]

    @property
    def full(self):
        """Whether a split was wanted and no nodes were left."""
        return bool(self._nest[_NODES][0][_N_FULL])

    @property
    def nodes_used(self):
        """Nodes of the tree now, 1..nodes."""
        return self._nest[_NODES][0][_N_COUNT]

    def progress(self):
        """What there is to tell of the state, as a dict of ints."""
        return {"nodes_used": self.nodes_used}


def hoeffding_bound(odds, classes, criterion):
    """R**2 ln(odds) / 2 in Q20, R being log2(classes) for information gain and 1 for Gini."""
    spread = log2(classes) if criterion == "infogain" else 1 << 14
    return spread * spread * log2(odds) * 45426 >> 39  # Q14 * Q14 * Q14 * Q16 (ln 2), halved


def _part(name, value, low, high, scale):
    """A number of low..high in units of 1/scale, or for scale 0 the whole number 1 / value."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        raise ValueError("%s has to be a number of %s..%s, not %r" % (name, low, high, value))
    if not value:
        return 0
    whole_part, shift = twelve_bits(value)
    if scale:
        return (whole_part * scale + (1 << shift >> 1)) >> shift
    return ((1 << shift) + whole_part // 2) // whole_part

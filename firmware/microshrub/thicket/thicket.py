"""Thicket: an ensemble of different learners, each weighted by its recent accuracy.

A heterogeneous ensemble whose members' votes are weighted by their recent accuracy, as in van
Rijn, Holmes, Pfahringer, Vanschoren: The online performance estimation framework: heterogeneous
ensemble learning for data streams, Machine Learning 2018, section 4.2. Here, they vote with class
probabilities instead of classes, and the weights are exponential.

| member     | what it is for                                  | where |
|------------|-------------------------------------------------|-------|
| grove      | concepts with structure, changing or not        | grove.py |
| neighbours | local concepts; search the grove's store        | neighbours.py |
| softmax    | linear concepts                                 | softmax.py |
| shrubs     | runs of one label, abrupt change: tiny windows  | shrub/ensemble.py |
| last       | predicts the last label, if it is known         | members.py |
| bayes      | few samples                                     | bayes.py |

While labels come, all members vote. Without labels, members that use the label before abstain if
labels came in runs: see vote_mixing.py.

The kernels are in members.py. Buffers, besides those of the members:

    state        'i'  the integers in members.py
    votes        'i'  [classes] the votes for the last sample that was predicted
    predictions  'i'  [6] the class that each member predicted, or -1: none
    accuracy     'i'  [6] Q20: a member's recent accuracy
    share        'i'  [6] Q12: the weight of a member's votes; the sum is about 4096
    alone        'i'  [6] Q20: like accuracy, for when no labels come; see vote_mixing.py
    factor       'H'  [classes] Q8: the factor of votes when no labels come
    taught       'H'  [classes] the labels that came; all are halved when one is 65535
    tells        'i'  [4] of grove, neighbours, softmax and bayes, once there are two classes:
                      the accuracy on replayed samples, Q27, and in the low 7 bits, how many

The share of the bytes for each member was chosen on ten streams together, with 3 to 42 features
and 2 to 10 classes.
"""

from micropython import const

from ..buffers import address_table, table_bytes
from ..learner import Learner, ParameterError
from ..shrub.ensemble import ShrubEnsemble
from .bayes import GaussianNaiveBayes
from .drift_response import move_thicket
from .grove import Grove
from .members import FIXED, learn, predict, predict_next, rest
from .neighbours import NearestNeighbours, neighbours_table, squared_gaps, start_neighbours
from .softmax import SoftmaxRegression

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_THICKET_STATE = const(0)
_THICKET_VOTES = const(1)
_THICKET_ACCURACY = const(3)
_THICKET_SHARE = const(4)
_THICKET_ALONE = const(5)
_THICKET_TELLS = const(8)
_STORE_STATE = const(22)
# thicket/members.py
_T_FEATURES = const(0)
_T_CLASSES = const(1)
_T_ASKED = const(3)
_MEMBERS = const(6)
_T_WITH_SOFTMAX = const(6)
_T_WITH_SHRUBS = const(7)
_T_WITH_BAYES = const(8)
_T_WITH_REPLAY = const(9)
_T_EVEN = const(10)
_T_WORDS = const(19)
_T_FAR = const(22)
# thicket/sample_ring.py
_R_HELD = const(3)
# thicket/sample_store.py
_W_RUN = const(6)
# thicket/trees.py
_NARROW = const(128)
# (end)

_LEAST = const(8)  # samples that a tree is grown on
_SMALL = const(65536)  # bytes up to which
_MOST = const(1024)  # samples that are enough within these bytes
_MOST_OF_ALL = const(8192)  # samples that are enough with more bytes
_MOST_TREES = const(64)
_TREES = const(36)  # more of them gain little if they have enough leaves
_ONE = const(1048576)  # an accuracy of 1, Q20
_K = const(5)  # neighbours that vote
_LEAST_FOR_REPLAY = const(4096)  # bytes
_SEARCH = const(5)  # buffers of a search, of which the second has the votes
_RING_BUFFERS = const(3)  # buffers at the head of the grove's table and the neighbours'
_GIVEN = const(4)  # samples that a member is right about before any is replayed
_TELLING = const(4)  # members of which `tells` has a word
MEMBERS = ("grove", "neighbours", "softmax", "shrubs", "last", "bayes")


def softmax_share(features, classes, limit):
    """Plan a softmax regression; returns it, and whether it takes part.

    It does if it needs at most a third of the bytes; otherwise, one of the smallest size replaces
    it, since the kernels' tuple always has the same form.
    """
    wanted = SoftmaxRegression.plan(features=features, classes=classes)
    if wanted.table_bytes() <= limit // 3:
        return wanted, True
    return SoftmaxRegression.plan(features=1, classes=2), False


def bayes_share(features, classes, limit, rest, seed):
    """Plan a naive Bayes; returns it, and whether it takes part.

    It does if it needs at most a fifth of the bytes, and leaves enough of the rest for a grove.
    """
    wanted = GaussianNaiveBayes.plan(features=features, classes=classes, seed=seed)
    needed = wanted.table_bytes()
    least = _grove(features, classes, _LEAST, 0, 0, seed).table_bytes()
    if needed <= limit // 5 and needed + least <= rest:
        return wanted, True
    return GaussianNaiveBayes.plan(features=1, classes=2), False


def shrubs_share(features, classes, limit, seed):
    """Plan fast shrubs; returns them, and whether they take part.

    They do if they need at most a sixth of the bytes. A tiny window, a new shrub for every sample
    and a large step follow runs of one label.
    """
    wanted = ShrubEnsemble.plan(
        features=features, classes=classes, window=12, trees=4, depth=3, step=8, seed=seed
    )
    if wanted.table_bytes() <= limit // 6:
        return wanted, True
    return ShrubEnsemble.plan(features=1, classes=2, window=2, trees=1, depth=1), False


def reach(features, limit):
    """Return how many samples the nearest neighbours search, by the bytes and the features.

    This bounds their time, which is most of a prediction's: on a Cortex-M0 it is about 50
    instructions per feature of a sample, less for sums that are not completed.
    """
    return max(limit // (7 * features), _LEAST)


def grove_share(features, classes, limit, seed):
    """Plan the largest grove that fits into `limit` bytes; None if none does.

    All of it grows together: above all the window, since the nearest neighbours search it, too,
    with more leaves per tree and more trees. Within 64 KB, a window of 1024 samples is enough, and
    further bytes go to more trees. Beyond 64 KB, they go to samples and leaves.
    """
    large = limit > _SMALL
    low = _LEAST
    high = _MOST_OF_ALL if large else _MOST
    if _grove(features, classes, low, 0, large, seed).table_bytes() > limit:
        return None
    while low < high:  # the greatest window that fits, by halving
        window = (low + high + 1) // 2
        if _grove(features, classes, window, 0, large, seed).table_bytes() <= limit:
            low = window
        else:
            high = window - 1
    trees = 0
    if low == _MOST and not large:
        trees = _MOST_TREES
        while trees and _grove(features, classes, low, trees, 0, seed).table_bytes() > limit:
            trees -= 1
    return _grove(features, classes, low, trees, large, seed)


def _grove(features, classes, window, trees, large, seed):
    """Plan a grove with a window, and the given number of trees, or the usual one."""
    return Grove.plan(
        features=features,
        classes=classes,
        window=window,
        trees=trees or min(4 + window // 32, _TREES),
        leaves=min(max(window // 8, 4), _MOST_OF_ALL // 8 if large else 96),
        every=min(max(window // 4, 4), 64),
        seed=seed,
    )


class Thicket(Learner):
    """A learner that is as accurate as `bytes` of buffers allow; it needs no other option.

    Parameters (all but features and classes have defaults):

    features  1..256, numbers in a sample; classes: 2..256
    bytes     2048..1048576, the most that all buffers together may take
    prior     after labels in runs, while no labels come, classes are assumed to be equally likely
              (even), or as frequent as they were taught (taught); where features tell nothing, the
              class that was taught most is predicted, with either
    seed      0..2**30 - 1, seed of the model's own random numbers

    Raises ValueError, which names the parameter, what is allowed and what was given; also if there
    are too many features and classes for so few bytes.
    """

    moves = True
    _predict = staticmethod(predict)
    _predict_next = staticmethod(predict_next)
    _learn = staticmethod(learn)

    PARAMETERS = "bytes 65536 2048..1048576;prior even even|taught;seed 0 0..1073741823"

    def predict_next(self, x):
        """Return the class of x if it comes right after the sample learned last.

        The label of that sample may be a hint. Fills `votes`. Allocates nothing.
        """
        self._check(x)
        return self._predict_next(self._addresses, x, 0)

    def idle(self):
        """Continue the work that the last label left; returns whether there is more."""
        return bool(rest(self._addresses))

    def label_run(self):
        """Return how many of the last labels were the same."""
        return self.grove._flat[_STORE_STATE][_W_RUN]

    def _mover(self):
        return move_thicket

    def _prepare(self):
        shape = self.features, self.classes
        self.softmax, self._with_softmax = softmax_share(*shape, self.bytes)
        self.shrubs, self._with_shrubs = shrubs_share(*shape, self.bytes, self.seed)
        self._with_replay = self.bytes >= _LEAST_FOR_REPLAY
        rest = self.bytes - table_bytes(self._shared())
        rest -= self.softmax.table_bytes() + self.shrubs.table_bytes()
        self.bayes, self._with_bayes = bayes_share(*shape, self.bytes, rest, self.seed)
        self.grove = grove_share(*shape, rest - self.bayes.table_bytes(), self.seed)
        if not self.grove:
            more = "more for %d features and %d classes" % shape
            raise ParameterError("bytes", more, self.bytes)

    _FIXED = (
        (("thicket.state", FIXED),)
        + NearestNeighbours._FIXED[1:]
        + (("replay.state", NearestNeighbours._FIXED[1][1]),)
        + Grove._FIXED
        + SoftmaxRegression._FIXED
        + ShrubEnsemble._FIXED
        + GaussianNaiveBayes._FIXED
    )

    def _is_sound(self):
        from .state_check import thicket_is_sound

        return thicket_is_sound(self._flat, self._searches) and all(
            [member._is_sound() for member in self._members()]
        )

    def _own_table(self):
        return [
            ("thicket.state", "i", _T_FAR if self.bytes > _SMALL else _T_WORDS),
            ("thicket.votes", "i", self.classes),
            ("thicket.predictions", "i", _MEMBERS),
            ("thicket.accuracy", "i", _MEMBERS),
            ("thicket.share", "i", _MEMBERS),
            ("thicket.alone", "i", _MEMBERS),
            ("thicket.factor", "H", self.classes),
            ("thicket.taught", "H", self.classes),
            ("thicket.tells", "i", _TELLING),
        ]

    def _shared(self):
        """Return all buffers but those of the members that have their own tables."""
        near = neighbours_table(self.features, self.classes, _K)
        again = []
        if self._with_replay:  # a search of its own, which takes votes only at its end
            again = [
                ("replay.state", "i", near[0][2]),
                ("replay.sample", "B", self.features),
                ("replay.distance", "i", _K),
                ("replay.nearest", "H", _K),
                ("replay.row", "H", self.features),
            ]
        return self._own_table() + near + again

    def _members(self):
        return self.grove, self.softmax, self.shrubs, self.bayes

    def _table(self):
        table = self._shared()
        for member in self._members():
            table += member._table()
        return table

    def _allocate(self):
        gaps = (squared_gaps(),)  # first: what it is made from leaves room for others
        self._make_buffers(self._shared())
        shared = self._flat
        for member in self._members():
            type(member)._allocate(member)
            self._flat += member._flat
            self._size += member._size
        end = len(self._own_table())
        ring = self.grove._flat[:_RING_BUFFERS]
        state, votes = shared[end : end + 2]
        self._searches = [ring + (state, votes) + shared[end + 2 : end + _SEARCH] + gaps]
        if self._with_replay:
            state = shared[end + _SEARCH]
            self._searches.append(ring + (state, votes) + shared[end + _SEARCH + 1 : -1] + gaps)
        self._addresses = (
            self.grove._addresses,
            address_table(self._searches[0]),
            self.softmax._addresses,
            self.shrubs._addresses,
            address_table(shared[:end]),
            self.bayes._addresses,
            address_table(self._searches[-1]),
            shared[-1],
        )
        self._row = ()
        self._start()

    def _start(self):
        for member in self._members():
            member._start()
        for search in self._searches:
            start_neighbours(search, _K, reach(self.features, self.bytes))
        state = self._flat[_THICKET_STATE]
        state[_T_FEATURES] = self.features
        state[_T_CLASSES] = self.classes
        state[_T_ASKED] = -1
        state[_T_WITH_SOFTMAX] = int(self._with_softmax)
        state[_T_WITH_SHRUBS] = int(self._with_shrubs)
        state[_T_WITH_BAYES] = int(self._with_bayes)
        state[_T_WITH_REPLAY] = int(self._with_replay) + int(self.grove.leaves > _NARROW)
        state[_T_EVEN] = int(self.prior == "even")
        for k in range(_MEMBERS):
            self._flat[_THICKET_ACCURACY][k] = _ONE >> 1
            self._flat[_THICKET_ALONE][k] = _ONE >> 1
        tells = (1, 1, self._with_softmax, self._with_bayes)
        for k in range(_TELLING):
            self._flat[_THICKET_TELLS][k] = (_ONE << 7) + _GIVEN if tells[k] else 0

    def is_empty(self):
        """Return whether it holds no sample yet, neither its own nor another board's."""
        return not self.grove._flat[_RING_SHAPE][_R_HELD]

    @property
    def votes(self):
        """Votes of the last prediction, array('i'); they add up to about 65536 * 255."""
        return self._flat[_THICKET_VOTES]

    @property
    def confidence(self):
        """The predicted class's share of the votes, 0..255."""
        return min(max(self.votes) >> 16, 255)

    def progress(self):
        """Figures for users: each member's share and recent accuracy in %."""
        b = self._flat
        progress = {"trees_used": self.grove.trees_used}
        for k in range(_MEMBERS):
            progress["share_" + MEMBERS[k]] = (b[_THICKET_SHARE][k] * 100 + 2048) >> 12
            progress["accuracy_" + MEMBERS[k]] = (
                b[_THICKET_ACCURACY][k] * 100 + (_ONE >> 1)
            ) >> 20
        return progress

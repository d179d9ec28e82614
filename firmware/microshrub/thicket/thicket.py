"""Thicket: an ensemble of different learners, each weighted by how often it was right lately.

A heterogeneous ensemble whose members' votes are weighted by their recent accuracy, as in van
Rijn, Holmes, Pfahringer, Vanschoren: The online performance estimation framework: heterogeneous
ensemble learning for data streams, Machine Learning 2018, section 4.2. Here, they vote with class
probabilities instead of classes, and the weights are exponential.

| member     | what it is for                                  | where |
|------------|-------------------------------------------------|-------|
| grove      | concepts with structure, changing or not        | grove.py |
| neighbours | local concepts; it searches the grove's store   | neighbours.py |
| softmax    | linear concepts                                 | softmax.py |
| shrubs     | runs of one label, abrupt change: tiny windows  | shrub/ensemble.py |
| last       | predicts the last label, if it is known         | members.py |
| bayes      | few samples                                     | bayes.py |

While somebody tells the labels, all of them vote. Where nobody does, those abstain that lean on
the label before: see alone.py.

The kernels are in members.py. Buffers, besides those of the members:

    state      'i'  the integers in members.py
    votes      'i'  [classes] the votes for the last sample that was predicted
    said       'i'  [6] the class that each member said, or -1: none
    accuracy   'i'  [6] Q20: of late, how often a member was right
    share      'i'  [6] Q12: what a member's votes count for; they add up to about 4096
    alone      'i'  [6] Q20: the same as accuracy, where no label is known; see alone.py
    factor     'H'  [classes] Q8: what votes are multiplied by there
"""

from micropython import const

from ..buffers import address_table, table_bytes
from ..learner import Learner, ParameterError
from ..shrub.ensemble import ShrubEnsemble
from .bayes import GaussianNaiveBayes
from .grove import Grove
from .members import FIXED, learn, predict, predict_next, rest
from .moving_all import move_thicket
from .neighbours import NearestNeighbours, neighbours_table, start_neighbours
from .shares import bayes_share, grove_share, reach, shrubs_share, softmax_share
from .softmax import SoftmaxRegression

# From elsewhere, written by `make constants`:
# places of buffers
_THICKET_STATE = const(0)
_THICKET_VOTES = const(1)
_THICKET_ACCURACY = const(3)
_THICKET_SHARE = const(4)
_THICKET_ALONE = const(5)
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
# thicket/trees.py
_NARROW = const(128)
# (end)

_ONE = const(1048576)  # an accuracy of 1, Q20
_SMALL = const(65536)  # bytes
_K = const(5)  # neighbours that vote
_LEAST_FOR_REPLAY = const(4096)  # bytes
_SEARCH = const(5)  # buffers of a search, of which the second has the votes
_RING_BUFFERS = const(3)  # at the head of the grove's table and the neighbours'

MEMBERS = ("grove", "neighbours", "softmax", "shrubs", "last", "bayes")


class Thicket(Learner):
    """A learner that is as accurate as `bytes` of buffers allow; it needs no other option.

    Parameters (all but features and classes have defaults):

    features  1..256, numbers in a sample; classes: 2..256
    bytes     2048..1048576, the most that all buffers together may take
    prior     while no labels come, classes are assumed to be equally likely (even), or as frequent
              as they were taught (taught)
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
        """The class of x if it comes right after the sample learned last.

        The label of that sample may be a hint. Fills `votes`. Allocates nothing.
        """
        self._check(x)
        return self._predict_next(self._addresses, x, 0)

    def idle(self):
        """Go on with the work that the last label left; returns whether there is more."""
        return bool(rest(self._addresses))

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
        from .check import thicket_is_sound

        return thicket_is_sound(self._flat, self._searches) and all(
            [member._is_sound() for member in self._members()]
        )

    def _own(self):
        return [
            ("thicket.state", "i", _T_FAR if self.bytes > _SMALL else _T_WORDS),
            ("thicket.votes", "i", self.classes),
            ("thicket.said", "i", _MEMBERS),
            ("thicket.accuracy", "i", _MEMBERS),
            ("thicket.share", "i", _MEMBERS),
            ("thicket.alone", "i", _MEMBERS),
            ("thicket.factor", "H", self.classes),
        ]

    def _shared(self):
        """All buffers but those of the members that have tables of their own."""
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
        return self._own() + near + again

    def _members(self):
        return self.grove, self.softmax, self.shrubs, self.bayes

    def _table(self):
        table = self._shared()
        for member in self._members():
            table += member._table()
        return table

    def _allocate(self):
        self._make_buffers(self._shared())
        shared = self._flat
        for member in self._members():
            type(member)._allocate(member)
            self._flat += member._flat
            self._size += member._size
        own = len(self._own())
        ring = self.grove._flat[:_RING_BUFFERS]
        state, votes = shared[own : own + 2]
        gaps = (bytes(range(255, 0, -1)) + bytes(range(256)),)  # see search.py
        self._searches = [ring + (state, votes) + shared[own + 2 : own + _SEARCH] + gaps]
        if self._with_replay:
            state = shared[own + _SEARCH]
            self._searches.append(ring + (state, votes) + shared[own + _SEARCH + 1 : -1] + gaps)
        self._addresses = (
            self.grove._addresses,
            address_table(self._searches[0]),
            self.softmax._addresses,
            self.shrubs._addresses,
            address_table(shared[:own]),
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

    @property
    def votes(self):
        """Votes of the last prediction, array('i'); they add up to about 65536 * 255."""
        return self._flat[_THICKET_VOTES]

    @property
    def confidence(self):
        """The part of the votes that the predicted class has, 0..255."""
        return min(max(self.votes) >> 16, 255)

    def progress(self):
        """What users see of the state: each member's share and recent accuracy in %."""
        own = self._flat
        told = {"trees_used": self.grove.trees_used}
        for k in range(_MEMBERS):
            told["share_" + MEMBERS[k]] = (own[_THICKET_SHARE][k] * 100 + 2048) >> 12
            told["accuracy_" + MEMBERS[k]] = (own[_THICKET_ACCURACY][k] * 100 + (_ONE >> 1)) >> 20
        return told

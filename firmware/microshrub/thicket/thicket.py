"""Thicket: an ensemble of different learners, each weighted by how often it was right lately.

A heterogeneous ensemble whose members' votes are weighted by their recent accuracy, as in van
Rijn, Holmes, Pfahringer, Vanschoren: The online performance estimation framework: heterogeneous
ensemble learning for data streams, Machine Learning 2018, section 4.2. Here, they vote with class
probabilities instead of classes, and the weights are exponential.

| member     | what it is for                                  | where |
|------------|-------------------------------------------------|-------|
| grove      | concepts with structure, changing or not        | grove.py |
| neighbours | local concepts; it searches the grove's ring    | neighbours.py |
| softmax    | linear concepts, few samples                    | softmax.py |
| shrubs     | runs of one label, abrupt change: tiny windows  | shrub/ensemble.py |
| last       | predicts the last label, if it is known         | here |

The kernels get a tuple: the tables of addresses of the members in that order, last of all
Thicket's own, whose buffers are

    state      'i'  the integers below
    votes      'i'  [classes] the votes for the last sample that was predicted
    said       'i'  [5] the class that each member said, or -1: none
    accuracy   'i'  [5] Q20: of late, how often a member was right
    share      'i'  [5] Q12: what a member's votes count for; they add up to about 4096
"""

import micropython
from micropython import const

from ..buffers import address_table, allocate, table_bytes
from ..learner import Learner, ParameterError
from ..shrub.ensemble import ShrubEnsemble
from ..shrub.ensemble import learn as learn_shrubs
from ..shrub.ensemble import predict as ask_shrubs
from .grove import Grove, follow
from .grove import predict as ask_grove
from .mixing import judge, mix, opinion
from .neighbours import NearestNeighbours, neighbours_table, start_neighbours
from .neighbours import predict as ask_neighbours
from .scaling import average
from .shares import grove_share, reach, shrubs_share, softmax_share
from .softmax import SoftmaxRegression, step
from .softmax import predict as ask_softmax

# From elsewhere, written by `make constants`:
# places of buffers
_THICKET_STATE = const(0)
_THICKET_VOTES = const(1)
_VOTES = const(1)
_THICKET_SAID = const(2)
_THICKET_ACCURACY = const(3)
_GROVE_VOTES = const(4)
_NEIGHBOURS_VOTES = const(4)
_THICKET_SHARE = const(4)
# (end)

_GROVE = const(0)  # of the kernels' tuple, and numbers of the members
_NEIGHBOURS = const(1)
_SOFTMAX = const(2)
_SHRUBS = const(3)
_OWN = const(4)
_LAST = const(4)
_MEMBERS = const(5)

_T_FEATURES = const(0)  # of the state
_T_CLASSES = const(1)
_T_LABEL = const(2)  # of the sample that was learned last
_T_ASKED = const(3)  # a sum over the codes of the newest sample that was asked for, or -1
_T_KNOWN = const(4)  # 1: that sample's label was learned
_T_FRESH = const(5)  # 1: the label before the sample that was asked for last was known
_T_WITH_SOFTMAX = const(6)  # 1: there is one
_T_WITH_SHRUBS = const(7)
_T_WORDS = const(8)

_ONE = const(1048576)  # an accuracy of 1, Q20
_K = const(5)  # neighbours that vote
_RING_BUFFERS = const(3)  # at the head of the grove's table and the neighbours'

MEMBERS = ("grove", "neighbours", "softmax", "shrubs", "last")


@micropython.viper
def predict(t, rows, at: int) -> int:
    """The class of the sample at rows[at]; leaves the votes in the table."""
    own = ptr32(ptr32(t[_OWN])[_THICKET_STATE])
    row = int(row_sum(t[_OWN], rows, at))
    if own[_T_KNOWN] or row != own[_T_ASKED]:  # a sample that was not asked for before
        own[_T_FRESH] = own[_T_KNOWN]
        own[_T_KNOWN] = 0
        own[_T_ASKED] = row
    ask(t, rows, at)
    return int(mix(t))


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Learn a sample, the newest or a late one; returns the class predicted before."""
    own = ptr32(ptr32(t[_OWN])[_THICKET_STATE])
    row = int(row_sum(t[_OWN], rows, at))
    late = int(row != own[_T_ASKED])
    if own[_T_ASKED] < 0 or own[_T_KNOWN]:
        late = 0
        own[_T_FRESH] = own[_T_KNOWN]
        own[_T_ASKED] = row
    if late:
        own[_T_FRESH] = 0
    ask(t, rows, at)
    predicted = int(mix(t))
    judge(t[_OWN], label)
    follow(t[_GROVE], rows, at, label)
    if own[_T_WITH_SOFTMAX]:
        step(t[_SOFTMAX], label)
        average(t[_SOFTMAX], rows, at)
    if own[_T_WITH_SHRUBS]:
        learn_shrubs(t[_SHRUBS], rows, at, label)
    own[_T_LABEL] = label
    if not late:
        own[_T_KNOWN] = 1
    return predicted


@micropython.viper
def row_sum(own, rows, at: int) -> int:
    """A number by which a sample is recognized: 24 bits that depend on all its codes."""
    x = ptr16(rows)
    total = 0
    for f in range(ptr32(ptr32(own)[_THICKET_STATE])[_T_FEATURES]):
        total = (total * 31 + x[at + f]) & 0xFFFFFF  # < 2**24 * 2**5 = 2**29
    return total


@micropython.viper
def ask(t, rows, at: int):
    """Let each member predict the sample."""
    address = ptr32(t[_OWN])
    own = ptr32(address[_THICKET_STATE])
    said = ptr32(address[_THICKET_SAID])
    k = int(ask_grove(t[_GROVE], rows, at))
    said[_GROVE] = int(opinion(t[_GROVE], _GROVE_VOTES, k))
    k = int(ask_neighbours(t[_NEIGHBOURS], rows, at))
    said[_NEIGHBOURS] = int(opinion(t[_NEIGHBOURS], _NEIGHBOURS_VOTES, k))
    said[_SOFTMAX] = -1
    if own[_T_WITH_SOFTMAX]:
        said[_SOFTMAX] = int(ask_softmax(t[_SOFTMAX], rows, at))
    said[_SHRUBS] = -1
    if own[_T_WITH_SHRUBS]:
        k = int(ask_shrubs(t[_SHRUBS], rows, at))
        said[_SHRUBS] = int(opinion(t[_SHRUBS], _VOTES, k))
    said[_LAST] = own[_T_LABEL] if own[_T_FRESH] else -1


class Thicket(Learner):
    """As accurate as it can be within `bytes` of buffers; no other option needs to be set.

    Parameters (all but features and classes have defaults):

    features  1..256, numbers in a sample; classes: 2..256
    bytes     2048..1048576, the most that all buffers together may take
    seed      0..2**30 - 1, seed of the model's own random numbers

    Raises ValueError, which names the parameter, what is allowed and what was given; also if there
    are too many features and classes for so few bytes.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    PARAMETERS = "bytes 65536 2048..1048576;seed 0 0..1073741823"

    def _prepare(self):
        shape = self.features, self.classes
        self.softmax, self._with_softmax = softmax_share(*shape, self.bytes)
        self.shrubs, self._with_shrubs = shrubs_share(*shape, self.bytes, self.seed)
        rest = self.bytes - table_bytes(self._own() + self._neighbours())
        rest -= self.softmax.table_bytes() + self.shrubs.table_bytes()
        self.grove = grove_share(*shape, rest, self.seed)
        if not self.grove:
            more = "more for %d features and %d classes" % shape
            raise ParameterError("bytes", more, self.bytes)

    _FIXED = (
        (("thicket.state", (_T_FEATURES, _T_CLASSES, _T_WITH_SOFTMAX, _T_WITH_SHRUBS)),)
        + NearestNeighbours._FIXED[1:]
        + Grove._FIXED
        + SoftmaxRegression._FIXED
        + ShrubEnsemble._FIXED
    )

    def _is_sound(self):
        own = self._flat[_THICKET_STATE]
        accuracy = self._flat[_THICKET_ACCURACY]
        return (
            0 <= own[_T_LABEL] < self.classes
            and -1 <= own[_T_ASKED] < 1 << 24
            and 0 <= own[_T_KNOWN] <= 1
            and 0 <= own[_T_FRESH] <= 1
            and min(accuracy) >= 0
            and max(accuracy) <= _ONE
            and self.grove._is_sound()
            and self.softmax._is_sound()
            and self.shrubs._is_sound()
        )

    def _own(self):
        return [
            ("thicket.state", "i", _T_WORDS),
            ("thicket.votes", "i", self.classes),
            ("thicket.said", "i", _MEMBERS),
            ("thicket.accuracy", "i", _MEMBERS),
            ("thicket.share", "i", _MEMBERS),
        ]

    def _neighbours(self):
        return neighbours_table(self.features, self.classes, _K)

    def _table(self):
        table = self._own() + self._neighbours()
        for member in (self.grove, self.softmax, self.shrubs):
            table += member._table()
        return table

    def _allocate(self):
        own = tuple([allocate(t, n) for _, t, n in self._own()])
        near = tuple([allocate(t, n) for _, t, n in self._neighbours()])
        self._flat = own + near
        for member in (self.grove, self.softmax, self.shrubs):
            type(member)._allocate(member)
            self._flat += member._flat
        near = self.grove._flat[:_RING_BUFFERS] + near
        self._addresses = (
            self.grove._addresses,
            address_table(near),
            self.softmax._addresses,
            self.shrubs._addresses,
            address_table(own),
        )
        self._near = near
        self._row = ()
        self._start()

    def _start(self):
        for member in (self.grove, self.softmax, self.shrubs):
            member._start()
        start_neighbours(self._near, _K, reach(self.features, self.bytes))
        state = self._flat[_THICKET_STATE]
        state[_T_FEATURES] = self.features
        state[_T_CLASSES] = self.classes
        state[_T_ASKED] = -1
        state[_T_WITH_SOFTMAX] = int(self._with_softmax)
        state[_T_WITH_SHRUBS] = int(self._with_shrubs)
        for k in range(_MEMBERS):
            self._flat[_THICKET_ACCURACY][k] = _ONE >> 1

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

"""How a thicket learns samples of other boards, and removes them again.

A sample of a packet does not continue the stream. So everything that follows the stream ignores
it: the runs, the fast shrubs, the last label, the shares of errors and the members' accuracies.
The store takes it in like any other sample; the trees' leaves, the next trees, naive Bayes and the
softmax regression learn it. In the store it keeps a mark of its origin, see sample_store.py: a
thicket shares only its own samples, and can find all samples of one origin.
"""

from array import array
from binascii import crc32

import micropython
from micropython import const

from ..buffers import address_table, allocate
from .bayes import follow as follow_bayes
from .drift_response import disregard
from .grove import judge, tend, weigh
from .grove import predict as ask_grove
from .members import stride
from .neighbours import absolute_gaps, neighbours_table, predict, start_neighbours
from .sample_store import put, replace
from .scaling import average
from .softmax import predict as ask_softmax
from .softmax import step

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_THICKET_STATE = const(0)
_RING_CODES = const(1)
_RING_LABELS = const(2)
_BAYES_SEEN = const(3)
_NEIGHBOURS_STATE = const(3)
_NEIGHBOURS_DISTANCE = const(6)
_SOFTMAX_WEIGHT = const(6)
_NEIGHBOURS_NEAREST = const(7)
_STORE_STATE = const(22)
_STORE_COUNT = const(24)
_STORE_AGAINST = const(27)
# thicket/members.py
_GROVE = const(0)
_SOFTMAX = const(2)
_THICKET = const(4)
_BAYES = const(5)
_T_WITH_SOFTMAX = const(6)
_T_WITH_BAYES = const(8)
_T_REST = const(11)
_RESTS = const(100)
# thicket/neighbours.py
_N_COUNT = const(8)
_FAR = const(65536)
# thicket/sample_ring.py
_R_LENGTH = const(0)
_R_HELD = const(3)
_R_HEAD = const(4)
# thicket/sample_store.py
_W_FIRST = const(0)
_W_DOOMED = const(2)
_COUNT = const(7)
_FOREIGN = const(65536)
# thicket/thicket.py
_RING_BUFFERS = const(3)
# (end)

_NEAR = const(5)  # neighbours that are looked at
_MOST_AGE = const(254)
_NO_AGE = const(255)
_MARKED = const(128)  # set for a sample of another board; the origin stands above _COUNT
_MOST_OWN = const(127)  # the largest count against an own sample, if others are marked


@micropython.viper
def welcome(t, rows, at: int, label: int, whose: int):
    """Learn another board's sample at rows[at], with its mark; t is the tuple that a thicket's
    kernels get.
    """
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    ask_grove(t[_GROVE], rows, at)
    judge(0, 0, t[_GROVE], label)
    mark(t[_GROVE], int(put(t[_GROVE], rows, at, label)), whose)
    if not int(tend(t[_GROVE])):  # which weighs the trees if there is a new one
        weigh(0, 0, t[_GROVE])
    if state[_T_WITH_BAYES]:
        follow_bayes(t[_BAYES], rows, at, label)
    if state[_T_WITH_SOFTMAX]:
        ask_softmax(t[_SOFTMAX], rows, at)
        step(t[_SOFTMAX], label, 1)
        average(t[_SOFTMAX], rows, at)
    state[_T_REST] = _RESTS


@micropython.viper
def mark(t, place: int, whose: int):
    """Mark the newest sample, at this place, with its origin, see mark_of()."""
    address = ptr32(t)
    state = ptr32(address[_STORE_STATE])
    against = ptr8(address[_STORE_AGAINST])
    if state[_W_DOOMED] < _FOREIGN:
        state[_W_DOOMED] = state[_W_DOOMED] + _FOREIGN
        for k in range(ptr32(address[_RING_SHAPE])[_R_HELD]):
            if against[k] > _MOST_OWN:
                against[k] = _MOST_OWN
    against[place] = whose


def mark_of(origin):
    """Return the mark for an origin's name: one of 16, so two names may share a mark."""
    return _MARKED | (crc32(origin.encode()) & 15) << 3


@micropython.viper
def apart(one, other, features: int) -> int:
    """Return the distance of two samples: the sum over the features of |code - code|."""
    x = ptr16(one)
    y = ptr16(other)
    away = 0
    for f in range(features):
        gap = (x[f] >> 8) - (y[f] >> 8)
        away += gap if gap > 0 else 0 - gap
    return away


class Store:
    """The samples of a thicket, to share, to compare with a packet, or to remove.

    Only welcome() and remove() change the thicket.
    """

    def __init__(self, model):
        self._model = model
        self._ring = model.grove._flat
        self._row = array("H", bytes(2 * model.features))
        table = neighbours_table(model.features, model.classes, _NEAR)
        buffers = [allocate(t, n) for _, t, n in table] + [absolute_gaps()]
        self._near = self._ring[:_RING_BUFFERS] + tuple(buffers)
        start_neighbours(self._near, _NEAR, self._ring[_RING_SHAPE][_R_LENGTH])
        self._table = address_table(self._near)

    @property
    def held(self):
        """How many samples there are."""
        return self._ring[_RING_SHAPE][_R_HELD]

    def count(self, label):
        """How many of the samples are of a class."""
        return self._ring[_STORE_COUNT][label]

    @property
    def has_foreign(self):
        """Whether samples of other boards were learned, which are marked."""
        return self._ring[_STORE_STATE][_W_DOOMED] >= _FOREIGN

    def whose(self, place):
        """Return the mark of a sample, see mark_of(); 0: the board's own."""
        against = self._ring[_STORE_AGAINST][place]
        return against & ~_COUNT if against >= _MARKED and self.has_foreign else 0

    def places(self, label, own=False):
        """Return a class's places, or only the board's own; the least contradicted first."""
        labels, against = self._ring[_RING_LABELS], self._ring[_STORE_AGAINST]
        foreign = _MARKED if self.has_foreign else 256
        most = foreign if own else 256
        # a count has 8 bits, a place is below 2**16: tuples would take RAM that a board lacks
        nearest = [
            (against[k] & _COUNT if against[k] >= foreign else against[k]) << 16 | k
            for k in range(self.held)
            if labels[k] == label and against[k] < most
        ]
        return [both & 65535 for both in sorted(nearest)]

    def places_of(self, whose):
        """Return the places of the samples with a mark, of all classes."""
        return [k for k in range(self.held) if self.whose(k) == whose]

    def codes(self, place):
        """Return the upper 8 bits of a sample's codes."""
        first = place * self._model.features
        return bytes(self._ring[_RING_CODES][first : first + self._model.features])

    def row(self, place):
        """Return a sample's codes, array('H'): the same array each time."""
        codes = self.codes(place)
        for f in range(len(codes)):
            self._row[f] = (codes[f] << 8) + 128
        return self._row

    def age(self, place):
        """Return how many samples are newer, at most 254; 255: unknown."""
        shape = self._ring[_RING_SHAPE]
        first = self._ring[_STORE_STATE][_W_FIRST]
        newer = shape[_R_HEAD] - 1 - place
        if shape[_R_HELD] == shape[_R_LENGTH]:
            if place < first:
                return _NO_AGE
            newer %= shape[_R_LENGTH] - first
        return min(newer, _MOST_AGE)

    def nearest(self, x):
        """Return the samples nearest to the codes x, in order: (distance, class, place) each."""
        predict(self._table, x, 0)
        labels = self._ring[_RING_LABELS]
        nearest = zip(self._near[_NEIGHBOURS_DISTANCE], self._near[_NEIGHBOURS_NEAREST])
        return [(away, labels[k], k) for away, k in nearest if away < _FAR]

    def nearest_of(self, label, x, among):
        """Return (distance, place) of the sample of a class nearest to x, among some places."""
        labels = self._ring[_RING_LABELS]
        nearest = (_FAR, -1)
        for k in among:
            if labels[k] == label:
                nearest = min(nearest, (apart(x, self.row(k), len(x)), k))
        return nearest

    def welcome(self, x, label, whose):
        """Learn another board's sample, array('H') of codes, with its mark. Allocates nothing."""
        welcome(self._model._addresses, x, 0, label, whose)

    def remove(self, places):
        """Remove these samples, and forget what was learned from them.

        Trees that have grown on them count little as soon as there are newer ones; naive Bayes
        learns their classes again from what is left, and the softmax regression all classes.
        Raises ValueError, with nothing changed, if nothing would be left.
        """
        gone = set(places)
        left = [k for k in range(self.held) if k not in gone]
        if not left:
            raise ValueError("nothing else is known: begin anew instead")
        labels, seen = self._ring[_RING_LABELS], self._model.bayes._flat[_BAYES_SEEN]
        classes = {labels[k] for k in gone}
        t = self._model._addresses
        for i, k in enumerate(sorted(gone)):
            replace(t[_GROVE], k, left[i * len(left) // len(gone)])
        if gone:
            disregard(t[_GROVE])
            self._model._searches[0][_NEIGHBOURS_STATE][_N_COUNT] = 0  # what it found may be gone
        state = self._model._flat[_THICKET_STATE]
        for c in sorted(classes) if state[_T_WITH_BAYES] else ():
            seen[c] = 0
            for k in left:
                if labels[k] == c:
                    self._learn_again(k, c)
        if gone and state[_T_WITH_SOFTMAX]:
            self._begin_again(left)
        state[_T_REST] = _RESTS

    def _begin_again(self, places):
        """Let the softmax regression learn these samples, consecutive ones far apart."""
        softmax = self._model._addresses[_SOFTMAX]
        weight = self._model.softmax._flat[_SOFTMAX_WEIGHT]
        for k in range(len(weight)):
            weight[k] = 0
        every = stride(len(places))
        for i in range(len(places)):
            k = places[i * every % len(places)]
            ask_softmax(softmax, self.row(k), 0)
            step(softmax, self._ring[_RING_LABELS][k], 1)

    def _learn_again(self, place, label):
        follow_bayes(self._model._addresses[_BAYES], self.row(place), 0, label)

"""NearestNeighbours: the most similar of the last samples vote, the nearer the more.

Cover, Hart: Nearest Neighbor Pattern Classification, IEEE Transactions on Information Theory 1967;
on a sliding window as in MOA's kNN. The votes are those of Dudani: The Distance-Weighted
k-Nearest-Neighbor Rule, IEEE Transactions on Systems, Man, and Cybernetics 1976, as 1 / distance.

Buffers after those of the ring (see ring.py):

    state     'i'  k, and how many samples are searched, the newest first
    votes     'i'  [classes] the votes for the last sample that was predicted
    sample    'B'  [features] its codes, 8 bits each
    distance  'i'  [k] of the nearest, in order: the sum over features of |code - code|
    nearest   'B'  [k] their labels
"""

import micropython
from micropython import const

from ..learner import Learner
from .ring import ring_table, start_ring, take

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_RING_CODES = const(1)
_RING_LABELS = const(2)
_NEIGHBOURS_STATE = const(3)
_NEIGHBOURS_VOTES = const(4)
_NEIGHBOURS_SAMPLE = const(5)
_NEIGHBOURS_DISTANCE = const(6)
_NEIGHBOURS_NEAREST = const(7)
# thicket/ring.py
_R_FEATURES = const(1)
_R_CLASSES = const(2)
_R_HELD = const(3)
_R_HEAD = const(4)
# (end)

_VOTERS = const(0)  # of the state: k
_REACH = const(1)
_WORDS = const(2)

_FAR = const(65536)  # more than 256 features can differ by: 256 * 255
_VOTE = const(1020)  # votes for a share of 1 / 2**14


@micropython.viper
def predict(t, rows, at: int) -> int:
    """The class of the sample at rows[at]; leaves the votes in the table."""
    find_nearest(t, rows, at)
    return int(count_votes(t))


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Take a sample into the ring; returns the class predicted before."""
    predicted = int(predict(t, rows, at))
    take(t, rows, at, label)
    return predicted


@micropython.viper
def find_nearest(t, rows, at: int):
    """Fill distance and nearest."""
    address = ptr32(t)
    sample = ptr8(address[_NEIGHBOURS_SAMPLE])
    distance = ptr32(address[_NEIGHBOURS_DISTANCE])
    x = ptr16(rows)
    for f in range(ptr32(address[_RING_SHAPE])[_R_FEATURES]):
        sample[f] = x[at + f] >> 8
    for r in range(ptr32(address[_NEIGHBOURS_STATE])[_VOTERS]):
        distance[r] = _FAR
    search(0, 0, 0, t)


@micropython.viper
def search(away: int, gap: int, i: int, t):
    """Go back from the newest sample; a sum that passes the k-th best so far is not added up.

    It grows by two features at a time, after the first one if their number is odd. The hot
    variables come as arguments, 0 each: viper keeps the first three in registers.
    """
    address = ptr32(t)
    shape = ptr32(address[_RING_SHAPE])
    codes = ptr8(address[_RING_CODES])
    labels = ptr8(address[_RING_LABELS])
    sample = ptr8(address[_NEIGHBOURS_SAMPLE])
    distance = ptr32(address[_NEIGHBOURS_DISTANCE])
    nearest = ptr8(address[_NEIGHBOURS_NEAREST])
    features = shape[_R_FEATURES]
    last = ptr32(address[_NEIGHBOURS_STATE])[_VOTERS] - 1
    reach = ptr32(address[_NEIGHBOURS_STATE])[_REACH]
    held = shape[_R_HELD]
    farthest = _FAR
    b = shape[_R_HEAD]
    first = b * features  # < 65535 * 256 < 2**24
    for _ in range(reach if reach < held else held):
        if b == 0:
            b = held
            first = b * features
        b -= 1
        first -= features
        away = 0  # <= 256 * 255 < 2**16
        i = features & 1
        if i:
            gap = codes[first] - sample[0]
            away = gap if gap > 0 else 0 - gap
        while i < features:
            gap = codes[first + i] - sample[i]
            if gap < 0:
                away -= gap
            else:
                away += gap
            i += 1
            gap = codes[first + i] - sample[i]
            if gap < 0:
                away -= gap
            else:
                away += gap
            i += 1
            if away >= farthest:
                break
        if away < farthest:
            r = last
            while r > 0 and distance[r - 1] > away:
                distance[r] = distance[r - 1]
                nearest[r] = nearest[r - 1]
                r -= 1
            distance[r] = away
            nearest[r] = labels[b]
            farthest = distance[last]


@micropython.viper
def count_votes(t) -> int:
    """Each neighbour votes with 1 / (features + distance), the nearest with 4096 of it.

    The features in the sum keep one equal sample from outvoting all others.
    """
    address = ptr32(t)
    shape = ptr32(address[_RING_SHAPE])
    votes = ptr32(address[_NEIGHBOURS_VOTES])
    distance = ptr32(address[_NEIGHBOURS_DISTANCE])
    nearest = ptr8(address[_NEIGHBOURS_NEAREST])
    classes = shape[_R_CLASSES]
    features = shape[_R_FEATURES]
    for c in range(classes):
        votes[c] = 0
    total = 0
    unit = 4096 * (features + distance[0])  # <= 4096 * (256 + 65536) < 2**29
    for r in range(ptr32(address[_NEIGHBOURS_STATE])[_VOTERS]):
        if distance[r] < _FAR:
            weight = unit // (features + distance[r])  # <= 4096; a sum of 15 is below 2**16
            c = nearest[r]
            votes[c] = votes[c] + weight
            total += weight
    best = 0
    for c in range(classes):
        if total:
            votes[c] = (votes[c] << 14) // total * _VOTE  # 15 * 2**12 * 2**14 < 2**30
        if votes[c] > votes[best]:
            best = c
    return best


def neighbours_table(features, classes, k):
    """The buffers besides the ring's."""
    return [
        ("neighbours.state", "i", _WORDS),
        ("neighbours.votes", "i", classes),
        ("neighbours.sample", "B", features),
        ("neighbours.distance", "i", k),
        ("neighbours.nearest", "B", k),
    ]


def start_neighbours(b, k, reach):
    """Set up the buffers besides the ring's."""
    b[_NEIGHBOURS_STATE][_VOTERS] = k
    b[_NEIGHBOURS_STATE][_REACH] = reach


class NearestNeighbours(Learner):
    """The k samples of the last `window` that are nearest vote.

    Parameters (all but features and classes have defaults):

    features  1..256, numbers in a sample, kept in 8 bits each; classes: 2..256
    window    1..4096, recent samples that are kept; 0: as many as fit into 16 KB, up to 1024
    k         1..15, neighbours that vote

    Raises ValueError, which names the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    PARAMETERS = "window 0 1..4096;k 5 1..15"

    _FIXED = (("ring.shape", range(3)), ("neighbours.state", range(_WORDS)))

    def _prepare(self):
        if not self.window:
            self.fit("window", 16, 1024)

    def _is_sound(self):
        from .check import ring_is_sound

        return ring_is_sound(self._flat)

    def _table(self):
        own = neighbours_table(self.features, self.classes, self.k)
        return ring_table(self.features, self.window) + own

    def _start(self):
        start_ring(self._flat, self.features, self.classes, self.window)
        start_neighbours(self._flat, self.k, self.window)

    @property
    def votes(self):
        """Votes of the last prediction, array('i'); they add up to about 65536 * 255."""
        return self._flat[_NEIGHBOURS_VOTES]

    @property
    def confidence(self):
        """The part of the votes that the predicted class has, 0..255."""
        return max(self.votes) >> 16

    def progress(self):
        """What users see of the state, as a dict of ints."""
        return {"samples_held": self._flat[_RING_SHAPE][_R_HELD]}

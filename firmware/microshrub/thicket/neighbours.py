"""NearestNeighbours: the most similar of the recent samples vote; nearer samples count more.

Cover, Hart: Nearest Neighbor Pattern Classification, IEEE Transactions on Information Theory 1967;
on a sliding window as in MOA's kNN. The votes are those of Dudani: The Distance-Weighted
k-Nearest-Neighbor Rule, IEEE Transactions on Systems, Man, and Cybernetics 1976, as 1 / distance.

Buffers after those of the ring (see sample_ring.py):

    state     'i'  the integers below
    votes     'i'  [classes] the votes for the last sample that was predicted
    sample    'B'  [features] its codes, 8 bits each
    distance  'i'  [k] of the nearest, in order
    nearest   'H'  [k] their places

The search looks at all samples that can be among the nearest. The distance of two samples is a sum
over the features, to which a gap of their codes adds what a table of bytes has at 255 + gap: |gap|
here, and about its square in a thicket (squared_gaps). The table's address comes after those of
the buffers. Each of the first twelve features has an address in that table, moved by the sample's
own code, so that a code of the ring is the index of its distance: that takes two loads.
"""

import micropython
from micropython import const

from ..buffers import address_table
from ..learner import Learner
from .sample_ring import ring_table, start_ring, take

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
# thicket/sample_ring.py
_R_FEATURES = const(1)
_R_CLASSES = const(2)
_R_HELD = const(3)
_R_HEAD = const(4)
# (end)

_GAPS = const(8)  # the place of the table of gaps
_N_MOST = const(0)  # from here on, words of the state: k
_N_REACH = const(1)  # how many samples are searched, at most
_N_VOTERS = const(2)  # from here on, new with each search: how many of the nearest vote
_N_SKIP = const(3)  # the place of a sample that does not vote, or -1
_N_FROM = const(4)  # two searches: each has the place before its next sample,
_N_LOW = const(5)  # the first of the places that it goes round in,
_N_SIZE = const(6)  # the number of these places,
_N_STEP = const(7)  # how far it steps back each time,
_N_COUNT = const(8)  # and how many steps it takes
_N_WORDS = const(9)
_N_SECOND = const(5)  # how many words later the second search has the same
_FAR = const(65536)  # more than the largest distance of two samples: 256 * 255
_VOTE = const(1020)  # votes for a share of 1 / 2**14


@micropython.viper
def begin(t, rows, at: int):
    """Begin a search near the sample at rows[at]."""
    address = ptr32(t)
    sample = ptr8(address[_NEIGHBOURS_SAMPLE])
    distance = ptr32(address[_NEIGHBOURS_DISTANCE])
    x = ptr16(rows)
    for f in range(ptr32(address[_RING_SHAPE])[_R_FEATURES]):
        sample[f] = x[at + f] >> 8
    for r in range(ptr32(address[_NEIGHBOURS_STATE])[_N_MOST]):
        distance[r] = _FAR


# Of the next one, away and row are 0: viper keeps the first arguments in registers.


@micropython.viper
def search(away: int, row: int, t, plan: int, count: int):
    """Look at `count` more samples; a sum that exceeds the k-th best so far is not completed.

    plan is where the search's words begin. A sum grows by four features at a time: each of the
    first twelve has its own variable, and so has each of the up to three that are left over.
    """
    address = ptr32(t)
    sample = ptr8(address[_NEIGHBOURS_SAMPLE])
    distance = ptr32(address[_NEIGHBOURS_DISTANCE])
    nearest = ptr16(address[_NEIGHBOURS_NEAREST])
    state = ptr32(address[_NEIGHBOURS_STATE])
    features = ptr32(address[_RING_SHAPE])[_R_FEATURES]
    last = state[_N_MOST] - 1
    step = state[plan + _N_STEP]
    farthest = distance[last]
    b = state[plan + _N_FROM]
    gap = address[_GAPS] + 255
    four = int(features >= 4)
    if four:
        gap0 = gap - sample[0]
        gap1 = gap - sample[1]
        gap2 = gap - sample[2]
        gap3 = gap - sample[3]
    eight = int(features >= 8)
    if eight:
        gap4 = gap - sample[4]
        gap5 = gap - sample[5]
        gap6 = gap - sample[6]
        gap7 = gap - sample[7]
    twelve = int(features >= 12)
    if twelve:
        gap8 = gap - sample[8]
        gap9 = gap - sample[9]
        gap10 = gap - sample[10]
        gap11 = gap - sample[11]
    low = state[plan + _N_LOW]
    size = state[plan + _N_SIZE]
    stride = features * step
    whole_ring = features * size  # < 65536 * 256 = 2**24
    done = 4 * (four + eight + twelve)
    odd = (features - done) & 3
    if odd:
        gap12 = gap - sample[done]
        if odd > 1:
            gap13 = gap - sample[done + 1]
            if odd > 2:
                gap14 = gap - sample[done + 2]
    fours = (features - done) >> 2
    row = address[_RING_CODES] + b * features
    while count:
        count -= 1
        b -= step
        row -= stride
        if b < low:
            b += size
            row += whole_ring
        away = 0  # <= 256 * 255 < 2**16
        if four:
            away = ptr8(gap0)[ptr8(row)[0]]
            away += ptr8(gap1)[ptr8(row)[1]]
            away += ptr8(gap2)[ptr8(row)[2]]
            away += ptr8(gap3)[ptr8(row)[3]]
            if away >= farthest:
                continue
        if eight:
            away += ptr8(gap4)[ptr8(row)[4]]
            away += ptr8(gap5)[ptr8(row)[5]]
            away += ptr8(gap6)[ptr8(row)[6]]
            away += ptr8(gap7)[ptr8(row)[7]]
            if away >= farthest:
                continue
        if twelve:
            away += ptr8(gap8)[ptr8(row)[8]]
            away += ptr8(gap9)[ptr8(row)[9]]
            away += ptr8(gap10)[ptr8(row)[10]]
            away += ptr8(gap11)[ptr8(row)[11]]
            if away >= farthest:
                continue
        if odd:
            y = row + done
            away += ptr8(gap12)[ptr8(y)[0]]
            if odd > 1:
                away += ptr8(gap13)[ptr8(y)[1]]
                if odd > 2:
                    away += ptr8(gap14)[ptr8(y)[2]]
        if fours:
            x = address[_NEIGHBOURS_SAMPLE] + done + odd
            y = row + done + odd
            left = fours
            while left:
                away += ptr8(gap)[ptr8(y)[0] - ptr8(x)[0]]
                away += ptr8(gap)[ptr8(y)[1] - ptr8(x)[1]]
                away += ptr8(gap)[ptr8(y)[2] - ptr8(x)[2]]
                away += ptr8(gap)[ptr8(y)[3] - ptr8(x)[3]]
                y += 4
                x += 4
                left = left - 1 if away < farthest else 0
        if away < farthest and b != state[_N_SKIP]:
            r = last
            while r > 0 and distance[r - 1] > away:
                distance[r] = distance[r - 1]
                nearest[r] = nearest[r - 1]
                r -= 1
            distance[r] = away
            nearest[r] = b
            farthest = distance[last]
    state[plan + _N_FROM] = b


@micropython.viper
def predict(t, rows, at: int) -> int:
    """Return the class of the sample at rows[at]; leave the votes in the table."""
    address = ptr32(t)
    shape = ptr32(address[_RING_SHAPE])
    state = ptr32(address[_NEIGHBOURS_STATE])
    held = shape[_R_HELD]
    state[_N_VOTERS] = state[_N_MOST]
    state[_N_SKIP] = -1
    state[_N_FROM] = shape[_R_HEAD]
    state[_N_LOW] = 0
    state[_N_SIZE] = held
    state[_N_STEP] = 1
    state[_N_COUNT] = state[_N_REACH] if state[_N_REACH] < held else held
    state[_N_COUNT + _N_SECOND] = 0
    return int(ask(t, rows, at))


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Take a sample into the ring; returns the class predicted before."""
    predicted = int(predict(t, rows, at))
    take(t, rows, at, label)
    return predicted


@micropython.viper
def ask(t, rows, at: int) -> int:
    """Search as the state says; returns the class with the most votes."""
    state = ptr32(ptr32(t)[_NEIGHBOURS_STATE])
    begin(t, rows, at)
    search(0, 0, t, 0, state[_N_COUNT])
    search(0, 0, t, _N_SECOND, state[_N_SECOND + _N_COUNT])
    return int(count_votes(t))


@micropython.viper
def count_votes(t) -> int:
    """Let each neighbour vote with 1 / (features + distance), scaled to 4096 for the nearest.

    The features in the sum keep a single equal sample from outvoting all others.
    """
    address = ptr32(t)
    shape = ptr32(address[_RING_SHAPE])
    votes = ptr32(address[_NEIGHBOURS_VOTES])
    distance = ptr32(address[_NEIGHBOURS_DISTANCE])
    nearest = ptr16(address[_NEIGHBOURS_NEAREST])
    labels = ptr8(address[_RING_LABELS])
    classes = shape[_R_CLASSES]
    features = shape[_R_FEATURES]
    for c in range(classes):
        votes[c] = 0
    total = 0
    unit = 4096 * (features + distance[0])  # <= 4096 * (256 + 65536) < 2**29
    for r in range(ptr32(address[_NEIGHBOURS_STATE])[_N_VOTERS]):
        if distance[r] < _FAR:
            weight = unit // (features + distance[r])  # <= 4096; a sum of 15 is below 2**16
            c = labels[nearest[r]]
            votes[c] = votes[c] + weight
            total += weight
    best = 0
    for c in range(classes):
        if total:
            votes[c] = (votes[c] << 14) // total * _VOTE  # 15 * 2**12 * 2**14 < 2**30
        if votes[c] > votes[best]:
            best = c
    return best


def absolute_gaps():
    """Return the table of |gap|, for the sum over the features of |code - code|."""
    return bytes(range(255, 0, -1)) + bytes(range(256))


def squared_gaps():
    """Return the table of gap * gap / 64, 255 at most: from half of a range on, far is far."""
    table = bytearray(511)
    for gap in range(-255, 256):
        table[255 + gap] = min(gap * gap >> 6, 255)
    return bytes(table)


def neighbours_table(features, classes, k):
    """Describe the buffers besides the ring's."""
    return [
        ("neighbours.state", "i", _N_WORDS + _N_SECOND),
        ("neighbours.votes", "i", classes),
        ("neighbours.sample", "B", features),
        ("neighbours.distance", "i", k),
        ("neighbours.nearest", "H", k),
    ]


def start_neighbours(b, k, reach):
    """Set up the buffers besides the ring's."""
    b[_NEIGHBOURS_STATE][_N_MOST] = k
    b[_NEIGHBOURS_STATE][_N_REACH] = reach


class NearestNeighbours(Learner):
    """The nearest k samples of the last `window` vote.

    Parameters (all but features and classes have defaults):

    features  1..256, numbers in a sample, kept in 8 bits each; classes: 2..256
    window    1..4096, recent samples that are kept; 0: as many as fit into 16 KB, up to 1024
    k         1..15, neighbours that vote

    Raises ValueError, which names the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    PARAMETERS = "window 0 1..4096;k 5 1..15"

    _FIXED = (("ring.shape", range(3)), ("neighbours.state", (_N_MOST, _N_REACH)))

    def _prepare(self):
        if not self.window:
            self.fit("window", 16, 1024)

    def _is_sound(self):
        from .state_check import ring_is_sound

        return ring_is_sound(self._flat)

    def _table(self):
        table = neighbours_table(self.features, self.classes, self.k)
        return ring_table(self.features, self.window) + table

    def _allocate(self):
        super()._allocate()
        self._searches = (self._flat + (absolute_gaps(),),)
        self._addresses = address_table(self._searches[0])

    def _start(self):
        start_ring(self._flat, self.features, self.classes, self.window)
        start_neighbours(self._flat, self.k, self.window)

    @property
    def votes(self):
        """Votes of the last prediction, array('i'); they add up to about 65536 * 255."""
        return self._flat[_NEIGHBOURS_VOTES]

    @property
    def confidence(self):
        """The predicted class's share of the votes, 0..255."""
        return max(self.votes) >> 16

    def progress(self):
        """Figures for users, as a dict of ints."""
        return {"samples_held": self._flat[_RING_SHAPE][_R_HELD]}

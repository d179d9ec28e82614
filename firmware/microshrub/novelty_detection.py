"""NoveltyDetector: samples far from every named class and close to each other, to be named.

Two signals make the novelty score of a sample, see novelty_score.py: its distance from a memory of
labelled samples, see labelled_memory.py, and the learner's uncertainty, the votes that its first
class does not have. Two in five of the labelled samples are candidates. Candidates go into a ring,
see novelty_candidates.py, and a sample is novel if it is nearer to enough candidates than it and
they are to known samples: how much nearer is learned, so that in the long run at most one labelled
sample in `period` is novel. Until the memory is a quarter full, there are no candidates. The first
eight samples of a class change none of this: they are far from all earlier samples.

A group of `collect` novel samples is worth a query. That samples of a novel class are far from
known samples and near each other is what OLINDDA (Spinosa, de Carvalho, Gama, SAC 2007)
and ECSMiner (Masud, Gao, Khan, Han, Thuraisingham, IEEE TKDE 2011) stand on; the comparison of
both distances is that of ECSMiner's q-NSC.

Buffers:

    novelty.words   'i'  the integers below
    novelty.codes   'B'  [window * features] the memory: the upper 8 bits of the codes
    novelty.sample  'B'  [features] those of the sample that is compared
    novelty.labels  'B'  [window] the class of each sample in the memory
    novelty.counts  'H'  [classes] how many samples of each class are there
    novelty.ring    'H'  [room * features] the codes of the candidates
    novelty.x       'H'  [features] those of the candidate that was taken out last
    novelty.marks   'H'  [room] what each place of the ring is, see novelty_candidates.py
    novelty.aways   'H'  [room] the distance of each from the memory when it came
    novelty.near    'H'  [room] its distance from the last candidate; 65535: not alike
"""

import micropython
from micropython import const

from .buffers import Buffers, address_table, table_bytes
from .labelled_memory import height_of, keep, relabel
from .learner import check_row, whole
from .novelty_candidates import collect, drop, gather, give, join, take
from .novelty_score import adjust, novelty_of

# From elsewhere, written by `make constants`:
# places of buffers
_NOVELTY_WORDS = const(0)
_NOVELTY_COUNTS = const(4)
_NOVELTY_X = const(6)
_NOVELTY_MARKS = const(7)
# novelty_candidates.py
_ASKED = const(2)
_GIVEN = const(3)
# novelty_score.py
_MEMORY = const(256)
_FALL = const(1966)
_MOST_NOVEL = const(32767)
_CLOSEST = const(32768)
_LOOSEST = const(131071)
_FAR_RISE = const(262144)
_FARTHEST_OFF = const(268435456)
# (end)

_TIMES = const(10)  # the ring has room for ten times `collect`

_N_SCORE = const(0)  # samples of the ring that the last one belongs to
_N_NOVEL = const(1)  # 1: it was a candidate, 2: it was novel
_N_HELD = const(2)  # samples in the memory
_N_HAND = const(3)  # the place where the search for the next sample to replace begins
_N_AWAY = const(4)  # the last one's mean distance from the three nearest in the memory
_N_FOLLOWS = const(5)  # 1: none of the ring is nearer to it than the one that came there last
_N_SINCE = const(6)  # samples since one came into the ring, up to 255
_RING_HEAD = const(7)  # where the next candidate goes
_RING_HELD = const(8)  # places that are not free,
_N_ASKED = const(9)  # places of these that are in the group,
_N_GIVEN = const(10)  # and places of these that have a label
_N_CLOSE = const(11)  # Q16: what distances from the memory are multiplied by, see gather()
_N_LIMIT = const(12)  # Q8: a sample with a higher novelty score goes into the ring
_N_SEEN = const(13)  # labelled samples that the next four are means of, up to 256
_N_HEIGHT = const(14)  # the mean of heights, see labelled_memory.py,
_N_HEIGHTS = const(15)  # and their mean deviation
_N_UNCERTAINTY = const(16)  # the mean of uncertainties, Q20,
_N_UNCERTAINTIES = const(17)  # and their mean deviation
_N_FAR = const(18)  # Q20: one in `period` labelled samples has a higher score
_N_RISE = const(19)  # _FALL // period
_N_WINDOW = const(20)  # places of the memory
_N_FEATURES = const(21)
_N_NEAR = const(22)  # r
_N_CLASSES = const(23)
_N_ROOM = const(24)  # of the ring
_N_ENOUGH = const(25)  # samples in the memory with which a class counts as known
_N_COLLECT = const(26)
_N_FAR_FALL = const(27)  # _FAR_RISE // period
_WORDS = const(28)

_FARTHEST = const(262143)  # heights are at most this
_ALL_VOTES = const(1048576)  # 2**20
_ONE = const(65536)
_LONG = const(255)
_ENOUGH = const(8)


@micropython.viper
def meet(t, x, label: int, collecting: int, uncertainty: int) -> int:
    """Compare a sample of these codes; returns whether it is novel. label is -1 if not known.

    uncertainty is in Q20. The sample is kept in the memory if it has a label, or in the ring if it
    is a candidate and collecting is 1.
    """
    words = ptr32(ptr32(t)[_NOVELTY_WORDS])
    height = int(height_of(t, x, 0))
    if height > _FARTHEST:
        height = _FARTHEST
    words[_N_SINCE] = words[_N_SINCE] + 1 if words[_N_SINCE] < _LONG else _LONG
    score = int(novelty_of(t, height, uncertainty))
    alike = 0
    new = 0
    words[_N_NOVEL] = 0
    if words[_N_HELD] << 2 >= words[_N_WINDOW] and score > words[_N_LIMIT]:
        alike = int(gather(t))
        if alike and alike >= words[_N_COLLECT] - 1:
            new = 1
        words[_N_NOVEL] = 1 + new
        if score << 12 > words[_N_FAR]:
            words[_N_SINCE] = _LONG
        if collecting and int(collect(t, x, 0)) >= 0 and new:
            join(t, alike + 1)
    words[_N_SCORE] = alike
    if label >= 0:
        if ptr16(ptr32(t)[_NOVELTY_COUNTS])[label] >= words[_N_ENOUGH]:
            adjust(t, height, uncertainty, score, new)
        keep(t, label)
    return new


class NoveltyDetector(Buffers):
    """Collects the samples that are far from all known samples, and near each other.

    features  1..256 codes a sample, of which the upper 8 bits are looked at; classes: 2..256
    period    2..2**20: in the long run, one in so many samples of known classes counts as novel
    window    16..1000 labelled samples that are remembered
    reach     1..32: differences of up to about so many 1/256 a feature are no distance
    collect   1..64 novel samples are worth a query; there is room for ten times as many candidates

    Raises ParameterError for other values.
    """

    def __init__(self, features, classes, period=100, window=256, reach=4, collect=5):
        self.features = whole("features", features, 1, 256)
        self.classes = whole("classes", classes, 2, 256)
        self.period = whole("period", period, 2, 1 << 20)
        self.window = whole("window", window, 16, 1000)
        self.reach = whole("reach", reach, 1, 32)
        self.collect = whole("collect", collect, 1, 64)
        self._allocate()

    def configuration(self):
        """All parameters as one line of text."""
        return "NoveltyDetector features=%d classes=%d period=%d window=%d reach=%d collect=%d" % (
            self.features, self.classes, self.period, self.window, self.reach, self.collect,
        )  # fmt: skip

    def _table(self):
        room = self.places
        return [
            ("novelty.words", "i", _WORDS),
            ("novelty.codes", "B", self.window * self.features),
            ("novelty.sample", "B", self.features),
            ("novelty.labels", "B", self.window),
            ("novelty.counts", "H", self.classes),
            ("novelty.ring", "H", room * self.features),
            ("novelty.x", "H", self.features),
            ("novelty.marks", "H", room),
            ("novelty.aways", "H", room),
            ("novelty.near", "H", room),
        ]

    def nbytes(self):
        """Bytes of the buffers."""
        return table_bytes(self._table())

    def _start(self):
        words = self._flat[_NOVELTY_WORDS]
        words[_N_CLOSE] = _ONE
        words[_N_RISE] = _FALL // self.period
        words[_N_WINDOW] = self.window
        words[_N_FEATURES] = self.features
        words[_N_NEAR] = self.reach * self.features
        words[_N_CLASSES] = self.classes
        words[_N_ROOM] = self.places
        words[_N_ENOUGH] = max(1, min(_ENOUGH, self.window // (2 * self.classes)))
        words[_N_COLLECT] = self.collect
        words[_N_FAR_FALL] = _FAR_RISE // self.period
        self._addresses = address_table(self._flat)
        self._row = ()  # that was checked last

    _FIXED = (("novelty.words", range(_N_RISE, _WORDS)),)

    def _is_sound(self):
        words, _, _, labels, counts, _, _, marks, _, _ = self._flat
        held = words[_N_HELD]
        room = self.places
        # what the first words may be at most
        most = (room, 2, self.window, self.window - 1, _ONE, 1, _LONG, room - 1)
        for k in range(len(most)):
            if not 0 <= words[k] <= most[k]:
                return False
        if not (
            _CLOSEST <= words[_N_CLOSE] <= _LOOSEST
            and -_MOST_NOVEL <= words[_N_LIMIT] <= _MOST_NOVEL
            and 0 <= words[_N_SEEN] <= _MEMORY
            and abs(words[_N_FAR]) <= _FARTHEST_OFF
            and min(
                words[_N_HEIGHT], words[_N_HEIGHTS], words[_N_UNCERTAINTY], words[_N_UNCERTAINTIES]
            )
            >= 0
            and max(words[_N_HEIGHT], words[_N_HEIGHTS]) <= _FARTHEST
            and max(words[_N_UNCERTAINTY], words[_N_UNCERTAINTIES]) <= _ALL_VOTES
            and max(marks) < _GIVEN + self.classes
        ):
            return False
        kinds = [0, 0, 0]
        for mark in marks:
            if mark:
                kinds[min(mark, _GIVEN) - 1] += 1
        if [sum(kinds), kinds[1], kinds[2]] != list(words[_RING_HELD : _N_GIVEN + 1]):
            return False
        for c in range(self.classes):
            alike = 0
            for place in range(held):
                alike += labels[place] == c
            if alike != counts[c]:
                return False
        return sum(counts) == held

    def meet(self, x, label=-1, collecting=True, votes=1 << 24):
        """Compare codes x, array('H') of `features`; returns whether they are novel.

        Allocates nothing. With a label, they are remembered as a sample of that class; collecting:
        keep them if they are a candidate.
        votes, 0..2**24, are those of the learner's first class. Raises ValueError for another x.
        """
        if x is not self._row or len(x) != self.features:
            check_row(x, self.features)
            self._row = x
        votes = _ALL_VOTES - (min(max(votes, 0), 1 << 24) >> 4)
        return self._meet(x, label, collecting, votes)

    def _meet(self, x, label, collecting, uncertainty):
        return meet(self._addresses, x, label, int(collecting), uncertainty) == 1

    def give(self, label):
        """Give the group this label; take() then returns its samples, one by one."""
        give(self._addresses, _GIVEN + whole("label", label, 0, self.classes - 1))

    def take(self):
        """The label of the next sample of the group, or -1; `x` then holds its codes.

        The sample is remembered as one of that class. Allocates nothing.
        """
        label = take(self._addresses)
        if label >= 0:
            keep(self._addresses, label)
        return label

    def dismiss(self):
        """Drop all candidates: none is novel."""
        for place in range(len(self._flat[_NOVELTY_MARKS])):
            if self._flat[_NOVELTY_MARKS][place] < _GIVEN:
                drop(self._addresses, place)

    def move(self, label, to):
        """Move the remembered samples of a class to another class; -1: forget them."""
        relabel(self._addresses, label, to)
        marks = self._flat[_NOVELTY_MARKS]
        for place in range(len(marks)):
            if marks[place] == _GIVEN + label:
                if to >= 0:
                    marks[place] = _GIVEN + to
                else:
                    drop(self._addresses, place)

    def is_asked(self, place):
        """Whether a place of the ring is of the group."""
        return self._flat[_NOVELTY_MARKS][place] == _ASKED

    @property
    def places(self):
        """Places of the ring."""
        return _TIMES * self.collect

    @property
    def place(self):
        """The place of the last sample in the ring if it went there, else -1."""
        words = self._flat[_NOVELTY_WORDS]
        if words[_N_SINCE] or not words[_RING_HELD]:
            return -1
        return (words[_RING_HEAD] or words[_N_ROOM]) - 1

    @property
    def x(self):
        """The codes of the sample that was taken last, array('H')."""
        return self._flat[_NOVELTY_X]

    @property
    def score(self):
        """The number of candidates that the last sample belongs to, 0..255."""
        return min(self._flat[_NOVELTY_WORDS][_N_SCORE], 255)

    @property
    def threshold(self):
        """The threshold of the score."""
        return max(self.collect - 2, 0)

    @property
    def waiting(self):
        """Samples of the group that waits for a name."""
        return self._flat[_NOVELTY_WORDS][_N_ASKED]

    @property
    def is_ready(self):
        """Whether there are enough of them for a query."""
        return self.waiting >= self.collect

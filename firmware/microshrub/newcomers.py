"""Newcomers: samples that are unlike all that has a name are set aside, to be named together.

A sample is compared with a memory of labelled ones, see memory.py, which gives a score, 0..255, of
how unlike these it is. It is new if that passes a threshold, which rises by 8 with each
labelled sample that does, and falls by 8 / period with each one, so that in the long run one in
`period` does: as in anomaly.py, but every sample counts, and not what was there lately is compared
with, but what is known. While the memory fills, the threshold is the highest score of a labelled
sample so far, and until it is a quarter full, nothing is new. The first eight samples of a class
leave the threshold as it is: they are unlike all that was known before.

New samples are set aside, see set_aside.py: `collect` of them are worth a question to the person.
That samples of a new class are far from the known ones and come
together is what OLINDDA (Spinosa, de Carvalho, Gama, SAC 2007) and ECSMiner (Masud, Gao, Khan,
Han, Thuraisingham, IEEE TKDE 2011) stand on. They look for clusters in what is set aside; here a
person looks.

Buffers:

    newcomers.words   'i'  the integers below
    newcomers.codes   'B'  [window * features] the memory: the upper 8 bits of the codes
    newcomers.sample  'B'  [features] those of the sample that is compared
    newcomers.labels  'B'  [window] the class of each sample in the memory
    newcomers.counts  'H'  [classes] how many samples of each class are there
    newcomers.ring    'H'  [room * features] the codes of the new samples
    newcomers.x       'H'  [features] those of the one that was taken out last
"""

import micropython
from micropython import const

from .buffers import Buffers, address_table, table_bytes
from .learner import check_row, whole
from .memory import height_of, keep, relabel
from .set_aside import collect, fade, take

# From elsewhere, written by `make constants`:
# places of buffers
_NEWCOMERS_WORDS = const(0)
_NEWCOMERS_COUNTS = const(4)
_NEWCOMERS_X = const(6)
# set_aside.py
_PATIENCE = const(8)
# (end)

_TIMES = const(4)  # the ring has room for so many times `collect`

_N_SCORE = const(0)  # of the last sample, 0..255
_N_UNLIKE = const(1)  # 1: it was new
_N_LIMIT = const(2)  # the threshold, a height with 10 more bits
_N_HELD = const(3)  # samples in the memory
_N_HAND = const(4)  # the place where the search for the one that goes begins
_N_FADE = const(5)  # samples since the last new one, or since one was dropped
_RING_HEAD = const(6)  # where the next new one goes
_RING_HELD = const(7)  # new ones that are there
_N_GIVEN = const(8)  # of those that are there, the oldest so many have their label,
_N_LABEL = const(9)  # which is this
_N_FALL = const(10)  # _RISE // period
_N_WINDOW = const(11)  # places of the memory
_N_FEATURES = const(12)
_N_NEAR = const(13)  # r
_N_CLASSES = const(14)
_N_ROOM = const(15)  # of the ring
_N_ENOUGH = const(16)  # samples in the memory with which a class counts as known
_WORDS = const(17)

_FARTHEST = const(262143)  # the height of the score 255; a score is height >> 10
_RISE = const(8388608)  # 8 of the score: 8 * 2**20
_HIGHEST = const(276824064)  # 256 * 2**20 + _RISE: above any limit
_ENOUGH = const(8)


@micropython.viper
def meet(t, rows, at: int, label: int, collecting: int) -> int:
    """Compare the sample at rows[at]; whether it is new. label is -1 if it is not known.

    It is kept: in the memory if it has a label, in the ring if it is new and collecting is 1.
    """
    words = ptr32(ptr32(t)[_NEWCOMERS_WORDS])
    height = int(height_of(t, rows, at))
    if height > _FARTHEST:
        height = _FARTHEST
    words[_N_SCORE] = height >> 10
    height = height << 10  # < 2**28
    held = words[_N_HELD]
    limit = words[_N_LIMIT]
    new = 0
    if limit and held << 2 >= words[_N_WINDOW] and height > limit:
        new = 1
    words[_N_UNLIKE] = new
    if new & collecting:
        collect(t, rows, at)
    else:
        fade(t)
    if label >= 0:
        if ptr16(ptr32(t)[_NEWCOMERS_COUNTS])[label] >= words[_N_ENOUGH]:
            adjust(t, height)
        keep(t, label)
    return new


@micropython.viper
def adjust(t, height: int):
    """Move the threshold by the height, with 10 more bits, of a sample of what is known."""
    words = ptr32(ptr32(t)[_NEWCOMERS_WORDS])
    limit = words[_N_LIMIT]
    if words[_N_HELD] < words[_N_WINDOW]:
        limit = height if height > limit else limit
    else:
        if height > limit:
            limit += _RISE
        limit -= words[_N_FALL]
    words[_N_LIMIT] = limit if limit > 0 else 0


class Newcomers(Buffers):
    """Sets aside the samples that are unlike all that is known.

    features  1..256 codes a sample, of which the upper 8 bits are looked at; classes: 2..256
    period    2..2**20: one in so many samples of a known class is taken for new, in the long run
    window    16..1000 labelled samples that are remembered
    reach     1..32, about as many steps of 1/256 a feature are no distance yet
    collect   1..64 new samples are worth a question; there is room for four times as many

    Raises ParameterError for other values.
    """

    def __init__(self, features, classes, period=100, window=256, reach=4, collect=8):
        self.features = whole("features", features, 1, 256)
        self.classes = whole("classes", classes, 2, 256)
        self.period = whole("period", period, 2, 1 << 20)
        self.window = whole("window", window, 16, 1000)
        self.reach = whole("reach", reach, 1, 32)
        self.collect = whole("collect", collect, 1, 64)
        self._allocate()

    def configuration(self):
        """All parameters as one line of text."""
        return "Newcomers features=%d classes=%d period=%d window=%d reach=%d collect=%d" % (
            self.features, self.classes, self.period, self.window, self.reach, self.collect,
        )  # fmt: skip

    def _table(self):
        return [
            ("newcomers.words", "i", _WORDS),
            ("newcomers.codes", "B", self.window * self.features),
            ("newcomers.sample", "B", self.features),
            ("newcomers.labels", "B", self.window),
            ("newcomers.counts", "H", self.classes),
            ("newcomers.ring", "H", _TIMES * self.collect * self.features),
            ("newcomers.x", "H", self.features),
        ]

    def nbytes(self):
        """Bytes of the buffers."""
        return table_bytes(self._table())

    def _start(self):
        words = self._flat[_NEWCOMERS_WORDS]
        words[_N_FALL] = _RISE // self.period
        words[_N_WINDOW] = self.window
        words[_N_FEATURES] = self.features
        words[_N_NEAR] = self.reach * self.features
        words[_N_CLASSES] = self.classes
        words[_N_ROOM] = _TIMES * self.collect
        words[_N_ENOUGH] = max(1, min(_ENOUGH, self.window // (2 * self.classes)))
        self._addresses = address_table(self._flat)
        self._row = ()  # that was checked last

    _FIXED = (("newcomers.words", range(_N_FALL, _WORDS)),)

    def _is_sound(self):
        words, _, _, labels, counts, _, _ = self._flat
        room = words[_N_ROOM]
        held = words[_N_HELD]
        if not (
            0 <= words[_N_SCORE] <= 255
            and 0 <= words[_N_UNLIKE] <= 1
            and 0 <= words[_N_LIMIT] <= _HIGHEST
            and 0 <= held <= self.window
            and 0 <= words[_N_HAND] < self.window
            and 0 <= words[_RING_HEAD] < room
            and 0 <= words[_RING_HELD] <= room
            and 0 <= words[_N_FADE] < _PATIENCE
            and 0 <= words[_N_GIVEN] <= words[_RING_HELD]
            and 0 <= words[_N_LABEL] < self.classes
        ):
            return False
        for c in range(self.classes):
            found = 0
            for place in range(held):
                found += labels[place] == c
            if found != counts[c]:
                return False
        return sum(counts) == held

    def meet(self, x, label=-1, collecting=True):
        """Compare the codes x, array('H') of `features`; whether they are new. Allocates nothing.

        A label has them remembered as of that class; collecting: set them aside if they are new.
        Raises ValueError for another x.
        """
        if x is not self._row or len(x) != self.features:
            check_row(x, self.features)
            self._row = x
        return meet(self._addresses, x, 0, label, int(collecting)) == 1

    def give(self, label):
        """Give all that was set aside this label; take() then has them, one by one."""
        words = self._flat[_NEWCOMERS_WORDS]
        words[_N_LABEL] = whole("label", label, 0, self.classes - 1)
        words[_N_GIVEN] = words[_RING_HELD]

    def take(self):
        """The label of the next one that has got it, -1: there is none; `x` then holds its codes.

        It is remembered as of that class. Allocates nothing.
        """
        label = take(self._addresses)
        if label >= 0:
            keep(self._addresses, label)
        return label

    def dismiss(self):
        """Nothing of what was set aside is new."""
        words = self._flat[_NEWCOMERS_WORDS]
        words[_RING_HELD] = words[_N_GIVEN] = 0

    def move(self, label, to):
        """What is remembered of a class is of another one from now on; -1: it is forgotten."""
        relabel(self._addresses, label, to)
        words = self._flat[_NEWCOMERS_WORDS]
        if words[_N_LABEL] == label and words[_N_GIVEN]:
            if to >= 0:
                words[_N_LABEL] = to
            else:
                self.dismiss()

    @property
    def x(self):
        """The codes of the sample that was taken last, array('H')."""
        return self._flat[_NEWCOMERS_X]

    @property
    def score(self):
        """Of the last sample, 0..255."""
        return self._flat[_NEWCOMERS_WORDS][_N_SCORE]

    @property
    def threshold(self):
        """What a score has to pass, 0..255, rounded down."""
        return min(self._flat[_NEWCOMERS_WORDS][_N_LIMIT] >> 20, 255)

    @property
    def waiting(self):
        """New samples that wait for a name."""
        words = self._flat[_NEWCOMERS_WORDS]
        return words[_RING_HELD] - words[_N_GIVEN]

    @property
    def is_asking(self):
        """Whether there are enough of them for a question."""
        return self.waiting >= self.collect

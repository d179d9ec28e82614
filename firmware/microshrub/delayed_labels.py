"""Pending: a ring of recent predictions whose labels come late and are matched by id."""

import micropython
from micropython import const

from .buffers import Buffers, table_bytes
from .learner import check_row, whole
from .ranges import moved_code

_LAST = const(0)  # words of the state: the id of the last sample modulo 65535, 0..65534
_AT = const(1)  # its place in the ring
_HELD = const(2)  # samples in the ring, 0..K
_WORDS = const(3)

_IDS = const(65535)  # 1..65535, as 0 stands for no id on the link


@micropython.viper
def copy_row(source, start: int, target, at: int, features: int):
    """Copy codes, array('H') to array('H')."""
    x = ptr16(source)
    out = ptr16(target)
    for f in range(features):
        out[at + f] = x[start + f]


@micropython.viper
def move_column(codes, column: int, rows: int, change: int, steps: int):
    """Move the codes of a feature of all rows with its range, see growing_ranges.py.

    column is 256 times the number of features, plus the feature; change is 32 times the bits, up
    to 30, plus the doublings and 16: so there are two arguments less, see Pending.move_codes().
    """
    x = ptr16(codes)
    features = column >> 8
    for k in range(rows):
        at = k * features + (column & 255)
        x[at] = int(moved_code(x[at], change >> 5, (change & 31) - 16, steps))


class Pending(Buffers):
    """The last `samples` samples that wait for their label.

    features  1..256 codes a sample; classes: 2..256
    samples   1..32768, K: how many later samples a label may wait for

        number = pending.add(x, model.predict(x))   # the id, for whoever will give the label
        ...
        if number in pending:                       # not too late
            predicted = pending.take(number)        # pending.x is the sample again
            metrics.update(label, predicted)
            model.learn(pending.x, label)

    Ids are 1, 2, 3, ... 65535, 1, ...; an id stands for the last sample that got it.
    """

    def __init__(self, features, classes, samples=32):
        self.features = whole("features", features, 1, 256)
        self.classes = whole("classes", classes, 2, 256)
        self.samples = whole("samples", samples, 1, 32768)
        self._allocate()

    @classmethod
    def nbytes(cls, features, samples=32):
        """Bytes of the buffers."""
        return table_bytes(_table(features, samples))

    def configuration(self):
        """All parameters as one line of text."""
        return "Pending features=%d classes=%d samples=%d" % (
            self.features, self.classes, self.samples,
        )  # fmt: skip

    def _table(self):
        return _table(self.features, self.samples)

    def _is_sound(self):
        state, _, classes, waits, _ = self._flat
        return (
            0 <= state[_LAST] < _IDS
            and 0 <= state[_AT] < self.samples
            and 0 <= state[_HELD] <= self.samples
            and max(classes) < self.classes
            and max(waits) <= 1
        )

    def add(self, x, predicted):
        """Add a sample and the class that was predicted; returns its id. Allocates nothing.

        x is array('H') of `features` codes. The oldest sample is dropped, labelled or not.
        """
        check_row(x, self.features)
        whole("predicted", predicted, 0, self.classes - 1)
        state = self._flat[0]
        place = state[_AT]
        self._write(x, place)
        self._flat[2][place] = predicted
        self._flat[3][place] = 1
        state[_LAST] = (state[_LAST] + 1) % _IDS
        state[_AT] = (place + 1) % self.samples
        if state[_HELD] < self.samples:
            state[_HELD] += 1
        return state[_LAST] or _IDS

    def _write(self, x, place):
        copy_row(x, 0, self._flat[1], place * self.features, self.features)

    def take(self, number):
        """The class that was predicted for the sample with this id; `x` then holds its codes.

        Raises ValueError, with nothing changed, if the sample is not there, or no longer there, or
        was taken already. Otherwise allocates nothing.
        """
        place = self._place(number)
        if place < 0:
            raise ValueError(
                "no sample %d waits for a label: there are only the last %d"
                % (number, self._flat[0][_HELD])
            )
        if not self._flat[3][place]:
            raise ValueError("sample %d was given its label before" % number)
        self._flat[3][place] = 0
        self._read(place)
        return self._flat[2][place]

    def _read(self, place):
        copy_row(self._flat[1], place * self.features, self.x, 0, self.features)

    def move_codes(self, feature, bits, doublings, steps):
        """Move all codes of a feature with its range, see growing_ranges.py.

        Allocates nothing, not even a frame: with one argument more it would.
        """
        bits = bits << 5 | doublings + 16
        move_column(self._flat[1], self.features << 8 | feature, self.samples, bits, steps)

    def __contains__(self, number):
        """Whether take(number) will find a sample. Allocates nothing."""
        place = self._place(number)
        return place >= 0 and self._flat[3][place] == 1

    def _place(self, number):
        """Where in the ring the sample with this id is, -1 if it is not there."""
        whole("the id of a sample", number, 0, _IDS)
        state = self._flat[0]
        age = (state[_LAST] - number) % _IDS  # 0: the newest
        held = number and age < state[_HELD]
        return (state[_AT] - age - 1) % self.samples if held else -1

    @property
    def x(self):
        """The codes of the sample that was taken last, array('H')."""
        return self._flat[4]

    @property
    def waiting(self):
        """The number of samples that still wait for their label."""
        return sum(self._flat[3])


def _table(features, samples):
    return [
        ("pending.state", "i", _WORDS),
        ("pending.codes", "H", samples * features),
        ("pending.predicted", "B", samples),
        ("pending.waits", "B", samples),
        ("pending.x", "H", features),
    ]

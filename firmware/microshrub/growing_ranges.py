"""GrowingQuantizer: ranges that follow the samples; learned codes and thresholds move along.

The range of a feature is 2**bits raw values from `low` on; ranges.py says which codes they have.
When a range doubles, or begins lower than before, a code in it becomes exactly the code that its
value has in the new range: its half, plus 7 for each step that the range begins lower. A code in a
tail becomes that of the least value that it stands for. Where a range shrinks, doublings are below
0: a code is shifted to the left, or comes to lie in a tail. Every object that keeps codes has a
method

    move_codes(feature, bits, doublings, steps)

which replaces each code of that feature by moved_code(code, bits, doublings, steps). It is called
before any sample is coded with the new range.

range_growth.py says when a range grows or shrinks. It does not shrink while the last 128 labels
are one class, whose values may be close together.
"""

from micropython import const

from .buffers import Buffers, address_table, table_bytes
from .learner import CODES, ParameterError, same_items, whole
from .quantizer import MISSING, RAW, RAW_MAX
from .range_growth import (
    FIXED,
    count_row,
    encode_row,
    encode_rows,
    forget_close,
    next_due,
    plan,
    settle,
    shrinks,
    watch,
)
from .ranges import coded

# From elsewhere, written by `make constants`:
# places of buffers
_GROWING_COUNTS = const(0)
_GROWING_LOW = const(1)
_GROWING_BITS = const(2)
_GROWING_LAST = const(7)
# early_range_growth.py
_EARLY = const(16)
# quantizer.py
_MOST = const(1073741823)
# range_growth.py
_G_SEEN = const(0)
_G_OUTSIDE = const(1)
_G_ABSENT = const(2)
_CLOSE = const(3)
_G_FEATURES = const(3)
_G_WATCHED = const(4)
_G_BITS = const(5)
_G_DOUBLINGS = const(6)
_RECENT = const(6)
_G_STEPS = const(7)
_G_WORDS = const(8)
_MOST_BITS = const(30)
_NO_VALUE = const(255)
_LONG = const(256)
_LONGER = const(1024)
_MOST_SEEN = const(1024)
# (end)

_ONE_CLASS = const(128)  # labels in a row, half of the values that make a range shrink


class GrowingQuantizer(Buffers):
    """A quantizer whose ranges grow with the samples; the objects that keep codes follow.

    features  1..256
    follow    a tuple of these objects, the learner first, then others, such as Pending, of as many
              features; a learner whose codes cannot move raises ValueError: take a Quantizer

        quantizer = GrowingQuantizer(features=3, follow=(model,))
        quantizer.encode(raw, x)      # array('i') of 3 raw values to array('H') of 3 codes
        model.learn(x, label)
        quantizer.code(raw, x)        # the same while no labels come: no range grows
        label = model.predict(x)

    No sample is needed to find the ranges. For a missing value the feature keeps its last code (at
    first the middle one); it is counted in `missing`.
    """

    frozen = True  # samples can be coded
    grows = True

    def __init__(self, features, follow=()):
        self.features = whole("features", features, 1, 256)
        for each in follow:
            if not getattr(each, "moves", True) or getattr(each, "features", features) != features:
                raise ParameterError("follow", "thickets and the like of as many features", each)
        self.follow = follow
        self._allocate()

    @classmethod
    def nbytes(cls, features):
        """Bytes of the buffers of a quantizer for that many features."""
        return table_bytes(_table(features))

    def configuration(self):
        """The number of features; the ranges are part of the state."""
        return "GrowingQuantizer features=%d" % self.features

    def _table(self):
        return _table(self.features)

    def _allocate(self):
        Buffers._allocate(self)
        self._addresses = address_table(self._flat)

    def _start(self):
        self._flat[_GROWING_COUNTS][_G_FEATURES] = self.features
        for f in range(self.features):
            self._flat[_GROWING_BITS][f] = _NO_VALUE
            self._flat[_GROWING_LAST][f] = 32767

    @property
    def is_young(self):
        """Whether it has had so few samples that each one may widen ranges at once."""
        return self._flat[_GROWING_COUNTS][_G_SEEN] < _EARLY

    @property
    def bits(self):
        """The sum of all ranges' bits: it changes when a range grows or shrinks."""
        total = 0
        for bits in self._flat[_GROWING_BITS]:
            total += bits
        return total

    def encode(self, raw, codes):
        """Write the codes of a row, array('i') of `features`, to codes, array('H') as long."""
        self.encode_from(raw, codes, 0)

    def encode_from(self, raw, codes, row):
        """Code rows from that one on, as long as codes need not move; returns the next row.

        The samples before have to be learned by then. At least one row is coded. Allocates
        nothing.
        """
        rows = self._rows(raw, codes)
        self._prepare(raw, row * self.features)
        encode_row(self._addresses, raw, row * self.features, codes)
        count_row(self._addresses)
        return encode_rows(self._addresses, raw, row + 1, rows, codes)

    def _prepare(self, raw, at):
        """Have ranges grow or shrink, if the values of a row require it."""
        t = self._addresses
        counts = self._flat[_GROWING_COUNTS]
        f = next_due(t) if counts[_G_WATCHED] else watch(t, raw, at)
        while f >= 0:
            self._grow(f)
            f = next_due(t) if counts[_G_SEEN] < _EARLY else -1

    def code(self, raw, codes):
        """Code a row by the present ranges: no range grows."""
        self._rows(raw, codes)
        encode_row(self._addresses, raw, 0, codes)

    def code_aside(self, raw, codes):
        """Write the codes of a row without counting it; a missing value has the middle code."""
        low, bits = self._flat[_GROWING_LOW], self._flat[_GROWING_BITS]
        for f in range(self.features):
            missing = raw[f] == MISSING or bits[f] == _NO_VALUE
            codes[f] = 32767 if missing else coded(raw[f] - low[f], bits[f])

    def _rows(self, raw, codes):
        """The number of rows. Raises ValueError if raw and codes are no rows."""
        rows = len(raw) // self.features
        if not same_items(raw, RAW) or len(raw) != rows * self.features:
            raise ValueError("raw has to be array('i') of rows of %d values" % self.features)
        if not same_items(codes, CODES) or len(codes) != len(raw):
            raise ValueError("codes has to be array('H') of %d codes" % len(raw))
        return rows

    def _grow(self, f):
        again = int(not self._stays(f))
        while again:
            again = plan(self._addresses, f)
            k = 0
            while k < len(self.follow):
                self._move(k, f, self._flat[_GROWING_COUNTS])
                k += 1
            settle(self._addresses, f)

    def _stays(self, f):
        """Return whether a range that is due to shrink has to stay: all may be of one class."""
        t = self._addresses
        if shrinks(t, f) < 0 or not self.follow or self.follow[0].label_run() < _ONE_CLASS:
            return False
        forget_close(t, f)
        return True

    def _move(self, k, f, counts):
        """Have codes move; no function here has more than eleven words of state."""
        self.follow[k].move_codes(f, counts[_G_BITS], counts[_G_DOUBLINGS], counts[_G_STEPS])

    def range_of(self, f):
        """The (low, bits) of a feature's range of 2**bits values; 255: it has had no value yet."""
        return self._flat[_GROWING_LOW][f], self._flat[_GROWING_BITS][f]

    def raw(self, feature, code):
        """The greatest raw value whose code is at most `code`; -(2**29), below all, if none is.

        So a raw value v has a code <= `code` if and only if v <= raw(feature, code).
        """
        f = whole("feature", feature, 0, self.features - 1)
        whole("code", code, 0, 65535)
        low = self._flat[_GROWING_LOW][f]
        bits = self._flat[_GROWING_BITS][f] % _NO_VALUE
        least, greatest = MISSING, RAW_MAX
        while least < greatest:
            middle = (least + greatest + 1) >> 1
            if coded(middle - low, bits) <= code:
                least = middle
            else:
                greatest = middle - 1
        return least

    @property
    def clamped(self):
        """Values so far that were outside of their feature's range."""
        return self._flat[_GROWING_COUNTS][_G_OUTSIDE]

    @property
    def missing(self):
        """Missing values so far."""
        return self._flat[_GROWING_COUNTS][_G_ABSENT]

    _FIXED = (("growing.counts", FIXED),)

    def _is_sound(self):
        counts, low, bits, _, beyond, least, most, _, recent = self._flat
        if not 0 <= min(counts[:_G_FEATURES]) <= max(counts[:_G_FEATURES]) <= _MOST:
            return False
        if counts[_G_SEEN] > _MOST_SEEN or counts[_G_WATCHED]:
            return False
        for f in range(self.features):
            if bits[f] > _MOST_BITS and bits[f] != _NO_VALUE:
                return False
            if not -RAW_MAX <= least[f] <= most[f] <= RAW_MAX or not MISSING <= low[f] <= RAW_MAX:
                return False
            if not -RAW_MAX <= beyond[f] <= RAW_MAX:
                return False
            end = low[f] + (1 << bits[f] % _NO_VALUE)
            for k, enough in ((_RECENT * f, _LONG), (_RECENT * f + _CLOSE, _LONGER)):
                if not 0 <= recent[k + 2] <= enough:
                    return False
                if recent[k + 2] and not low[f] <= recent[k] <= recent[k + 1] < end:
                    return False
        return True


def _table(features):
    return [
        ("growing.counts", "i", _G_WORDS),
        ("growing.low", "i", features),
        ("growing.bits", "B", features),
        ("growing.level", "B", features),
        ("growing.beyond", "i", features),
        ("growing.least", "i", features),
        ("growing.most", "i", features),
        ("growing.last", "H", features),
        ("growing.recent", "i", _RECENT * features),
    ]

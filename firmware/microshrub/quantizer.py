"""Raw sensor values to unsigned 16-bit codes, in integers.

A raw value is an int within +-(2**29 - 1), or MISSING. A sensor that gives fractions is scaled by
its driver, say to hundredths of a degree; trees only compare, so the unit does not matter, and a
monotone code loses nothing but resolution.

The codes of a feature, from 0 to 65535:

    8192 below the range | 49152 in equal steps over the range | 8192 above the range

Outside the range, the steps grow with the distance: with d from the near end and s about a 64th
of the range, 256 codes reach to d = s, the next 256 to 3s, then 7s, 15s and so on, far enough for
every raw value. So the values of a sensor can still be told apart when it drifts away from the
range of its first samples, even if it did not move then (one code amid them, 1024 an octave).
"""

from array import array
from builtins import len  # found at once, see learner.py

import micropython
from micropython import const

from .buffers import Buffers, address_table, table_bytes
from .initial_ranges import limited, next_of, put_next, widen, without_wrong
from .learner import CODES, same_items, whole

# From elsewhere, written by `make constants`:
# places of buffers
_QUANTIZER_COUNTS = const(0)
_QUANTIZER_LOW = const(1)
_QUANTIZER_SPAN = const(2)
_QUANTIZER_SHIFT = const(3)
_QUANTIZER_SCALE = const(4)
_QUANTIZER_LAST = const(5)
# initial_ranges.py
_MISSING = const(-536870912)
_RAW_MAX = const(536870911)
# (end)

RAW_MAX = _RAW_MAX
MISSING = _MISSING
RAW = array("i")  # a sample for same_items()

_MOST = const(1073741823)  # counters stop there
_MIDDLE = const(32767)  # of the codes
_CORE = const(49151)
_TAIL = const(8192)
_TAIL_BITS = const(8)  # 2**8 codes an octave: 31 octaves, as many as there can be, need 7936
_POINT_TAIL = const(32767)
_POINT_TAIL_BITS = const(10)  # 31 octaves need 31744 codes

_OUTSIDE = const(0)  # words of the counts
_ABSENT = const(1)
_FROZEN = const(2)
_FEATURES = const(3)
_WORDS = const(4)


@micropython.viper
def code_of(v: int, span: int, shift: int, scale: int) -> int:
    """Code of a value v above the low end of a range of that span; v may be below 0 or above span.

    scale is 0 for a range of one value; see Quantizer._freeze for shift and scale.
    """
    tail = _TAIL
    bits = _TAIL_BITS
    unit = shift + 9  # log2 of s: the range has 16 + shift bits, s has 6 bits less
    if not scale:
        tail = _POINT_TAIL
        bits = _POINT_TAIL_BITS
        unit = 0
    if 0 <= v <= span:
        v = v >> shift if shift >= 0 else v << (0 - shift)
        return tail + ((v * scale) >> 14)  # v < 2**16, and the product <= 49151 * 2**14 < 2**30
    if unit < 0:
        unit = 0
    d = 0 - v if v < 0 else v - span  # 1..2**30
    d += 1 << unit  # < 2**31, unit <= 24
    top = unit
    while d >> top > 1:
        top += 1
    d -= 1 << top
    d = d >> (top - bits) if top > bits else d << (bits - top)
    d += (top - unit) << bits
    return tail - 1 - d if v < 0 else 65536 - tail + d


@micropython.viper
def encode_rows(t, raw, codes, rows: int):
    """Codes of `rows` raw rows; a missing value takes the feature's last code."""
    address = ptr32(t)
    counts = ptr32(address[_QUANTIZER_COUNTS])
    low = ptr32(address[_QUANTIZER_LOW])
    span = ptr32(address[_QUANTIZER_SPAN])
    shift = ptr32(address[_QUANTIZER_SHIFT])
    scale = ptr16(address[_QUANTIZER_SCALE])
    last = ptr16(address[_QUANTIZER_LAST])
    x = ptr32(raw)
    out = ptr16(codes)
    k = 0
    for _ in range(rows):
        for f in range(counts[_FEATURES]):
            v = int(limited(x[k]))
            if v == _MISSING:
                if counts[_ABSENT] < _MOST:
                    counts[_ABSENT] = counts[_ABSENT] + 1
            else:
                v -= low[f]  # within +-2**30
                if (v < 0 or v > span[f]) and counts[_OUTSIDE] < _MOST:
                    counts[_OUTSIDE] = counts[_OUTSIDE] + 1
                last[f] = int(code_of(v, span[f], shift[f], scale[f]))
            out[k] = last[f]
            k += 1


class Quantizer(Buffers):
    """Ranges per feature, learned from the first samples or given, then frozen.

    features  1..256
    ranges    None, or for each feature a pair (low, high) of ints within +-(2**29 - 1)

    Without ranges, pass the first samples to observe() and then call freeze(). A range does not
    reach to a value, however often it came, that is more than eight times as far from all others
    as they are from each other, as it is a wrong reading. A value outside of its range gets a
    coarser code and is counted in `clamped`. For a missing value, the feature keeps its last code
    (at first the middle one); it is counted in `missing`.
    """

    grows = False

    def __init__(self, features, ranges=None):
        self.features = whole("features", features, 1, 256)
        if ranges is not None and (
            not isinstance(ranges, (tuple, list)) or len(ranges) != features
        ):
            raise ValueError("ranges has to have a pair for each of the %d features" % features)
        for pair in ranges or ():
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError("a range has to be a pair (low, high), not %r" % (pair,))
            low, high = pair
            whole("the low end of a range", low, -RAW_MAX, RAW_MAX)
            whole("the high end of a range", high, low, RAW_MAX)
        self._ranges = tuple([tuple(pair) for pair in ranges]) if ranges else None
        self._allocate()

    @classmethod
    def nbytes(cls, features):
        """Bytes of the buffers of a quantizer for that many features."""
        return table_bytes(_table(features))

    def configuration(self):
        """The number of features; the ranges are part of the state."""
        return "Quantizer features=%d" % self.features

    def _table(self):
        return _table(self.features)

    def _start(self):
        counts, low, high, shift, _, _ = self._flat
        counts[_FEATURES] = self.features
        self._addresses = address_table(self._flat)
        for f in range(self.features):
            low[f], high[f] = self._ranges[f] if self._ranges else (RAW_MAX, -RAW_MAX)
            shift[f] = RAW_MAX
            put_next(self._addresses, f, -RAW_MAX)
        if self._ranges:
            self._freeze(31)

    def observe(self, raw):
        """Widen the ranges to hold rows of raw values, array('i') of a multiple of features."""
        if self.frozen:
            raise ValueError("the ranges are frozen already")
        for row in range(self._rows(raw)):
            widen(self._addresses, raw, row * self.features, self.features)

    def freeze(self):
        """Fix the ranges, an eighth wider on either side; encode() works then."""
        if not self.frozen:
            self._freeze(3)

    def _freeze(self, margin_shift):
        # What widen() kept as the high end becomes the span.
        counts, low, span, shift, scale, last = self._flat
        for f in range(self.features):
            if low[f] > span[f]:  # nothing but missing values so far
                low[f] = span[f] = 0
            if low[f] < span[f] and not self._ranges:
                below = next_of(self._addresses, f)
                low[f], span[f] = without_wrong(low[f], span[f], shift[f], below)
            last[f] = _MIDDLE
            margin = (span[f] - low[f]) >> margin_shift
            low[f] = max(low[f] - margin, -RAW_MAX)
            span[f] = min(span[f] + margin, RAW_MAX) - low[f]
            shift[f], scale[f] = scaling(span[f])
        counts[_FROZEN] = 1

    _FIXED = (("quantizer.counts", (_FEATURES,)),)

    def _is_sound(self):
        counts, low, span, shift, scale, last = self._flat
        frozen = counts[_FROZEN]
        if not 0 <= min(counts) <= max(counts) <= _MOST or max([abs(v) for v in low]) > RAW_MAX:
            return False
        for f in range(self.features):
            high = low[f] + span[f] if frozen else span[f]
            if not -RAW_MAX <= high <= RAW_MAX or (frozen and span[f] < 0):
                return False
            if frozen:
                if (shift[f], scale[f]) != scaling(span[f]):
                    return False
                continue
            below = next_of(self._addresses, f) if last[f] >> 14 < 2 else MISSING
            if low[f] >= high and (shift[f], below) != (RAW_MAX, -RAW_MAX):
                return False
            if low[f] < high and not (low[f] < shift[f] <= high and low[f] <= below < high):
                return False
        return frozen <= 1

    def range_of(self, f):
        """The (low, span) of a feature's range: its least value, and the distance to its last."""
        return self._flat[1][f], self._flat[2][f]

    def encode_from(self, raw, codes, row):
        """Write the codes of all rows, as no range grows; returns the number of rows."""
        self.encode(raw, codes)
        return len(raw) // self.features

    def code(self, raw, codes):
        """As encode(): these ranges never grow."""
        self.encode(raw, codes)

    def code_aside(self, raw, codes):
        """Write the codes of a row without counting it; a missing value has the middle code."""
        _, low, span, shift, scale, _ = self._flat
        for f in range(self.features):
            codes[f] = _MIDDLE
            if raw[f] != MISSING:
                codes[f] = code_of(raw[f] - low[f], span[f], shift[f], scale[f])

    def encode(self, raw, codes):
        """Write the codes of raw, array('i') of one row or more, to codes, array('H') as long."""
        rows = self._rows(raw)
        self._check_frozen()
        if not same_items(codes, CODES) or len(codes) != len(raw):
            raise ValueError("codes has to be array('H') of %d codes" % len(raw))
        encode_rows(self._addresses, raw, codes, rows)

    def raw(self, feature, code):
        """The greatest raw value whose code is at most `code`; -(2**29), below all, if none is.

        So a raw value v has a code <= `code` if and only if v <= raw(feature, code).
        """
        f = whole("feature", feature, 0, self.features - 1)
        whole("code", code, 0, 65535)
        self._check_frozen()
        _, low, span, shift, scale, _ = self._flat
        least, greatest = MISSING, RAW_MAX
        while least < greatest:
            middle = (least + greatest + 1) >> 1
            if code_of(middle - low[f], span[f], shift[f], scale[f]) <= code:
                least = middle
            else:
                greatest = middle - 1
        return least

    def _check_frozen(self):
        if not self.frozen:
            raise ValueError("the ranges are not frozen yet: call freeze() first")

    def _rows(self, raw):
        if not same_items(raw, RAW) or len(raw) % self.features:
            raise ValueError("raw has to be array('i') of rows of %d values" % self.features)
        return len(raw) // self.features

    @property
    def frozen(self):
        """Whether the ranges are fixed."""
        return bool(self._flat[0][_FROZEN])

    @property
    def clamped(self):
        """Values so far that were outside of their feature's range."""
        return self._flat[0][_OUTSIDE]

    @property
    def missing(self):
        """Missing values so far."""
        return self._flat[0][_ABSENT]


def scaling(span):
    """(shift, scale) of a range: shift makes 16 bits of its span, scale / 2**14 then 49151."""
    shift = 0
    while span >> shift > 65535:
        shift += 1
    while shift <= 0 and 0 < span << -shift < 32768:
        shift -= 1
    if not span:
        return 0, 0
    return shift, (_CORE << 14) // (span >> shift if shift >= 0 else span << -shift)


def _table(features):
    return [
        ("quantizer.counts", "i", _WORDS),
        ("quantizer.low", "i", features),
        ("quantizer.span", "i", features),
        ("quantizer.shift", "i", features),
        ("quantizer.scale", "H", features),
        ("quantizer.last", "H", features),
    ]

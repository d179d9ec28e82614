"""A packet: samples that one model shares with others, small, exact and readable.

The bytes, little-endian; a name is its length, 1..255, u8, and so many bytes of UTF-8:

    magic b"mshp" | version u8 | the board or model that made it: a name
    | features u16 | growing u8 | of each feature: name, offset i64, digits i8, low i32, size i32
    | classes u16 | of each class: name
    | samples u16 | of each sample: the upper 8 bits of each feature's code, class u8, age u8
    | CRC32 of all before, u32

A raw value is (value - offset) * 10**digits. A range begins at `low`; if ranges grow (growing is
1), it is 2**size raw values long, or size is 255 if the feature never had a value; else it ends
with low + size. The age of a sample is how many of its model's samples are newer, 254 if there are
more, or 255 if that is not known.
"""

import struct
from binascii import crc32

from micropython import const

from .class_names import is_name
from .quantizer import MISSING, RAW_MAX, code_of, scaling
from .ranges import coded

# From elsewhere, written by `make constants`:
# range_growth.py
_MOST_BITS = const(30)
_NO_VALUE = const(255)
# (end)

_MAGIC = b"mshp"
_VERSION = const(1)
_RANGE = "<qbii"  # offset, digits, low, size
_RANGE_BYTES = const(17)
_LEAST = const(21)  # bytes of an empty packet
_MOST_CLASSES = const(256)
_MOST_FEATURES = const(256)
_MOST_SAMPLES = const(65535)
MOST_OFFSET = 1 << 62
_TOO_SHORT = "the packet is damaged: it ends too early"


class SamplePacket:
    """The contents of a packet. Raises ValueError for bytes that are not a packet.

    origin                      the name of the board or model that made it
    feature_names, class_names  tuples of texts
    units                       of each feature (offset, digits)
    ranges                      of each feature (low, size); growing: see above
    samples                     how many samples it has
    key                         the CRC32 of all before it, a text of eight digits
    """

    def __init__(self, data):
        if len(data) < _LEAST or bytes(data[:4]) != _MAGIC:
            raise ValueError("this is no packet of microshrub")
        if data[4] != _VERSION:
            raise ValueError(
                "the packet is of version %d, and this microshrub reads version %d: export it "
                "again with it" % (data[4], _VERSION)
            )
        end = len(data) - 4
        if crc32(memoryview(data)[:end]) & 0xFFFFFFFF != struct.unpack_from("<I", data, end)[0]:
            raise ValueError("the packet is damaged: its checksum does not match")
        self.key = "%08x" % struct.unpack_from("<I", data, end)[0]
        self._data = data
        self._end = end
        self._at = 5
        self.origin = self._name()
        features = self._count("features", 1, _MOST_FEATURES)
        self.growing = self._bytes(1)[0] == 1
        self.feature_names = ()  # type: tuple
        self.units = ()  # type: tuple
        self.ranges = ()  # type: tuple
        for _ in range(features):
            self._feature()
        self.class_names = ()  # type: tuple
        for _ in range(self._count("classes", 1, _MOST_CLASSES)):
            self.class_names += (self._name(),)
        for names in (self.feature_names, self.class_names):
            if len(set(names)) < len(names):
                raise ValueError("the packet is damaged: it has a name twice")
        self.samples = self._count("samples", 0, _MOST_SAMPLES)
        if (features + 2) * self.samples != end - self._at:
            raise ValueError("the packet is damaged: its samples have another length")
        for i in range(self.samples):
            if self.label(i) >= len(self.class_names):
                raise ValueError("the packet is damaged: a sample is of no class that it names")

    def _bytes(self, n):
        """The next n bytes."""
        at = self._at
        if n > self._end - at:
            raise ValueError(_TOO_SHORT)
        self._at = at + n
        return bytes(self._data[at : at + n])

    def _name(self):
        text = self._bytes(self._bytes(1)[0])
        if not is_name(text, 0, len(text)):
            raise ValueError("the packet is damaged: a name in it is none")
        return str(text, "utf-8")

    def _count(self, what, least, most):
        count = struct.unpack("<H", self._bytes(2))[0]
        if not least <= count <= most:
            raise ValueError("the packet is damaged: it says that it has %d %s" % (count, what))
        return count

    def _feature(self):
        name = self._name()
        offset, digits, low, size = struct.unpack(_RANGE, self._bytes(_RANGE_BYTES))
        if self.growing:
            right = 0 <= size <= _MOST_BITS or size == _NO_VALUE
        else:
            right = 0 <= size <= 2 * RAW_MAX and low + size <= RAW_MAX
        if not right or not MISSING <= low <= RAW_MAX or abs(offset) > MOST_OFFSET:
            raise ValueError("the packet is damaged: the range of %s cannot be" % name)
        self.feature_names += (name,)
        self.units += ((offset, digits),)
        self.ranges += ((low, size),)

    def _place(self, i):
        return self._at + i * (len(self.feature_names) + 2)

    def code(self, i, f):
        """The upper 8 bits of the code of feature f of sample i."""
        return self._data[self._place(i) + f]

    def label(self, i):
        """The class of sample i, by its place in class_names."""
        return self._data[self._place(i) + len(self.feature_names)]

    def age(self, i):
        """How many samples were newer, see above."""
        return self._data[self._place(i) + len(self.feature_names) + 1]

    def raw(self, i, f):
        """The raw value that the code of feature f of sample i stands for, or MISSING."""
        low, size = self.ranges[f]
        return value_of(self.code(i, f), low, size, self.growing)


def packed(origin, features, growing, class_names, samples):
    """The bytes of a packet.

    features     of each (name, (offset, digits), (low, size))
    samples      of each (codes, class, age): bytes of the features' codes, and two numbers

    Raises ValueError for values that a packet cannot have.
    """
    data = bytearray(_MAGIC + bytes((_VERSION,)) + _name(origin))
    data += struct.pack("<HB", len(features), int(growing))
    for name, (offset, digits), (low, size) in features:
        if abs(offset) > MOST_OFFSET or not -128 <= digits < 128:
            raise ValueError("the unit of %s is too large for a packet" % name)
        data += _name(name) + struct.pack(_RANGE, offset, digits, low, size)
    data += struct.pack("<H", len(class_names))
    for name in class_names:
        data += _name(name)
    data += struct.pack("<H", len(samples))
    for codes, label, age in samples:
        data += codes
        data.append(label)
        data.append(age)
    return bytes(data + struct.pack("<I", crc32(data) & 0xFFFFFFFF))


def _name(text):
    """The bytes of a name in a packet."""
    data = text.encode()
    if len(data) > 255 or not is_name(data, 0, len(data)):
        raise ValueError(
            "a name in a packet has to be 1..255 bytes of text, without control characters or "
            "spaces around it, not %r" % text
        )
    return bytes((len(data),)) + data


def value_of(code, low, size, growing):
    """The raw value that an 8-bit code of that range stands for; MISSING if it had no values.

    It is the middle one of the values with that code, and beyond the range the nearest one.
    """
    if growing and size == _NO_VALUE:
        return MISSING
    fixed = (0, 0) if growing else scaling(size)
    if growing:
        first, last = 16, 239  # of the codes within a range
    else:
        first, last = (32, 223) if size else (127, 127)
        if first == code == last:
            return low
    most = _greatest((code << 8) + 255, low, size, growing, fixed)
    least = _greatest((code << 8) - 1, low, size, growing, fixed) + 1
    if least > most:  # no value has this code; the value before is nearest
        return min(max(most, -RAW_MAX), RAW_MAX)
    value = (least + most) >> 1
    if code < first:
        value = most
    if code > last:
        value = least
    return min(max(value, -RAW_MAX), RAW_MAX)


def _greatest(code, low, size, growing, fixed):
    """The greatest raw value with a 16-bit code of at most that, MISSING if there is none."""
    least, greatest = MISSING, RAW_MAX
    while least < greatest:
        middle = (least + greatest + 1) >> 1
        if growing:
            its = coded(middle - low, size)
        else:
            its = code_of(middle - low, size, fixed[0], fixed[1])
        if its <= code:
            least = middle
        else:
            greatest = middle - 1
    return least


def in_unit(raw, unit, wanted):
    """A raw value of one unit, (offset, digits), as the nearest one of another unit."""
    if raw == MISSING or unit == wanted:
        return raw
    digits = max(unit[1], wanted[1], 0)
    above = raw * 10 ** (digits - unit[1]) + (unit[0] - wanted[0]) * 10**digits
    below = 10 ** (digits - wanted[1])
    return min(max((2 * above + below) // (2 * below), -RAW_MAX), RAW_MAX)

"""The ranges that a quantizer takes from its first samples; its buffers are in quantizer.py.

A range reaches from the least to the greatest value, but not to a value that is far away from all
others, however often it came: a wrong reading, or a sensor that was unplugged for a while. Far
away means more than eight times as far as all others are from each other.

So the values next to the least and the greatest are kept, too, in places that are unused until the
range is frozen: the value next to the least in the feature's shift; the value next to the
greatest, plus 2**29, in its scale, and the upper half of that in its last code. Until they are
known, these places have the greatest and the least of all raw values.
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_QUANTIZER_LOW = const(1)
_QUANTIZER_SPAN = const(2)
_QUANTIZER_SHIFT = const(3)
_QUANTIZER_SCALE = const(4)
_QUANTIZER_LAST = const(5)
# (end)

_RAW_MAX = const(536870911)  # 2**29 - 1
_MISSING = const(-536870912)  # stands for a missing value
_ABOVE = const(536870912)  # 2**29: added to a value, so that it is not negative
_FAR = const(3)  # log2 of how much farther away a wrong reading is, at least


@micropython.viper
def limited(v: int) -> int:
    """v, or the nearer end of the range of raw values; MISSING stays."""
    if v > _RAW_MAX:
        return _RAW_MAX
    if v < _MISSING:
        return 0 - _RAW_MAX
    return v


@micropython.viper
def widen(t, raw, at: int, features: int):
    """Stretch each feature's range over the raw row that starts at raw[at]."""
    address = ptr32(t)
    low = ptr32(address[_QUANTIZER_LOW])
    high = ptr32(address[_QUANTIZER_SPAN])
    above_low = ptr32(address[_QUANTIZER_SHIFT])
    x = ptr32(raw)
    for f in range(features):
        v = int(limited(x[at + f]))
        if v != _MISSING:
            end = low[f]
            if v < end:
                low[f] = v
                above_low[f] = end
            elif end < v < above_low[f]:
                above_low[f] = v
            end = high[f]
            if v > end:
                high[f] = v
                put_next(t, f, end)
            elif int(next_of(t, f)) < v < end:
                put_next(t, f, v)


@micropython.viper
def put_next(t, f: int, v: int):
    """Keep the value next to the greatest one of a feature."""
    address = ptr32(t)
    v += _ABOVE
    ptr16(address[_QUANTIZER_SCALE])[f] = v & 65535
    ptr16(address[_QUANTIZER_LAST])[f] = v >> 16


@micropython.viper
def next_of(t, f: int) -> int:
    """The value next to the greatest one of a feature."""
    address = ptr32(t)
    upper = ptr16(address[_QUANTIZER_LAST])[f]
    return (upper << 16 | ptr16(address[_QUANTIZER_SCALE])[f]) - _ABOVE  # < 2**30


def without_wrong(low, high, above_low, below_high):
    """The (low, high) of a range without wrong readings; of two values, neither is wrong."""
    for _ in range(2):  # the one that is farther from the next first
        if high - below_high > above_low - low:
            if 0 < below_high - low < high - below_high >> _FAR:
                high = below_high
            below_high = high
        else:
            if 0 < high - above_low < above_low - low >> _FAR:
                low = above_low
            above_low = low
    return low, high

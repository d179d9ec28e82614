"""ADWIN: windows over 0s and 1s that shrink when their mean has changed, in fixed memory.

Bifet, Gavalda: Learning from Time-Changing Data with Adaptive Windowing, SDM 2007. A window is a
row of buckets, of which only the sums are kept: up to 4 of one bit each, then up to 4 of 2 bits,
of 4 bits and so on. It is cut wherever the means of its older and its newer part differ by more
than chance allows, with delta = 0.002.

Buffers, in this order, "drift.width" and so on (K windows, 12 sizes of buckets). The kernels take
their owner's table t of addresses, and the place d in it where these buffers begin.

    width   'H'  [K] bits in the window, at most 4 * (2**12 - 1) = 16380; the oldest are forgotten
    total   'H'  [K] how many of them are 1
    clock   'B'  [K] bits since the last check for a cut
    filled  'B'  [K * 12] buckets of each size
    sums    'H'  [K * 12 * 4] sums[(k * 12 + size) * 4 + i]: the 1s of a bucket of 2**size bits,
                 the oldest first
"""

import micropython
from micropython import const

from .fixed import log2, square_root

# From elsewhere, written by `make constants`:
# places of buffers
_DRIFT_WIDTH = const(0)
_DRIFT_TOTAL = const(1)
_DRIFT_CLOCK = const(2)
_DRIFT_FILLED = const(3)
_DRIFT_SUMS = const(4)
# (end)

_SIZES = const(12)
_BUCKETS = const(4)
_CLOCK = const(32)
_LEAST = const(5)  # bits of either part
_CUT = const(1000)  # 2 / delta
_NEARLY = const(100)  # 2 / delta of an alarm's warning

_LN2 = const(2839)  # Q12


def windows_table(windows):
    """The buffers of that many windows."""
    return [
        ("drift.width", "H", windows),
        ("drift.total", "H", windows),
        ("drift.clock", "B", windows),
        ("drift.filled", "B", windows * _SIZES),
        ("drift.sums", "H", windows * _SIZES * _BUCKETS),
    ]


def windows_are_sound(d):
    """Whether windows from a file can be used: their buckets add up to width and total."""
    width, total, clock, filled, sums = d
    if max(clock) >= _CLOCK or max(filled) > _BUCKETS:
        return False
    for k in range(len(width)):
        bits = ones = 0
        for row in range(k * _SIZES, (k + 1) * _SIZES):
            size = 1 << row % _SIZES
            bits += filled[row] * size
            for i in range(row * _BUCKETS, row * _BUCKETS + filled[row]):
                if sums[i] > size:
                    return False
                ones += sums[i]
        if bits != width[k] or ones != total[k]:
            return False
    return True


@micropython.viper
def clear_window(t, d: int, k: int):
    """Empty window k."""
    address = ptr32(t)
    ptr16(address[d + _DRIFT_WIDTH])[k] = 0
    ptr16(address[d + _DRIFT_TOTAL])[k] = 0
    ptr8(address[d + _DRIFT_CLOCK])[k] = 0
    filled = ptr8(address[d + _DRIFT_FILLED])
    for i in range(k * _SIZES, (k + 1) * _SIZES):
        filled[i] = 0


@micropython.viper
def add_bit(t, d: int, k: int, bit: int) -> int:
    """Take a bit into window k; returns 1 if the mean had risen, and the window was cut."""
    address = ptr32(t)
    width = ptr16(address[d + _DRIFT_WIDTH])
    clock = ptr8(address[d + _DRIFT_CLOCK])
    push(t, d, k, bit)
    clock[k] = clock[k] + 1
    if clock[k] < _CLOCK:
        return 0
    clock[k] = 0
    before = int(mean(t, d, k))
    cut = 0
    while width[k] >= 2 * _LEAST and int(differs(t, d, k, _CUT)):
        drop_oldest(t, d, k)
        cut = 1
    return int(cut and int(mean(t, d, k)) > before)


@micropython.viper
def next_level(t, d: int, level: int, bit: int) -> int:
    """Take a bit into window 0; returns the level of an alarm that was at `level`.

    It is 2 when the mean has risen. If a check of the window found no cut, it is 1 if the mean has
    nearly risen, else 0; between two checks a warning stays.
    """
    address = ptr32(t)
    if int(add_bit(t, d, 0, bit)):
        return 2
    if ptr8(address[d + _DRIFT_CLOCK])[0]:
        return level & 1
    if ptr16(address[d + _DRIFT_WIDTH])[0] < 2 * _LEAST:
        return 0
    return int(int(differs(t, d, 0, _NEARLY)) > 0)


@micropython.viper
def mean(t, d: int, k: int) -> int:
    """The mean of window k in Q14, 0 if it is empty."""
    address = ptr32(t)
    width = ptr16(address[d + _DRIFT_WIDTH])[k]
    if not width:
        return 0
    return (ptr16(address[d + _DRIFT_TOTAL])[k] << 14) // width  # < 2**14 * 2**14


@micropython.viper
def push(t, d: int, k: int, bit: int):
    """Append a bucket of one bit; two buckets of a full size become one of the next size."""
    address = ptr32(t)
    width = ptr16(address[d + _DRIFT_WIDTH])
    total = ptr16(address[d + _DRIFT_TOTAL])
    filled = ptr8(address[d + _DRIFT_FILLED])
    sums = ptr16(address[d + _DRIFT_SUMS])
    width[k] = width[k] + 1
    total[k] = total[k] + bit
    size = k * _SIZES
    end = size + _SIZES
    while size < end:
        first = size * _BUCKETS
        if filled[size] < _BUCKETS:
            sums[first + filled[size]] = bit
            filled[size] = filled[size] + 1
            return
        merged = sums[first] + sums[first + 1]
        for i in range(first, first + _BUCKETS - 2):
            sums[i] = sums[i + 2]
        sums[first + _BUCKETS - 2] = bit
        filled[size] = _BUCKETS - 1
        bit = merged
        size += 1
    total[k] = total[k] - bit  # the two oldest of the largest buckets
    width[k] = width[k] - (1 << _SIZES)


@micropython.viper
def drop_oldest(t, d: int, k: int):
    """Forget the oldest bucket."""
    address = ptr32(t)
    width = ptr16(address[d + _DRIFT_WIDTH])
    total = ptr16(address[d + _DRIFT_TOTAL])
    filled = ptr8(address[d + _DRIFT_FILLED])
    sums = ptr16(address[d + _DRIFT_SUMS])
    size = _SIZES - 1
    while not filled[k * _SIZES + size]:
        size -= 1
    row = k * _SIZES + size
    first = row * _BUCKETS
    width[k] = width[k] - (1 << size)
    total[k] = total[k] - sums[first]
    filled[row] = filled[row] - 1
    for i in range(first, first + filled[row]):
        sums[i] = sums[i + 1]


@micropython.viper
def differs(t, d: int, k: int, odds: int) -> int:
    """Whether there is a place where the means of the older and the newer part differ too much.

    They do if they differ by more than sqrt(2 v D / m) + 2 D / (3 m), where v is the variance of
    the window, m the harmonic sum of the parts' widths and D = ln(ln(width) odds); odds is
    2 / delta, 10..1000. The result is 1 if the newer part's mean is higher, -1 if it is lower.
    """
    address = ptr32(t)
    width = ptr16(address[d + _DRIFT_WIDTH])[k]
    total = ptr16(address[d + _DRIFT_TOTAL])[k]
    filled = ptr8(address[d + _DRIFT_FILLED])
    sums = ptr16(address[d + _DRIFT_SUMS])
    whole = (total << 14) // width
    variance = (whole * (16384 - whole)) >> 14  # Q14
    chance = int(log_odds(width, odds))
    variance = (variance * chance) >> 9  # 2 v D in Q14: 2**12 * 2**14, then < 2**17
    older = 0
    ones = 0
    size = _SIZES
    while size:
        size -= 1
        row = k * _SIZES + size
        for i in range(row * _BUCKETS, row * _BUCKETS + filled[row]):
            older += 1 << size
            ones += sums[i]
            newer = width - older
            if newer < _LEAST:
                return 0
            if older >= _LEAST:
                apart = (ones << 14) // older - ((total - ones) << 14) // newer  # < 2**28 each
                sign = 0 - 1
                if apart < 0:
                    apart = 0 - apart
                    sign = 1
                m = older * newer // width  # < 2**26; >= 2
                # 2 v D / m in Q28: < 2**31 / 2; and Q10 to Q14
                if apart > int(square_root((variance << 14) // m)) + (chance << 5) // (3 * m):
                    return sign
    return 0


@micropython.viper
def log_odds(width: int, odds: int) -> int:
    """ln(ln(width) odds) in Q10, for odds of 10..1000 and width of 10..16380: 3.1..9.2."""
    natural = ((int(log2(width)) >> 4) * _LN2) >> 12  # ln(width) in Q10; 2**14 * 2**12
    return (((int(log2(natural * odds)) - (10 << 14)) >> 4) * _LN2) >> 12  # 2**14 * 2**12

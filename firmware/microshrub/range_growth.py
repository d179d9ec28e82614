"""Kernels of growing_ranges.py: when a range grows or shrinks, and by how much.

A range grows

- with a value outside of it, among the first 16 samples: early_range_growth.py has the exceptions;
- later, when more than one value in 17 lies on one side of it: a level rises by 16 with each of
  these and falls by one with each value inside, and has to pass 16, from 64 samples on 32, from
  256 on 48, and from 1,024 on 64. Then the range comes to hold the nearest of these values.

So a few wrong readings widen nothing, and of a feature with heavy tails some values stay in the
tails, where they do not squeeze the others. Nor does a sensor that is stuck or pulled out, which
gives one value again and again, far away from all others: the same one does not count twice.

A range shrinks to the recent values, after a change of the unit or the gain, or where wrong
readings widened it, if values in a row, not all of them the same, were close together: 256 within
a 256th of the range, so close that a learner which keeps the upper eight bits of a code can hardly
tell them apart; or 1,024 within a 32nd, where such a learner has few codes left. A value that lies
apart takes 64 back, so a wrong reading now and then does not stop it; values outside of the range
do not count.

So that the time is bounded, one range at most changes with a sample, after the first 16.

Buffers:

    growing.counts  'i'  the integers below
    growing.low     'i'  [features] where a range begins
    growing.bits    'B'  [features] log2 of its length, or 255: there was no value yet
    growing.level   'B'  [features] 255: the range has to grow; early_range_growth.py has others
    growing.beyond  'i'  [features] the value outside that the range may grow for
    growing.least   'i'  [features] of the values that it has to hold
    growing.most    'i'  [features] likewise the greatest
    growing.last    'H'  [features] the last code
    growing.recent  'i'  [features * 6] the least and greatest recent value, and how many there
                         are, within a 256th of the range; then the same within a 32nd
"""

import micropython
from micropython import const

from .early_range_growth import is_far, note_early
from .initial_ranges import limited
from .ranges import coded, moved_code

# From elsewhere, written by `make constants`:
# places of buffers
_GROWING_COUNTS = const(0)
_GROWING_LOW = const(1)
_GROWING_BITS = const(2)
_GROWING_LEVEL = const(3)
_GROWING_BEYOND = const(4)
_GROWING_LEAST = const(5)
_GROWING_MOST = const(6)
_GROWING_LAST = const(7)
_GROWING_RECENT = const(8)
# early_range_growth.py
_EARLY = const(16)
_ANEW = const(252)
_GROWS = const(255)
# initial_ranges.py
_MISSING = const(-536870912)
# ranges.py
_STEP_BITS = const(13)
# (end)

_G_SEEN = const(0)  # of the counts: samples so far, up to _MOST_SEEN
_G_OUTSIDE = const(1)  # values outside of their range, up to _MOST
_G_ABSENT = const(2)  # missing values, likewise
_G_FEATURES = const(3)
_G_WATCHED = const(4)  # 1: the next row was looked at already
_G_BITS = const(5)  # of the feature that grows: bits before,
_G_DOUBLINGS = const(6)  # doublings,
_G_STEPS = const(7)  # and how many steps lower the new range begins
_G_WORDS = const(8)
FIXED = (_G_FEATURES,)

_MOST = const(1073741823)  # counters stop there
_MOST_BITS = const(30)  # as many as all raw values need
_NO_VALUE = const(255)  # in the place of bits
_MOST_SEEN = const(1024)
_MARGIN = const(4)  # log2 of the part of what a range holds that it is longer
_OUTSIDE_ADDS = const(16)  # to a level
_FAR_BITS = const(3)  # log2 of the lengths of a range from which on a value is far away
_CLOSEST_BITS = const(8)  # log2 of the part of a range that values are close together in,
_LONG = const(256)  # and how many of these make a range shrink;
_CLOSE_BITS = const(5)  # likewise in a larger part,
_LONGER = const(1024)  # of which it takes more
_APART_TAKES = const(64)  # from their number
_RECENT = const(6)  # words of a feature, of which
_CLOSE = const(3)  # the second half is for the larger part


@micropython.viper
def watch(t, raw, at: int) -> int:
    """Look at the values of a row; returns the feature whose range has to change now, or -1."""
    address = ptr32(t)
    counts = ptr32(address[_GROWING_COUNTS])
    low = ptr32(address[_GROWING_LOW])
    bits = ptr8(address[_GROWING_BITS])
    least = ptr32(address[_GROWING_LEAST])
    most = ptr32(address[_GROWING_MOST])
    level = ptr8(address[_GROWING_LEVEL])
    x = ptr32(raw)
    for f in range(counts[_G_FEATURES]):
        v = int(limited(x[at + f]))
        if v != _MISSING:
            if bits[f] == _NO_VALUE:
                bits[f] = 0
                low[f] = v
                least[f] = v
                most[f] = v
            if counts[_G_SEEN] < _EARLY:
                note_early(t, f, v)
            elif 0 <= v - low[f] < 1 << bits[f]:
                if v < least[f]:
                    least[f] = v
                if v > most[f]:
                    most[f] = v
                if level[f]:
                    level[f] = level[f] - 1
                note_inside(t, f, v)
            else:
                note_outside(t, f, v)
    return int(next_due(t))


@micropython.viper
def note_outside(t, f: int, v: int):
    """A value lies outside of its range: raise the level, and keep the nearer one of two."""
    address = ptr32(t)
    level = ptr8(address[_GROWING_LEVEL])
    low = ptr32(address[_GROWING_LOW])
    beyond = ptr32(address[_GROWING_BEYOND])
    seen = ptr32(address[_GROWING_COUNTS])[_G_SEEN]
    above = int(v >= low[f])
    if level[f] == 0 or above != int(beyond[f] >= low[f]):
        beyond[f] = v
        level[f] = _OUTSIDE_ADDS
    elif v != beyond[f] or not int(is_far(t, f, v, _FAR_BITS)):
        if int(v < beyond[f]) == above:
            beyond[f] = v
        after = level[f] + _OUTSIDE_ADDS
        level[f] = after if after <= int(most_level(seen)) else _GROWS


@micropython.viper
def note_inside(t, f: int, v: int):
    """A value lies inside its range: count those that are close together."""
    length = 1 << ptr8(ptr32(t)[_GROWING_BITS])[f]
    k = _RECENT * f
    note_close(t, k, v, length >> _CLOSEST_BITS, _LONG)
    note_close(t, k + _CLOSE, v, length >> _CLOSE_BITS, _LONGER)


@micropython.viper
def note_close(t, k: int, v: int, close: int, enough: int):
    """Count a value among those that are closer together, whose words begin at k."""
    recent = ptr32(ptr32(t)[_GROWING_RECENT])
    least = recent[k]
    most = recent[k + 1]
    count = recent[k + 2]
    if v < least:
        least = v
    if v > most:
        most = v
    apart = int(most - least >= close)  # <= 2**30
    if count == 0 or (apart != 0 and count <= _APART_TAKES):
        recent[k] = v
        recent[k + 1] = v
        recent[k + 2] = 1
    elif apart:
        recent[k + 2] = count - _APART_TAKES
    elif most > least:
        recent[k] = least
        recent[k + 1] = most
        if count < enough:
            recent[k + 2] = count + 1


@micropython.viper
def shrinks(t, f: int) -> int:
    """Return where the words of the values begin that a feature's range shrinks to, or -1."""
    recent = ptr32(ptr32(t)[_GROWING_RECENT])
    k = _RECENT * f
    if recent[k + 2] == _LONG:
        return k
    return k + _CLOSE if recent[k + _CLOSE + 2] == _LONGER else -1


@micropython.viper
def most_level(seen: int) -> int:
    """The greatest level with which a range does not grow yet, after so many samples."""
    most = _OUTSIDE_ADDS
    limit = 64
    while seen >= limit and limit <= _MOST_SEEN:
        most += _OUTSIDE_ADDS
        limit = limit << 2
    return most


@micropython.viper
def next_due(t) -> int:
    """The first feature whose range has to grow or shrink, or -1."""
    address = ptr32(t)
    level = ptr8(address[_GROWING_LEVEL])
    counts = ptr32(address[_GROWING_COUNTS])
    due = _ANEW if counts[_G_SEEN] < _EARLY else _GROWS
    for f in range(counts[_G_FEATURES]):
        if level[f] >= due or int(shrinks(t, f)) >= 0:
            return f
    return -1


@micropython.viper
def plan(t, f: int) -> int:
    """How the range of a feature has to change; returns 1 if it has to do so again.

    At most 13 doublings at once, as a code would have no bit left; and at most 13 halvings.
    """
    address = ptr32(t)
    counts = ptr32(address[_GROWING_COUNTS])
    low = ptr32(address[_GROWING_LOW])
    least = ptr32(address[_GROWING_LEAST])
    most = ptr32(address[_GROWING_MOST])
    v = ptr32(address[_GROWING_BEYOND])[f]
    before = ptr8(address[_GROWING_BITS])[f]
    after = before
    recent = ptr32(address[_GROWING_RECENT])
    k = int(shrinks(t, f))
    if k >= 0:
        v = recent[k]
        least[f] = v
        most[f] = recent[k + 1]
        after = before - _STEP_BITS if before > _STEP_BITS else 0
    if v < least[f]:
        least[f] = v
    if v > most[f]:
        most[f] = v
    first = least[f]
    last = most[f]
    anew = int(ptr8(address[_GROWING_LEVEL])[f] == _ANEW)
    if anew:  # first all that is known comes to one code
        first = _MISSING + 1
        last = 0 - first
    length = last - first + 1  # <= 2**30
    while after < _MOST_BITS and 1 << after < length + (length >> _MARGIN):
        after += 1
    again = int(after - before > _STEP_BITS)
    if again:
        after = before + _STEP_BITS
    lower = 0
    if not again:  # what it holds comes to the middle of it
        lower = low[f] - (first - (((1 << after) - length) >> 1))
        if lower > low[f] - _MISSING:  # below all values: so none is 2**30 above the low end
            lower = low[f] - _MISSING
    if after > _STEP_BITS:
        lower = lower >> (after - _STEP_BITS)
    counts[_G_BITS] = before
    counts[_G_DOUBLINGS] = after - before
    counts[_G_STEPS] = lower
    return again | anew


@micropython.viper
def forget_close(t, f: int):
    """Count no value of a feature as close to others."""
    recent = ptr32(ptr32(t)[_GROWING_RECENT])
    recent[_RECENT * f + 2] = 0
    recent[_RECENT * f + _CLOSE + 2] = 0


@micropython.viper
def settle(t, f: int):
    """Change the range of a feature as planned."""
    address = ptr32(t)
    counts = ptr32(address[_GROWING_COUNTS])
    low = ptr32(address[_GROWING_LOW])
    last = ptr16(address[_GROWING_LAST])
    level = ptr8(address[_GROWING_LEVEL])
    before = counts[_G_BITS]
    doublings = counts[_G_DOUBLINGS]
    steps = counts[_G_STEPS]
    after = before + doublings
    forget_close(t, f)
    last[f] = int(moved_code(last[f], before, doublings, steps))
    low[f] = low[f] - (steps << (after - _STEP_BITS) if after > _STEP_BITS else steps)
    ptr8(address[_GROWING_BITS])[f] = after
    if level[f] > _ANEW:
        level[f] = _GROWS - level[f]
    elif level[f] == _ANEW and after == _MOST_BITS:  # begin anew, without the wrong reading
        least = ptr32(address[_GROWING_LEAST])
        most = ptr32(address[_GROWING_MOST])
        v = ptr32(address[_GROWING_BEYOND])[f]
        if most[f] - v > v - least[f]:
            most[f] = v
        else:
            least[f] = v
        low[f] = least[f]
        ptr8(address[_GROWING_BITS])[f] = 0
        level[f] = _GROWS


@micropython.viper
def encode_row(t, raw, at: int, codes):
    """Code a row by the ranges as they are; a missing value takes the feature's last code.

    So does a value of a feature that has had none yet.
    """
    address = ptr32(t)
    counts = ptr32(address[_GROWING_COUNTS])
    low = ptr32(address[_GROWING_LOW])
    bits = ptr8(address[_GROWING_BITS])
    last = ptr16(address[_GROWING_LAST])
    x = ptr32(raw)
    out = ptr16(codes)
    for f in range(counts[_G_FEATURES]):
        v = int(limited(x[at + f]))
        if v == _MISSING:
            if counts[_G_ABSENT] < _MOST:
                counts[_G_ABSENT] = counts[_G_ABSENT] + 1
        elif bits[f] != _NO_VALUE:
            v -= low[f]
            if (v < 0 or v >= 1 << bits[f]) and counts[_G_OUTSIDE] < _MOST:
                counts[_G_OUTSIDE] = counts[_G_OUTSIDE] + 1
            last[f] = int(coded(v, bits[f]))
        out[at + f] = last[f]


@micropython.viper
def count_row(t):
    """Count a row with which the ranges may grow."""
    counts = ptr32(ptr32(t)[_GROWING_COUNTS])
    if counts[_G_SEEN] < _MOST_SEEN:
        counts[_G_SEEN] = counts[_G_SEEN] + 1
    counts[_G_WATCHED] = 0


@micropython.viper
def encode_rows(t, raw, row: int, rows: int, codes) -> int:
    """Code rows up to one for which a range has to grow; returns the number of that row."""
    counts = ptr32(ptr32(t)[_GROWING_COUNTS])
    while row < rows:
        at = row * counts[_G_FEATURES]
        if int(watch(t, raw, at)) >= 0:
            counts[_G_WATCHED] = 1
            return row
        encode_row(t, raw, at, codes)
        count_row(t)
        row += 1
    return row

"""Ranges during the first 16 samples: each value widens its range at once, except outliers.

An outlier is more than 64 times as far from all other values as these are from each other, and
comes once: the reading of a sensor that wakes up, or whose wire is loose. From the fourth sample
on, a range does not grow for such a value until a different value comes on the same side.

Which of the first three values is an outlier shows only later. So a suspect is watched: the least
or the greatest value, whichever is farther from the middle one. Once all others are close together
compared with it, the codes of this feature were nearly all the same, and useless. Then the range
doubles until it holds every raw value, so that all codes become one, and begins anew: see plan()
and settle() in range_growth.py.

The buffers are those of range_growth.py; in these samples a level is

    0         no value is suspect
    1, 2      the least, the greatest value is suspect; `beyond` is the value next to it
    16        `beyond` is a value for which the range does not grow yet
    252       the range has to begin anew: `beyond` is next to the outlier
    253..255  the range has to grow, and the level is then 2, 1 or 0
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_GROWING_COUNTS = const(0)
_GROWING_LOW = const(1)
_GROWING_BITS = const(2)
_GROWING_LEVEL = const(3)
_GROWING_BEYOND = const(4)
_GROWING_LEAST = const(5)
_GROWING_MOST = const(6)
# range_growth.py
_G_SEEN = const(0)
_MOST_BITS = const(30)
# (end)

_EARLY = const(16)  # samples at the beginning
_OTHERS = const(3)  # samples before the first that may be an outlier at once
_SPOILS = const(6)  # log2 of how much farther away an outlier is, at least
_UNITS = const(512)  # how far away it is, at least: a few adjacent values are no evidence
_LEAST_ODD = const(1)
_MOST_ODD = const(2)
_WAITS = const(16)
_ANEW = const(252)  # the level at which the range has to begin anew
_GROWS = const(255)  # the highest level at which it has to grow


@micropython.viper
def note_early(t, f: int, v: int):
    """Note one of the first 16 values of a feature: its range may grow, wait or begin anew."""
    address = ptr32(t)
    least = ptr32(address[_GROWING_LEAST])
    most = ptr32(address[_GROWING_MOST])
    level = ptr8(address[_GROWING_LEVEL])
    beyond = ptr32(address[_GROWING_BEYOND])
    seen = ptr32(address[_GROWING_COUNTS])[_G_SEEN]
    low = ptr32(address[_GROWING_LOW])[f]
    outside = int(v < low or v - low >= 1 << ptr8(address[_GROWING_BITS])[f])
    near = int(0 - _UNITS < v - low < _UNITS)
    if outside and seen >= _OTHERS and not near and int(is_far(t, f, v, _SPOILS)):
        if level[f] != _WAITS or int(v < low) != int(beyond[f] < low):
            level[f] = _WAITS
            beyond[f] = v
        if v == beyond[f]:
            return
        if int(v < beyond[f]) == int(v < low):
            v = beyond[f]  # the nearer one
    odd = level[f] if level[f] <= _MOST_ODD else 0
    sign = 0 - 1 if odd == _MOST_ODD else 1
    end = most[f] if odd == _MOST_ODD else least[f]  # the value that may be wrong
    away = (v - end) * sign  # +-2**30, as all distances of raw values
    if seen == _OTHERS - 1:
        beyond[f] = most[f] if v > most[f] else v if v > least[f] else least[f]
    elif odd == 0:
        if outside:
            beyond[f] = v
    elif away <= 0:
        odd = 0
    elif away < (beyond[f] - end) * sign:
        beyond[f] = v
    if v < least[f]:
        least[f] = v
    if v > most[f]:
        most[f] = v
    length = most[f] - least[f]
    away = (beyond[f] - end) * sign
    if seen == _OTHERS - 1:
        odd = _LEAST_ODD if beyond[f] - least[f] > most[f] - beyond[f] else _MOST_ODD
    elif odd and away >= _UNITS and 0 < length - away <= away >> _SPOILS:
        level[f] = _ANEW
        return
    if seen == _EARLY - 1:  # nothing is watched any more
        odd = 0
    if outside:
        level[f] = _GROWS - odd
    elif level[f] != _WAITS:
        level[f] = odd


@micropython.viper
def is_far(t, f: int, v: int, doublings: int) -> int:
    """Return whether a range of more than one value would have to double that often to hold v."""
    address = ptr32(t)
    bits = ptr8(address[_GROWING_BITS])[f] + doublings
    if bits == doublings or bits >= _MOST_BITS:
        return 0
    away = v - ptr32(address[_GROWING_LOW])[f]
    return int(away >= 1 << bits or away < 0 - (1 << bits))  # <= 2**29

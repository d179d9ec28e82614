"""Doubt: whether a model has become less sure than it usually is. It needs no label.

A cumulative sum test (Page, Continuous inspection schemes, Biometrika 1954) on the margins of all
samples. Each adds how far below their mean it is, less a quarter of their mean deviation, and a
sum below 0 is 0. Something may have changed where the sum passes 60 mean deviations. Mean and
deviation are those of the last 1024 samples or so.

The words, array('i'), are in 1/256 of 1/255 of all votes, where nothing else is said.
"""

import micropython
from micropython import const

_SUM = const(0)
_MEAN = const(1)  # times 1024
_DEVIATION = const(2)  # times 1024
_SILENT = const(3)  # samples until it may doubt again
_WORDS = const(4)
DOUBT_WORDS = _WORDS

_MEMORY = const(10)  # 2**10 samples
_PAUSE = const(1000)  # samples between two doubts, at least
_ENOUGH_DOUBT = const(60)  # mean deviations
_LARGEST = const(67108864)  # 2**26, above any mean


@micropython.viper
def doubts(t, place: int, margin: int) -> int:
    """Note the margin of one sample more, 0..2**24; 1 if something may have changed, else 0.

    The words' address stands at that place of the table t.
    """
    words = ptr32(ptr32(t)[place])
    mean = words[_MEAN] >> _MEMORY
    deviation = words[_DEVIATION] >> _MEMORY
    above = (margin >> 8) - mean  # -2**16..2**16
    far = above if above > 0 else -above
    words[_MEAN] = words[_MEAN] + above
    words[_DEVIATION] = words[_DEVIATION] + far - deviation
    least = deviation if deviation > 256 else 256
    change = words[_SUM] - above - (least >> 2)
    words[_SUM] = change if change > 0 else 0
    if words[_SILENT]:
        words[_SILENT] = words[_SILENT] - 1
    if change <= _ENOUGH_DOUBT * least:  # < 2**23
        return 0
    words[_SUM] = 0
    if words[_SILENT]:
        return 0
    words[_SILENT] = _PAUSE
    return 1


def has_doubted(words):
    """Whether it has doubted within the last 1000 samples."""
    return words[_SILENT] > 0


def doubt_is_sound(words):
    """Whether a state that was read can be used."""
    return (
        min(words) >= 0
        and words[_SUM] <= _LARGEST
        and max(words[_MEAN], words[_DEVIATION]) <= _LARGEST
        and words[_SILENT] <= _PAUSE
    )

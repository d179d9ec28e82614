"""Detects when a model becomes less certain than usual; needs no labels.

A cumulative sum test (Page, Continuous inspection schemes, Biometrika 1954) on the margins of all
samples. Each margin adds its distance below their mean, minus a quarter of their mean deviation,
and a sum below 0 is set to 0. Drift is suspected when the sum passes 60 mean deviations. Mean and
deviation are those of the last 1,024 samples or so, of all while there are fewer.

The words, array('i'), are in 1/256 of 1/255 of all votes, unless stated otherwise.
"""

import micropython
from micropython import const

_SUM = const(0)
_MEAN = const(1)  # times 1024
_DEVIATION = const(2)  # times 1024
_SILENT = const(3)  # samples until drift may be suspected again
_WORDS = const(4)
UNCERTAINTY_WORDS = _WORDS

_MEMORY = const(10)  # 2**10 samples
_PAUSE = const(1000)  # samples between two suspicions, at least
_MOST_DEVIATIONS = const(60)  # mean deviations
_LARGEST = const(67108864)  # 2**26, above any mean


@micropython.viper
def has_risen(t, place: int, margin: int, seen: int) -> int:
    """Note the margin of one more sample, 0..2**24; 1 if drift is suspected, else 0.

    The words' address is at that place of the table t; seen is how many samples there were before.
    """
    words = ptr32(ptr32(t)[place])
    mean = words[_MEAN] >> _MEMORY
    deviation = words[_DEVIATION] >> _MEMORY
    above = (margin >> 8) - mean  # -2**16..2**16
    far = above if above > 0 else -above
    speed = 0
    while speed < _MEMORY and not seen >> (_MEMORY - speed):
        speed += 1
    words[_MEAN] = words[_MEAN] + (above << speed)
    words[_DEVIATION] = words[_DEVIATION] + (far - deviation << speed)
    least = deviation if deviation > 256 else 256
    change = words[_SUM] - above - (least >> 2)
    words[_SUM] = change if change > 0 else 0
    if words[_SILENT]:
        words[_SILENT] = words[_SILENT] - 1
    if change <= _MOST_DEVIATIONS * least:  # < 2**23
        return 0
    words[_SUM] = 0
    if words[_SILENT]:
        return 0
    words[_SILENT] = _PAUSE
    return 1


def was_suspected(words):
    """Whether drift was suspected within the last 1000 samples."""
    return words[_SILENT] > 0


def uncertainty_is_sound(words):
    """Whether a loaded state can be used."""
    return (
        min(words) >= 0
        and words[_SUM] <= _LARGEST
        and max(words[_MEAN], words[_DEVIATION]) <= _LARGEST
        and words[_SILENT] <= _PAUSE
    )

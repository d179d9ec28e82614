"""The novelty score of a sample, from two signals, and how often known classes reach it by chance.

Each signal is standardised by its mean and mean deviation over labelled samples: the height, see
labelled_memory.py, and the learner's uncertainty, which counts half. The limit moves so that two
in five of the labelled samples pass it, and `close` so that one in `period` of them counts as
novel, unless it reaches an end of its range before. One in `period` has a score above `far`. The
words are those of novelty_detection.py.
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_NOVELTY_WORDS = const(0)
# novelty_detection.py
_N_HELD = const(2)
_RING_HELD = const(8)
_N_CLOSE = const(11)
_N_LIMIT = const(12)
_N_SEEN = const(13)
_N_HEIGHT = const(14)
_N_UNCERTAINTY = const(16)
_N_FAR = const(18)
_N_RISE = const(19)
_N_WINDOW = const(20)
_N_FAR_FALL = const(27)
# (end)

_FALL = const(1966)  # 3/100 in Q16
_CLOSEST = const(32768)
_LOOSEST = const(131071)
_LEAST_HEIGHTS = const(1638)  # 1/20 octave; a height has 2**15 an octave
_LEAST_UNCERTAINTIES = const(20972)  # 1/50
_ABOVE = const(38)  # steps of the limit, Q8: 3/5 of 1/4, and 2/5
_BELOW = const(26)
_MOST_NOVEL = const(32767)
_FAR_RISE = const(262144)  # a quarter
_FARTHEST_OFF = const(268435456)  # 2**28, above any novelty score
_MEMORY = const(256)
_HELD = const(16)  # samples in the ring, before which `close` stays


@micropython.viper
def novelty_of(t, height: int, uncertainty: int) -> int:
    """The novelty score in mean deviations, Q8, from the height and uncertainty, Q20."""
    score = int(above(t, _N_HEIGHT, height, _LEAST_HEIGHTS))
    return score + (int(above(t, _N_UNCERTAINTY, uncertainty, _LEAST_UNCERTAINTIES)) >> 1)


@micropython.viper
def above(t, mean: int, value: int, least: int) -> int:
    """How far a value is above the mean of words[mean], in mean deviations, Q8."""
    words = ptr32(ptr32(t)[_NOVELTY_WORDS])
    spread = words[mean + 1]
    if spread < least:
        spread = least
    far = value - words[mean]  # -2**20..2**20
    if far < 0:
        return 0 - ((0 - far) << 8) // spread
    return (far << 8) // spread  # <= 2**28 // 20972, or 2**26 // 1638


@micropython.viper
def learn_mean(t, mean: int, value: int, seen: int):
    """Update words[mean] and the mean deviation after it with one more sample."""
    words = ptr32(ptr32(t)[_NOVELTY_WORDS])
    far = value - words[mean]
    size = far if far > 0 else 0 - far
    part = size // seen
    words[mean] = words[mean] + (part if far > 0 else 0 - part)
    spread = words[mean + 1]
    if size > spread:
        words[mean + 1] = spread + (size - spread) // seen
    else:
        words[mean + 1] = spread - (spread - size) // seen


@micropython.viper
def adjust(t, height: int, uncertainty: int, score: int, new: int):
    """Adjust the limit and `close` with a sample of a known class."""
    words = ptr32(ptr32(t)[_NOVELTY_WORDS])
    seen = words[_N_SEEN]
    if seen < _MEMORY:
        seen += 1
        words[_N_SEEN] = seen
    learn_mean(t, _N_HEIGHT, height, seen)
    learn_mean(t, _N_UNCERTAINTY, uncertainty, seen)
    if words[_N_HELD] << 2 < words[_N_WINDOW]:
        return
    limit = words[_N_LIMIT] + (_ABOVE if score > words[_N_LIMIT] else 0 - _BELOW)
    if limit >= -_MOST_NOVEL and limit <= _MOST_NOVEL:
        words[_N_LIMIT] = limit
    far = words[_N_FAR]
    if seen < _MEMORY:
        far = score << 12 if score << 12 > far else far
    else:
        far += (_FAR_RISE if score << 12 > far else 0) - words[_N_FAR_FALL]
    if far >= -_FARTHEST_OFF and far <= _FARTHEST_OFF:
        words[_N_FAR] = far
    if words[_RING_HELD] < _HELD:
        return
    close = words[_N_CLOSE] + words[_N_RISE] - (_FALL if new else 0)
    if close < _CLOSEST:
        close = _CLOSEST
    words[_N_CLOSE] = close if close < _LOOSEST else _LOOSEST

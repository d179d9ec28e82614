"""The rows of a forecaster: the features of a sample, and the samples that wait for their target.

Buffer "forecaster.words", 'i': the integers below. The other buffers are in forecaster.py.
"""

import micropython
from micropython import const

_F_COLUMNS = const(0)
_F_COLUMN = const(1)  # the place of the target among the columns
_F_HORIZON = const(2)
_F_LAGS = const(3)
_F_KEPT = const(4)  # targets in the ring
_F_HEAD = const(5)  # the place of the last target
_F_AT = const(6)  # the place of the sample that came `horizon` before
_F_HELD = const(7)  # samples that wait
_F_TAKEN = const(8)  # samples so far, which wraps around at 2**30
_F_PREDICTION = const(9)  # the last prediction
_F_HALF = const(10)  # half the width of its interval, _NONE without one
_F_OUTCOME = const(11)  # of the last target: 0 not known, 1 inside its interval, 2 outside
_F_WORDS = const(12)


@micropython.viper
def arrange(raw: ptr32, at: int, words: ptr32, row: ptr32, recent: ptr32):
    """Make the features of the sample at raw[at:], whose target is in the ring already."""
    k = 0
    for c in range(words[_F_COLUMNS]):
        if c != words[_F_COLUMN]:
            row[k] = raw[at + c]
            k += 1
    place = words[_F_HEAD]
    for _ in range(words[_F_LAGS]):
        row[k] = recent[place]
        k += 1
        place = place - 1 if place else words[_F_KEPT] - 1


@micropython.viper
def keep(codes: ptr16, words: ptr32, rows: ptr16, features: int):
    """Let a sample wait for its target, in the place of the oldest one."""
    at = words[_F_AT] * features
    for f in range(features):
        rows[at + f] = codes[f]

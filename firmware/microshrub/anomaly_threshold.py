"""The threshold of an anomaly score: its first value, and how it follows the allowed rate.

It begins from scores that count as usual: all scores while a window fills that follows the
samples, and the second half of the samples of normal operation. The highest of n of them is
passed about once in n samples. If only one alarm in more samples than that is allowed, the tail is
assumed to be exponential, as it is for many scores: the threshold is as far above the mean as the
highest, times

    log(5/4 period) / log(n)

but at most 24 above the highest, which may be an outlier. The quarter is there as neighbours in
time are alike: n of them count for fewer. See Siffer, Fouque, Termier, Largouet, Anomaly Detection
in Streams with Extreme Value Theory, KDD 2017.

With an alarm the threshold rises by 8; with every sample it falls by 8 / period: the update of
Gibbs, Candes, Adaptive Conformal Inference Under Distribution Shift, NeurIPS 2021. It rises by 16
instead while there were more alarms than one in a period; up to four alarms that did not come are
credited. So, whatever the stream does, there is at most one alarm in `period` samples, plus 17.

The words are those of anomaly.py. Heights are Q14 of an octave, the threshold has 10 more bits.
"""

import micropython
from micropython import const

from .fixed import log2

# From elsewhere, written by `make constants`:
# places of buffers
_ANOMALY_WORDS = const(0)
# anomaly.py
_SCORE = const(0)
_ANOMALOUS = const(1)
_ALARMS = const(2)
_LIMIT = const(3)
_DEBT = const(4)
_A_HELD = const(5)
_PERIOD = const(7)
_A_FALL = const(8)
_A_PART = const(9)
_A_WINDOW = const(10)
_A_NORMAL = const(13)
_A_PAUSE = const(14)
_TAKEN = const(15)
_UNTIL = const(16)
_QUIET = const(18)
_OVER = const(19)
_AGE = const(20)
_USUAL_HEIGHT = const(21)
_COUNTED = const(22)
# (end)

_RISE = const(8388608)  # 8 of the score: 8 * 2**20
_HIGHEST = const(285212672)  # 256 * 2**20 + 2 * _RISE: above any limit
_BEYOND = const(268435456)  # 2**28: 1025 less, and the highest score, 262143 << 10, passes it
_MOST = const(536870912)  # 2**29: alarms stop there; and the longest period
_CREDIT = const(4)  # alarms that did not come, and may come later
_MOST_OVER = const(64)  # above 17 plus one in a period, which cannot be passed
_MOST_TIMES = const(1024)  # four times as far, Q8
_FARTHER = const(25165824)  # 24 of the score


@micropython.viper
def judge(t, height: int):
    """Note whether a height, 0..262143, is above the threshold; count the alarm if one begins."""
    words = ptr32(ptr32(t)[_ANOMALY_WORDS])
    words[_SCORE] = height >> 10
    height = height << 10  # < 2**28
    left = words[_UNTIL] - words[_TAKEN]  # samples of normal operation still to come
    if left > 0 or words[_A_HELD] < words[_A_WINDOW]:
        most = words[_A_NORMAL] if words[_A_NORMAL] else words[_A_WINDOW]
        # with few samples to compare with, scores are high; in normal operation they mean nothing
        if 2 * left <= most:
            take_usual(t, height)
        return
    if words[_COUNTED]:
        words[_LIMIT] = int(extrapolated(t))
        words[_COUNTED] = 0
    limit = words[_LIMIT]
    low = limit  # below which an alarm ends
    if words[_UNTIL] and words[_ANOMALOUS]:
        low -= 3 * _RISE
    quiet = words[_QUIET]
    words[_ANOMALOUS] = int(height > low)
    if words[_ANOMALOUS] and quiet == words[_A_PAUSE]:
        over = words[_OVER]
        limit += 2 * _RISE if over > 0 else _RISE
        if over < _MOST_OVER:
            words[_OVER] = over + 1
        if words[_ALARMS] < _MOST:
            words[_ALARMS] = words[_ALARMS] + 1
    words[_QUIET] = 0 if words[_ANOMALOUS] else quiet + int(quiet < words[_A_PAUSE])
    age = words[_AGE] + 1
    if age >= words[_PERIOD]:
        age = 0
        if words[_OVER] > 0 - _CREDIT:
            words[_OVER] = words[_OVER] - 1
    words[_AGE] = age
    limit -= words[_A_FALL]
    debt = words[_DEBT] + words[_A_PART]  # < 2 * period <= 2**30
    if debt >= words[_PERIOD]:
        debt -= words[_PERIOD]
        limit -= 1
    words[_DEBT] = debt
    words[_LIMIT] = limit if limit > 0 else 0


@micropython.viper
def take_usual(t, height: int):
    """Take a usual height, < 2**28, into those from which the threshold begins."""
    words = ptr32(ptr32(t)[_ANOMALY_WORDS])
    counted = words[_COUNTED]
    if counted < _MOST:
        counted += 1
        words[_COUNTED] = counted
    mean = words[_USUAL_HEIGHT]
    words[_USUAL_HEIGHT] = mean + (height - mean) // counted
    if height > words[_LIMIT]:
        words[_LIMIT] = height


@micropython.viper
def extrapolated(t) -> int:
    """The first threshold, from the mean and the highest of the usual heights."""
    words = ptr32(ptr32(t)[_ANOMALY_WORDS])
    highest = words[_LIMIT]
    passed = _BEYOND  # with a number of more digits, the code could not be frozen
    passed -= 1025
    if words[_COUNTED] < 2 or highest >= passed:
        return highest
    period = words[_PERIOD]
    times = (int(log2(period + (period >> 2))) << 8) // int(log2(words[_COUNTED]))
    if times <= 256:
        return highest
    if times > _MOST_TIMES:
        times = _MOST_TIMES
    limit = highest + ((highest - words[_USUAL_HEIGHT]) >> 8) * (times - 256)  # < 2**28 + 2**30
    if limit > highest + _FARTHER:
        limit = highest + _FARTHER
    return limit if limit < passed else passed

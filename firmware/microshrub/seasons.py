"""Finds the season of a column: the period after which its recent values repeat best.

See naive_forecasts.py, whose buffers these are.
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_NAIVE_WORDS = const(0)
_NAIVE_OPINIONS = const(2)
# forecast_runs.py
_RAW_MAX = const(536870911)
# naive_forecasts.py
_O_HORIZON = const(0)
_O_KEPT = const(1)
_O_KNOWN = const(2)
_O_PERIOD = const(3)
_OF_EACH = const(4)
_O_TURN = const(29)
_TURN = const(68)
_PERIODS = const(340)
_STEADY = const(1024)
# (end)

_ENOUGH = const(128)  # comparisons that make a period known
_TURNS = const(5)  # each sample compares a fifth of the periods
_SEASON_FAR = const(2097151)  # differences are kept in 2**20ths of the range, up to here
_NOTHING = const(-536870912)  # a missing value


@micropython.viper
def scaling_bits(span: int) -> int:
    """By how many bits a difference goes up (or down, if negative) so that span takes 21."""
    bits = 20
    while span > 1:
        span >>= 1
        bits -= 1
    return bits


@micropython.viper
def compare(words: ptr32, away: ptr32, recent: ptr32, head: int, span: int):
    """Note a value, recent[head], and its distance from the value one period before, of each."""
    kept = words[_O_KEPT]
    known = words[_O_KNOWN]
    value = recent[head]
    if value == _NOTHING:
        return
    if known < kept + _STEADY:
        known += 1
        words[_O_KNOWN] = known
    horizon = words[_O_HORIZON]
    up = int(scaling_bits(span))
    down = 0
    if up < 0:
        down = 0 - up
        up = 0
    far = _SEASON_FAR >> up
    up += 8  # a difference, at most far, is below 2**29 then
    first = words[_O_TURN]  # of the periods whose turn it is
    last = first + _TURN
    words[_O_TURN] = last if last < _PERIODS else 0
    count = known - horizon - first  # samples since values that far apart could be compared
    judged = known - _ENOUGH if known > 2 * _ENOUGH else known >> 1
    judged -= horizon  # the longest period that was compared often enough, or a whole time through
    memory = 7  # the mean looks back over 2**7 comparisons, or over those there were
    place = head - horizon - first
    if place < 0:
        place += kept
    best = words[_O_PERIOD] - horizon
    least = away[best] if best >= 0 else 0
    for k in range(first, last):
        if count < 1:
            break
        mean = away[k]
        off = recent[place]
        if off != _NOTHING:
            off = value - off
            if off < 0:
                off = 0 - off
            off >>= down
            if off > far:
                off = far
            while memory and _TURNS << memory > count:
                memory -= 1
            mean += ((off << up) - mean + ((1 << memory) >> 1)) >> memory
            away[k] = mean
        if k <= judged and (best < 0 or mean < least):
            best = k
            least = mean
        place -= 1
        if place < 0:
            place = kept - 1
        count -= 1
    words[_O_PERIOD] = horizon + best if best >= 0 else 0


@micropython.viper
def ask_seasons(t, at: int, model: int, recent: ptr32, head: int):
    """Keep the forecasts model, season and shifted at opinions[_OF_EACH * at:]."""
    words = ptr32(ptr32(t)[_NAIVE_WORDS])
    opinions = ptr32(ptr32(t)[_NAIVE_OPINIONS])
    kept = words[_O_KEPT]
    last = recent[head]
    if last == _NOTHING:
        last = model
    season = last
    shifted = last
    period = words[_O_PERIOD]
    if period:
        place = head + words[_O_HORIZON] - period  # of the target's time, a period before
        if place < 0:
            place += kept
        if recent[place] != _NOTHING:
            season = recent[place]
            shifted = season
        place = head - period
        if place < 0:
            place += kept
        # missing as well as not yet known
        if recent[place] != _NOTHING:
            shifted = season + last - recent[place]  # within 3 * 2**29
            if shifted > _RAW_MAX:
                shifted = _RAW_MAX
            if shifted < 0 - _RAW_MAX:
                shifted = 0 - _RAW_MAX
    place = _OF_EACH * at
    opinions[place] = model
    opinions[place + 1] = season
    opinions[place + 2] = shifted

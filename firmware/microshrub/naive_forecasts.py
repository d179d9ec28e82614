"""Naive and seasonal forecasts, weighed against the forecast of a learner.

With a far horizon, a learner gets its targets late, and may be worse than the forecast of no
change. So there are eight forecasts of each target:

    model      the forecast of the learner
    last       the last value: nothing changes
    season     the value that came one period before the target
    shifted    the same, moved by how far the last value is from the one a period before it
    and the means of model and last, season and shifted, model and season, model and shifted

The period is the one, `horizon` to `horizon` + 339 samples, after which values repeated best
lately, with the least mean absolute difference. So nobody has to name a season of a day or a week.
Each sample compares a fifth of the periods.

Forecasts are kept until their target comes, so each is judged as it was made. The weight of a
forecast depends on its mean absolute error, over the last 1,024 targets and those of 16 horizons:
it is exp(-s * (error - the least) / the least) (Hedge: Freund, Schapire: A Decision-Theoretic
Generalization of On-Line Learning, Journal of Computer and System Sciences 1997). The errors
within one horizon are hardly more than one independent error. So s is the number of horizons so
far, at most 30, and with a horizon above 1 the errors of all forecasts but `last` are assumed to
be greater than so far, by 0.7 of themselves over the root of that number. And the weighted mean
has to earn trust: it is the forecast once the sum of its errors is less than that of `last` by the
errors of a quarter of a horizon. Until then, the forecast lies between the two, in proportion, and
it is `last` where the weighted mean was worse.

Buffers:

    naive.words     'i'  the integers below
    naive.away      'i'  [340] the mean difference of values one period apart, of each period
    naive.opinions  'i'  [4 * horizon] model, season, shifted and the weighted mean of all, of
                           each sample that waits
"""

import micropython
from micropython import const

from .buffers import Buffers, address_table
from .fixed import exp_decay, square_root
from .seasons import ask_seasons, compare, scaling_bits

# From elsewhere, written by `make constants`:
# places of buffers
_NAIVE_WORDS = const(0)
_NAIVE_OPINIONS = const(2)
# (end)

_O_HORIZON = const(0)
_O_KEPT = const(1)  # values in the ring that the forecaster keeps
_O_KNOWN = const(2)  # values so far, at most kept + _STEADY
_O_PERIOD = const(3)  # the season's; 0: none is known
_O_SEEN = const(4)  # targets by which forecasts were judged, at most _MEMORY and 16 horizons
_O_FORECASTS = const(5)  # the eight forecasts, raw,
_O_ERROR = const(13)  # their mean absolute errors, in 1/256,
_O_SHARE = const(21)  # and their weights, of 4096
_O_TURN = const(29)  # the first period, minus horizon, that is compared next
_O_SAVED = const(30)  # how much less the mean's errors were than last's, in 1/64, over the horizon
_O_WORDS = const(31)

_PERIODS = const(340)
_TURN = const(68)
_OPINIONS = const(8)
_LAST = const(7)
_OF_EACH = const(4)  # forecasts that are kept of each sample that waits,
_MEAN = const(3)  # and the place of the weighted mean among them

_MISSING = const(-536870912)
_RAW_MAX = const(536870911)  # 2**29 - 1
_STEADY = const(1024)  # from so many on, the mean difference looks back over 512
_MEMORY = const(1024)
_SHARPEST = const(480)  # 30 in 1/16
_WORSE = const(179)  # 0.7 in 1/256
_ERROR_MOST = const(1073741823)  # 2**30 - 1
_FAR = const(2097151)  # differences are kept in 2**20ths of the targets' range, up to here


@micropython.viper
def difference(a: int, b: int, bits: int) -> int:
    """How far a is from b, at most _FAR; a and b are within 2**30 of each other."""
    away = a - b
    if away < 0:
        away = 0 - away
    if bits <= 0:
        away >>= 0 - bits
    elif away > _FAR >> bits:
        return _FAR
    else:
        away <<= bits
    return away if away < _FAR else _FAR


@micropython.viper
def judge(t, at: int, last: int, target: int, span: int):
    """The errors of each forecast of the sample that waited at opinions[_OF_EACH * at:]."""
    fill(t, at, last)
    words = ptr32(ptr32(t)[_NAIVE_WORDS])
    bits = int(scaling_bits(span))
    if words[_O_SEEN] < _MEMORY + 16 * words[_O_HORIZON]:
        words[_O_SEEN] = words[_O_SEEN] + 1
    seen = words[_O_SEEN]
    for k in range(_OPINIONS):
        error = words[_O_ERROR + k]
        # |difference| < 2**21 * 2**8
        off = (int(difference(words[_O_FORECASTS + k], target, bits)) << 8) - error
        words[_O_ERROR + k] = error + (off + (seen >> 1)) // seen
    mean = ptr32(ptr32(t)[_NAIVE_OPINIONS])[_OF_EACH * at + _MEAN]
    saved = int(difference(words[_O_FORECASTS + _LAST], target, bits))
    saved -= int(difference(mean, target, bits))
    horizon = words[_O_HORIZON]
    # |saved| < 2**21; kept in 1/64, from a quarter of a horizon's loss to two horizons' gain
    saved = words[_O_SAVED] + ((saved << 6) + (horizon >> 1)) // horizon
    error = words[_O_ERROR + _LAST]  # < 2**29, in 1/256
    if saved > error >> 1:
        saved = error >> 1
    if saved < 0 - (error >> 4):
        saved = 0 - (error >> 4)
    words[_O_SAVED] = saved


@micropython.viper
def fill(t, at: int, last: int):
    """Write all forecasts of a sample; where the last value is missing, it is the model's."""
    words = ptr32(ptr32(t)[_NAIVE_WORDS])
    opinions = ptr32(ptr32(t)[_NAIVE_OPINIONS])
    place = _OF_EACH * at
    model = opinions[place]
    season = opinions[place + 1]
    shifted = opinions[place + 2]
    if last == _MISSING:
        last = model
    words[_O_FORECASTS] = model
    words[_O_FORECASTS + 1] = (model + last) >> 1
    words[_O_FORECASTS + 2] = season
    words[_O_FORECASTS + 3] = shifted
    words[_O_FORECASTS + 4] = (season + shifted) >> 1
    words[_O_FORECASTS + 5] = (model + season) >> 1
    words[_O_FORECASTS + 6] = (model + shifted) >> 1
    words[_O_FORECASTS + 7] = last


@micropython.viper
def foresee(t, at: int, last: int) -> int:
    """The forecast for the sample that waits at opinions[_OF_EACH * at:]."""
    fill(t, at, last)
    words = ptr32(ptr32(t)[_NAIVE_WORDS])
    mean = int(weighted_mean(t))
    if mean > _RAW_MAX:  # shares are rounded
        mean = _RAW_MAX
    if mean < 0 - _RAW_MAX:
        mean = 0 - _RAW_MAX
    ptr32(ptr32(t)[_NAIVE_OPINIONS])[_OF_EACH * at + _MEAN] = mean
    if words[_O_HORIZON] == 1:
        return mean
    last = words[_O_FORECASTS + _LAST]
    saved = words[_O_SAVED]
    error = words[_O_ERROR + _LAST]
    if saved <= 0:
        return last
    if saved >= error >> 4:  # 1/256 and 1/64
        return mean
    down = 0
    while error >> down > 65535:
        down += 1
    share = ((saved >> down) << 16) // (error >> down)  # < 2**12 * 2**16, <= 2**12
    away = mean - last
    down = 0
    while away >> down > 65535 or away >> down < 0 - 65535:
        down += 1
    return last + ((share * (away >> down) >> 12) << down)  # <= 2**12 * 2**16


@micropython.viper
def weighted_mean(t) -> int:
    """The mean of all forecasts of the sample, weighted by their errors."""
    words = ptr32(ptr32(t)[_NAIVE_WORDS])
    seen = words[_O_SEEN]
    if not seen:
        return words[_O_FORECASTS + _LAST]
    horizon = words[_O_HORIZON]
    worse = _WORSE * int(square_root((horizon - 1 << 16) // (seen + 1))) >> 8  # in 1/256
    if worse > 512:
        worse = 512
    sharp = 16 * seen // horizon
    if sharp > _SHARPEST:
        sharp = _SHARPEST
    best = _LAST
    least = words[_O_ERROR + _LAST]
    for k in range(_LAST):
        error = words[_O_ERROR + k]
        error += (error >> 8) * worse  # < 2**29 + 2**21 * 2**9
        if error > _ERROR_MOST:
            error = _ERROR_MOST
        words[_O_SHARE + k] = error
        if error < least:
            best = k
            least = error
    words[_O_SHARE + _LAST] = words[_O_ERROR + _LAST]
    least += 1
    down = 0
    while least >> down > 65535:
        down += 1
    total = 0
    most = 0  # the largest distance of a forecast from the best one
    for k in range(_OPINIONS):
        away = words[_O_SHARE + k] + 1 - least
        share = 0
        if away >> 2 < least:
            ratio = ((away >> down) << 12) // (least >> down)  # < 2**18 * 2**12, <= 2**15
            share = int(exp_decay(sharp * ratio))  # <= 480 * 2**15
        words[_O_SHARE + k] = share
        total += share
        away = words[_O_FORECASTS + k] - words[_O_FORECASTS + best]
        if away < 0:
            away = 0 - away
        if share and away > most:
            most = away
    down = 0
    while most >> down > 65535:
        down += 1
    mixed = 0
    for k in range(_OPINIONS):
        share = (words[_O_SHARE + k] << 12) // total  # 2**14 * 2**12
        words[_O_SHARE + k] = share
        if share:
            away = (words[_O_FORECASTS + k] - words[_O_FORECASTS + best]) >> down
            mixed += share * away  # |sum| <= 2**12 * 2**16
    return words[_O_FORECASTS + best] + (((mixed + 2048) >> 12) << down)


class NaiveForecasts(Buffers):
    """Weighs a learner's forecast, `horizon` samples ahead, against the last value and seasons.

    horizon  1..1000
    kept     values in the caller's ring, array('i'), at least ring_room(horizon)

    Values are raw integers within +-(2**29 - 1), or missing, which is -2**29. Allocates nothing.
    """

    def __init__(self, horizon, kept):
        self._horizon = horizon
        self._kept = kept
        self._allocate()

    def configuration(self):
        """Everything that the sizes of the buffers depend on."""
        return "NaiveForecasts horizon=%d kept=%d" % (self._horizon, self._kept)

    def _table(self):
        return [
            ("naive.words", "i", _O_WORDS),
            ("naive.away", "i", _PERIODS),
            ("naive.opinions", "i", _OF_EACH * self._horizon),
        ]

    def _allocate(self):
        Buffers._allocate(self)
        self._addresses = address_table(self._flat)

    _FIXED = (("naive.words", (_O_HORIZON, _O_KEPT)),)

    def _start(self):
        words = self._flat[0]
        words[_O_HORIZON] = self._horizon
        words[_O_KEPT] = self._kept

    def _is_sound(self):
        words, away, opinions = self._flat
        period = words[_O_PERIOD]
        return (
            0 <= words[_O_KNOWN] <= self._kept + _STEADY
            and 0 <= words[_O_SEEN] <= _MEMORY + 16 * self._horizon
            and words[_O_TURN] in range(0, _PERIODS, _TURN)
            and (period == 0 or self._horizon <= period < self._horizon + _PERIODS)
            and -(_FAR << 4) <= words[_O_SAVED] <= _FAR << 7
            and all([0 <= v <= _FAR << 8 for v in list(away) + list(words[_O_ERROR:_O_SHARE])])
            and all([abs(v) <= _RAW_MAX for v in opinions])
        )

    def note(self, recent, head, span):
        """Note a value, recent[head]; span is the width of the range of values."""
        compare(self._flat[0], self._flat[1], recent, head, span)

    def judge(self, at, last, target, span):
        """Judge the sample in place `at` by its target; `last` was the last value then."""
        judge(self._addresses, at, last, target, span)

    def foresee(self, at, model, recent, head):
        """The forecast, where the learner's is `model`; the sample waits in place `at`."""
        ask_seasons(self._addresses, at, model, recent, head)
        return foresee(self._addresses, at, recent[head])

    @property
    def period(self):
        """The season that was found, in samples; 0 before any can be known."""
        return self._flat[0][_O_PERIOD]


def ring_room(horizon):
    """The values that a ring needs for all seasons."""
    return 2 * horizon + _PERIODS

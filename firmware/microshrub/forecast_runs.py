"""ForecastRuns: a Forecaster over many rows in one kernel, with the same bits as take().

On a PC, only kernels are compiled, so a sample spends most of its time between the kernels of
take(). A board takes one sample at a time, so its program does not import this.

The kernels' `parts` are buffers, and the quantizer's and the naive forecasts' tables of addresses:

    0  quantizer         4  forecaster.row     8   naive.words
    1  target.range      5  forecaster.recent  9   naive.away
    2  errors.words      6  interval.state     10  forecaster.predicted
    3  forecaster.words  7  naive              11  forecaster.halves

forecaster.words takes the place of missing parts: of 6 without an interval, and of 7 to 11 without
naive forecasts.
"""

import micropython
from micropython import const

from .forecast_rows import arrange, keep
from .initial_ranges import limited
from .naive_forecasts import foresee
from .naive_forecasts import judge as judge_opinions
from .prediction_interval import follow
from .quantizer import encode_rows
from .seasons import ask_seasons, compare
from .target import decode, encode

# From elsewhere, written by `make constants`:
# forecast_rows.py
_F_COLUMNS = const(0)
_F_COLUMN = const(1)
_F_HORIZON = const(2)
_F_LAGS = const(3)
_F_KEPT = const(4)
_F_HEAD = const(5)
_F_AT = const(6)
_F_HELD = const(7)
_F_TAKEN = const(8)
_F_PREDICTION = const(9)
_F_HALF = const(10)
_F_OUTCOME = const(11)
# initial_ranges.py
_MISSING = const(-536870912)
# prediction_interval.py
_HALF = const(0)
# regression_metrics.py
_E_SCORED = const(0)
_E_HIGH = const(1)
_E_NOCHANGE_HIGH = const(3)
_E_INSIDE = const(5)
_E_BITS = const(29)
_E_FULL = const(536870912)
# target.py
_SPAN = const(1)
_LEAST_SEEN = const(4)
_GREATEST_SEEN = const(5)
_ROUNDED = const(7)
# (end)

_QUANTIZER = const(0)  # parts
_TARGET = const(1)
_ERRORS = const(2)
_OWN_WORDS = const(3)
_ROW = const(4)
_RECENT = const(5)
_INTERVAL = const(6)
_NAIVE = const(7)
_OPINION_WORDS = const(8)
_AWAY = const(9)
_PREDICTED = const(10)
_HALVES = const(11)

_TICKS = const(1073741823)  # 2**30 - 1
_RAW_MAX = const(536870911)  # 2**29 - 1


class ForecastRuns:
    """Takes many rows for a Forecaster at a time."""

    def __init__(self, forecaster):
        model, naive, interval = forecaster.model, forecaster.naive, forecaster.interval
        words, row, codes, recent, waiting, predicted, halves = forecaster._flat
        ahead = (words, words, words, words, words)
        if naive:
            ahead = (naive._addresses, naive._flat[0], naive._flat[1], predicted, halves)
        self._run = run_ahead if naive else run_now
        self._learn, self._predict, self._table = model._learn, model._predict, model._addresses
        self._codes, self._learned = codes, waiting if naive else codes
        self._certain = int(bool(interval))
        self._parts = (
            forecaster.quantizer._addresses,
            forecaster.target._flat[0],
            forecaster.metrics._flat[0],
            words,
            row,
            recent,
            interval._flat[0] if interval else words,
        ) + ahead

    @micropython.viper
    def take(self, raw, rows, predictions, halves):
        """Take rows of all columns, array('i'), one after the other. Allocates nothing.

        predictions and halves, array('i') of one item a row, get the forecaster's `prediction` and
        `half` after each row. Rows are not checked; a target out of range counts as the end of the
        range.
        """
        self._run(
            self._learn, self._predict, self._table, self._learned, self._codes, self._parts,
            self._certain, raw, rows, predictions, halves,
        )  # fmt: skip


@micropython.viper
def run_now(
    learn, predict, t, learned, codes, parts, certain: int, raw, rows: int, predictions, halves
):  # fmt: skip
    """Take rows whose target is predicted from their own columns, and learned at once."""
    words = ptr32(parts[_OWN_WORDS])
    recent = ptr32(parts[_RECENT])
    out = ptr32(predictions)
    half = ptr32(halves)
    for i in range(rows):
        y = int(begin(parts, raw, i * words[_F_COLUMNS]))
        code_row(parts, raw, i * words[_F_COLUMNS], codes)
        if y == _MISSING:
            say(parts, certain, int(predict(t, codes, 0)))
        else:
            say(parts, certain, int(learn(t, learned, 0, int(encode(parts[_TARGET], y)))))
            note(parts, y)
            last = recent[words[_F_HEAD]]
            recent[words[_F_HEAD]] = y
            judge(parts, certain, words[_F_PREDICTION], words[_F_HALF], y, last)
        out[i] = words[_F_PREDICTION]
        half[i] = words[_F_HALF]


@micropython.viper
def run_ahead(
    learn, predict, t, learned, codes, parts, certain: int, raw, rows: int, predictions, halves
):  # fmt: skip
    """Take rows whose target comes with a later row: samples wait for it, and are then learned."""
    words = ptr32(parts[_OWN_WORDS])
    out = ptr32(predictions)
    half = ptr32(halves)
    features = words[_F_COLUMNS] - 1 + words[_F_LAGS]
    for i in range(rows):
        y = int(begin(parts, raw, i * words[_F_COLUMNS]))
        if words[_F_HELD] == words[_F_HORIZON] and y != _MISSING:
            learn(t, learned, words[_F_AT] * features, int(note(parts, y)))
            judge_waiting(parts, certain, y)
        put(parts, y)
        code_row(parts, raw, i * words[_F_COLUMNS], codes)
        say(parts, certain, int(predict(t, codes, 0)))
        weigh(parts)
        keep(codes, parts[_OWN_WORDS], learned, features)
        wait(parts)
        out[i] = words[_F_PREDICTION]
        half[i] = words[_F_HALF]


@micropython.viper
def begin(parts, raw, at: int) -> int:
    """Count the sample at raw[at:]; returns its target."""
    words = ptr32(parts[_OWN_WORDS])
    words[_F_OUTCOME] = 0
    words[_F_TAKEN] = (words[_F_TAKEN] + 1) & _TICKS
    return int(limited(ptr32(raw)[at + words[_F_COLUMN]]))


@micropython.viper
def code_row(parts, raw, at: int, codes):
    """Make the features of the sample at raw[at:], and their codes."""
    arrange(raw, at, parts[_OWN_WORDS], parts[_ROW], parts[_RECENT])
    encode_rows(parts[_QUANTIZER], parts[_ROW], codes, 1)


@micropython.viper
def note(parts, y: int) -> int:
    """Note a target, as Target.learn(); returns its code."""
    unit = ptr32(parts[_TARGET])
    if y < unit[_LEAST_SEEN]:
        unit[_LEAST_SEEN] = y
    if y > unit[_GREATEST_SEEN]:
        unit[_GREATEST_SEEN] = y
    code = int(encode(parts[_TARGET], y))
    unit[_ROUNDED] = y - int(decode(parts[_TARGET], code))
    return code


@micropython.viper
def within(unit: ptr32, value: int) -> int:
    """The raw value next to this one within the targets seen, as Target.within()."""
    if unit[_LEAST_SEEN] > unit[_GREATEST_SEEN]:
        return value
    if value > unit[_GREATEST_SEEN]:
        return unit[_GREATEST_SEEN]
    return value if value > unit[_LEAST_SEEN] else unit[_LEAST_SEEN]


@micropython.viper
def say(parts, certain: int, code: int):
    """Keep the prediction of a code, and half the width of its interval."""
    words = ptr32(parts[_OWN_WORDS])
    value = int(decode(parts[_TARGET], code)) + ptr32(parts[_TARGET])[_ROUNDED]  # within 2**30
    words[_F_PREDICTION] = int(within(parts[_TARGET], value))
    words[_F_HALF] = ptr32(parts[_INTERVAL])[_HALF] if certain else -1


@micropython.viper
def judge_waiting(parts, certain: int, y: int):
    """Judge a sample that waited, as its target came; last is the target before it."""
    words = ptr32(parts[_OWN_WORDS])
    at = words[_F_AT]
    place = (words[_F_HEAD] + words[_F_KEPT] - words[_F_HORIZON] + 1) % words[_F_KEPT]
    last = ptr32(parts[_RECENT])[place]
    judge_opinions(parts[_NAIVE], at, last, y, ptr32(parts[_TARGET])[_SPAN])
    judge(parts, certain, ptr32(parts[_PREDICTED])[at], ptr32(parts[_HALVES])[at], y, last)


@micropython.viper
def judge(parts, certain: int, prediction: int, half: int, y: int, last: int):
    """Note the error of a prediction, if there is a last target to compare it with."""
    away = prediction - y  # within 2**30
    if away < 0:
        away = 0 - away
    inside = int(away <= half)
    if certain:
        follow(parts[_INTERVAL], away if away < _RAW_MAX else _RAW_MAX, half)
        ptr32(parts[_OWN_WORDS])[_F_OUTCOME] = 2 - inside
    if last != _MISSING:
        score(parts[_ERRORS], away, last - y, inside)


@micropython.viper
def score(errors, away: int, nothing: int, inside: int):
    """Add both errors to their sums, as RegressionMetrics.update(); nothing: the baseline's."""
    words = ptr32(errors)
    if words[_E_SCORED] == _E_FULL:
        words[_E_SCORED] = words[_E_SCORED] >> 1
        words[_E_INSIDE] = words[_E_INSIDE] >> 1
        halve(errors, _E_HIGH)
        halve(errors, _E_NOCHANGE_HIGH)
    words[_E_SCORED] = words[_E_SCORED] + 1
    words[_E_INSIDE] = words[_E_INSIDE] + inside
    add(errors, _E_HIGH, away)
    add(errors, _E_NOCHANGE_HIGH, nothing)


@micropython.viper
def halve(words: ptr32, high: int):
    """Halve a sum."""
    words[high + 1] = (words[high + 1] >> 1) + ((words[high] & 1) << (_E_BITS - 1))
    words[high] = words[high] >> 1


@micropython.viper
def add(words: ptr32, high: int, error: int):
    """Add the size of an error, within 2**30, to a sum."""
    if error < 0:
        error = 0 - error
    low = words[high + 1] + (error if error < _RAW_MAX else _RAW_MAX)  # < 2**30
    words[high] = words[high] + (low >> _E_BITS)
    words[high + 1] = low & _RAW_MAX


@micropython.viper
def put(parts, y: int):
    """Keep the target, and compare it with those of seasons before."""
    words = ptr32(parts[_OWN_WORDS])
    head = words[_F_HEAD] + 1
    if head == words[_F_KEPT]:
        head = 0
    words[_F_HEAD] = head
    ptr32(parts[_RECENT])[head] = y
    span = ptr32(parts[_TARGET])[_SPAN]
    compare(parts[_OPINION_WORDS], parts[_AWAY], parts[_RECENT], head, span)


@micropython.viper
def weigh(parts):
    """Weigh the prediction against the naive forecasts."""
    words = ptr32(parts[_OWN_WORDS])
    at = words[_F_AT]
    head = words[_F_HEAD]
    ask_seasons(parts[_NAIVE], at, words[_F_PREDICTION], parts[_RECENT], head)
    prediction = int(foresee(parts[_NAIVE], at, ptr32(parts[_RECENT])[head]))
    words[_F_PREDICTION] = int(within(parts[_TARGET], prediction))


@micropython.viper
def wait(parts):
    """Keep the prediction of the sample until its target comes."""
    words = ptr32(parts[_OWN_WORDS])
    at = words[_F_AT]
    ptr32(parts[_PREDICTED])[at] = words[_F_PREDICTION]
    ptr32(parts[_HALVES])[at] = words[_F_HALF]
    words[_F_AT] = at + 1 if at + 1 < words[_F_HORIZON] else 0
    if words[_F_HELD] < words[_F_HORIZON]:
        words[_F_HELD] = words[_F_HELD] + 1

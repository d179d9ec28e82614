"""Forecaster: makes a regressor's samples from a sensor's values, and forecasts a column.

A sample has one value of each column, and one of the columns is the target. With a horizon of N,
the target N samples later is predicted: the features are the other columns and the target's last
values (lags), and a sample is learned when the one N later has come. The learner's forecast is
weighed against naive forecasts: the last value and seasons (naive_forecasts.py). With a horizon of
0, the target is predicted from the other columns of its own sample, and learned at once.

Buffers (F = features):

    forecaster.words      'i'  the integers below
    forecaster.row        'i'  [F] the features of the sample, raw
    forecaster.codes      'H'  [F] and as codes
    forecaster.recent     'i'  the last values of the target, a ring
    forecaster.rows       'H'  [horizon * F] the codes of the samples that wait for their target
    forecaster.predicted  'i'  [horizon] what was predicted for each of them
    forecaster.halves     'i'  [horizon] and half the width of its interval
"""

from micropython import const

from .buffers import Buffers
from .forecast_rows import arrange, keep
from .learner import ParameterError, same_items, whole
from .quantizer import RAW, Quantizer
from .regression_metrics import RegressionMetrics
from .target import Target

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
_F_WORDS = const(12)
# (end)

# Places of the buffers
_OWN_WORDS = const(0)
_ROW = const(1)
_CODES = const(2)
_RECENT = const(3)
_ROWS = const(4)
_PREDICTED = const(5)
_HALVES = const(6)

_MISSING = const(-536870912)  # the quantizer's
_RAW_MAX = const(536870911)
_TICKS = const(1073741823)  # 2**30 - 1
_NONE = const(-1)


class Forecaster(Buffers):
    """Predicts one column of its samples, and learns from later values of that column.

    model     a learner of numbers of `columns - 1` features, and `lags` more with a horizon
    columns   values in a sample, at most 257; at least 2, or 1 with a horizon
    column    0..columns - 1, the column that is predicted
    ends      the raw range of the target, a pair, or None: that of the samples observed
    horizon   0..1000 samples; 0: the target is predicted from its own sample
    lags      1..256 with a horizon: the target's last values that are features
    interval  50..99 percent of the targets that the interval should contain; None: no interval

    Raises ValueError with the allowed values. `parts` are those with a state.
    """

    def __init__(self, model, columns, column, ends=None, horizon=0, lags=1, interval=None):
        self.columns = whole("columns", columns, 1 if horizon else 2, 257)
        self.column = whole("column", column, 0, columns - 1)
        self.horizon = whole("horizon", horizon, 0, 1000)
        self.lags = whole("lags", lags, 1, 256) if horizon else 0
        features = columns - 1 + self.lags
        if model.features != features:
            raise ParameterError("the learner's features", features, model.features)
        late = max(horizon - 1, 0)
        if getattr(model, "late", late) != late:
            raise ParameterError("the learner's late", late, model.late)
        self.model = model
        self.quantizer = Quantizer(features)
        self.target = Target(ends)
        self.metrics = RegressionMetrics()
        self.interval = None
        if interval is not None:
            from .prediction_interval import Interval

            if type(interval) not in (int, float) or not 50 <= interval <= 99:
                raise ParameterError("interval", "a number of 50..99", interval)
            self.interval = Interval(interval / 100, late)
        self._kept = 1
        self.naive = None
        if horizon:
            from .naive_forecasts import NaiveForecasts, ring_room

            self._kept = max(lags, ring_room(horizon))
            self.naive = NaiveForecasts(horizon, self._kept)
        self._allocate()
        parts = self.quantizer, model, self.target, self.metrics, self, self.naive, self.interval
        self.parts = tuple([part for part in parts if part])

    def configuration(self):
        """All parameters but the learner, as one line of text."""
        return "Forecaster columns=%d column=%d horizon=%d lags=%d" % (
            self.columns, self.column, self.horizon, self.lags,
        )  # fmt: skip

    def _table(self):
        features, horizon = self.model.features, self.horizon
        return [
            ("forecaster.words", "i", _F_WORDS),
            ("forecaster.row", "i", features),
            ("forecaster.codes", "H", features),
            ("forecaster.recent", "i", self._kept),
            ("forecaster.rows", "H", horizon * features),
            ("forecaster.predicted", "i", horizon),
            ("forecaster.halves", "i", horizon),
        ]

    _FIXED = (("forecaster.words", range(_F_KEPT + 1)),)

    def _start(self):
        words, _, _, recent, _, _, _ = self._flat
        words[_F_COLUMNS], words[_F_COLUMN] = self.columns, self.column
        words[_F_HORIZON] = self.horizon
        words[_F_LAGS] = self.lags
        words[_F_KEPT] = len(recent)
        words[_F_HALF] = _NONE
        for k in range(len(recent)):
            recent[k] = _MISSING
        self._row = ()  # that was checked last

    def _is_sound(self):
        words, row, _, recent, _, predicted, halves = self._flat
        held, at = words[_F_HELD], words[_F_AT]
        if not 0 <= words[_F_HEAD] < words[_F_KEPT] or not 0 <= words[_F_TAKEN] <= _TICKS:
            return False
        if not 0 <= held <= self.horizon or (at != held if held < self.horizon else at < 0):
            return False
        if at >= max(self.horizon, 1) or not 0 <= words[_F_OUTCOME] <= 2:
            return False
        return (
            all([_MISSING <= v <= _RAW_MAX for v in list(row) + list(recent)])
            and all([_MISSING < v <= _RAW_MAX for v in [words[_F_PREDICTION]] + list(predicted)])
            and all([_NONE <= v <= _RAW_MAX for v in [words[_F_HALF]] + list(halves)])
        )

    def observe(self, values):
        """Widen the ranges to hold one more sample, array('i') of `columns`."""
        self._check(values)
        y = values[self.column]
        if not self.target.frozen and y != _MISSING:
            self.target.observe(y)
        self._arrange(values, 0, y)
        self.quantizer.observe(self._flat[_ROW])

    def freeze(self):
        """Fix the ranges, where lags have the target's, and begin anew."""
        self.target.freeze()
        row = self._flat[_ROW]
        for end in self.target.ends if not self.quantizer.frozen else ():
            for f in range(len(row)):
                row[f] = _MISSING if f < self.columns - 1 else end
            self.quantizer.observe(row)
        self.quantizer.freeze()
        self.reset()
        if self.naive:
            self.naive.reset()

    def take(self, values):
        """Learn from a sample, array('i') of `columns`, and predict.

        Returns the prediction, raw, within the targets seen. Any value may be MISSING. If the
        target's is, the sample that waited for it is not learned. Allocates nothing.
        """
        if values is not self._row or len(values) != self.columns:
            self._check(values)
            self._row = values
        return self.take_at(values, 0)

    def take_at(self, values, at):
        """Like take(), with the sample at values[at:], which is not checked.

        No function that it calls has over eleven words of state (device/link.py).
        """
        words = self._flat[_OWN_WORDS]
        y = values[at + self.column]
        words[_F_OUTCOME] = 0
        words[_F_TAKEN] = (words[_F_TAKEN] + 1) & _TICKS
        if self.naive:
            self._learn_waiting(y)
            self._arrange(values, at, y)
            self._foresee()
            self._wait()
        else:
            self._arrange(values, at, _MISSING)
            if y == _MISSING:
                self._predict()
            else:
                self._predict_and_learn(y)
        return words[_F_PREDICTION]

    def _learn_waiting(self, y):
        """Learn the sample that waited for this value of the target."""
        words = self._flat[_OWN_WORDS]
        if words[_F_HELD] < self.horizon or y == _MISSING:
            return
        code = self.target.learn(y)
        self._learn(self._flat[_ROWS], words[_F_AT], code)
        self._judge_waiting(words[_F_AT], y)

    def _judge_waiting(self, at, y):
        """Judge the prediction of a sample that waited; last is the target before it."""
        words = self._flat[_OWN_WORDS]
        last = (words[_F_HEAD] + words[_F_KEPT] - self.horizon + 1) % words[_F_KEPT]
        last = self._flat[_RECENT][last]
        self.naive.judge(at, last, y, self.target.span)  # type: ignore[union-attr]
        self._judge(self._flat[_PREDICTED][at], self._flat[_HALVES][at], y, last)

    def _learn(self, rows, at, code):
        """Learn the row of that number; returns the code that was predicted for it."""
        model = self.model
        return model._learn(model._addresses, rows, at * model.features, code)

    def _foresee(self):
        """Predict the sample, weighed against the naive forecasts."""
        words, recent = self._flat[_OWN_WORDS], self._flat[_RECENT]
        self.naive.note(recent, words[_F_HEAD], self.target.span)  # type: ignore[union-attr]
        self._predict()
        prediction = self.naive.foresee(  # type: ignore[union-attr]
            words[_F_AT], words[_F_PREDICTION], recent, words[_F_HEAD]
        )
        words[_F_PREDICTION] = self.target.within(prediction)

    def _predict(self):
        codes = self._flat[_CODES]
        self.quantizer.encode(self._flat[_ROW], codes)
        self._say(self.model._predict(self.model._addresses, codes, 0))

    def _say(self, code):
        """Keep the prediction of a code, and half the width of its interval."""
        words = self._flat[_OWN_WORDS]
        words[_F_PREDICTION] = self.target.predicted(code)
        words[_F_HALF] = self.interval.half if self.interval else _NONE

    def _wait(self):
        """Keep the sample until its target comes."""
        words = self._flat[_OWN_WORDS]
        at = words[_F_AT]
        keep(self._flat[_CODES], words, self._flat[_ROWS], self.model.features)
        self._flat[_PREDICTED][at] = words[_F_PREDICTION]
        self._flat[_HALVES][at] = words[_F_HALF]
        words[_F_AT] = at + 1 if at + 1 < self.horizon else 0
        if words[_F_HELD] < self.horizon:
            words[_F_HELD] += 1

    def _predict_and_learn(self, y):
        """Predict a sample whose target is learned at once."""
        codes = self._flat[_CODES]
        self.quantizer.encode(self._flat[_ROW], codes)
        code = self.target.code(y)
        self._say(self._learn(codes, 0, code))
        self.target.learn(y)
        self._judge_now(y)

    def _judge_now(self, y):
        """Judge the prediction of this sample. last is the target before."""
        words, recent = self._flat[_OWN_WORDS], self._flat[_RECENT]
        last = recent[words[_F_HEAD]]
        recent[words[_F_HEAD]] = y
        self._judge(words[_F_PREDICTION], words[_F_HALF], y, last)

    def _judge(self, prediction, half, y, last):
        """Note the error of a prediction, if there is a last target to compare it with."""
        if self.interval:
            self.interval.learn(prediction, y, half)
            self._flat[_OWN_WORDS][_F_OUTCOME] = 1 if abs(prediction - y) <= half else 2
        if last != _MISSING:
            half = abs(prediction - y) <= half  # whether it was inside: no word more of state
            self.metrics.update(prediction, y, last, half)

    def _arrange(self, values, at, y):
        """Make the features; y goes to the ring, if there are lags or samples that wait."""
        if self.horizon:
            self._keep(y)
        arrange(values, at, self._flat[_OWN_WORDS], self._flat[_ROW], self._flat[_RECENT])

    def _keep(self, y):
        words = self._flat[_OWN_WORDS]
        head = words[_F_HEAD] + 1
        words[_F_HEAD] = head if head < words[_F_KEPT] else 0
        self._flat[_RECENT][words[_F_HEAD]] = y

    def _check(self, values):
        if not same_items(values, RAW) or len(values) != self.columns:
            raise ValueError("values has to be array('i') of %d" % self.columns)

    @property
    def prediction(self):
        """The last prediction, raw."""
        return self._flat[_OWN_WORDS][_F_PREDICTION]

    @property
    def half(self):
        """Half the width of its interval, raw; -1 without one."""
        return self._flat[_OWN_WORDS][_F_HALF]

    @property
    def outcome(self):
        """Where the last sample's target was: 1 inside its interval, 2 outside, 0 not known."""
        return self._flat[_OWN_WORDS][_F_OUTCOME]

    @property
    def samples(self):
        """Samples so far, 0..2**30 - 1, where it wraps around."""
        return self._flat[_OWN_WORDS][_F_TAKEN]

    @property
    def waiting(self):
        """Samples that wait for their target."""
        return self._flat[_OWN_WORDS][_F_HELD]

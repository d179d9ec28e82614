"""Forecaster: what stands between the values of a sensor and a learner of numbers.

A sample has one value of each column, and one of the columns is the target. With a horizon of N,
the target N samples later is predicted: the features are the other columns and the target's last
values (lags), and a sample is learned when the one N later has come. What the learner says is
weighed against the last value and seasons (outlook.py). With a horizon of 0, the target is told
from the other columns of its own sample, and learned at once.

Buffers (F = features):

    forecaster.words      'i'  the integers below
    forecaster.row        'i'  [F] the features of the sample, raw
    forecaster.codes      'H'  [F] and as codes
    forecaster.recent     'i'  the last values of the target, a ring
    forecaster.rows       'H'  [horizon * F] the codes of the samples that wait for their target
    forecaster.predicted  'i'  [horizon] what was predicted for each of them
    forecaster.halves     'i'  [horizon] and half the width of its interval
"""

import micropython
from micropython import const

from .buffers import Buffers
from .learner import ParameterError, same_items, whole
from .number_metrics import NumberMetrics
from .quantizer import RAW, Quantizer
from .target import Target

_COLUMNS = const(0)
_COLUMN = const(1)  # the place of the target among the columns
_HORIZON = const(2)
_LAGS = const(3)
_KEPT = const(4)  # targets in the ring
_HEAD = const(5)  # the place of the last one
_AT = const(6)  # the place of the sample that came `horizon` before
_HELD = const(7)  # samples that wait
_TAKEN = const(8)  # samples so far, which wraps around at 2**30
_SAID = const(9)  # the last prediction
_HALF = const(10)  # half the width of its interval, _NONE without one
_OUTCOME = const(11)  # of the target that came last: 0 not known, 1 inside its interval, 2 outside
_WORDS = const(12)

_MISSING = const(-536870912)  # the quantizer's
_RAW_MAX = const(536870911)
_TICKS = const(1073741823)  # 2**30 - 1
_NONE = const(-1)


@micropython.viper
def arrange(raw: ptr32, at: int, words: ptr32, row: ptr32, recent: ptr32):
    """Make the features of the sample at raw[at:], whose target stands in the ring already."""
    k = 0
    for c in range(words[_COLUMNS]):
        if c != words[_COLUMN]:
            row[k] = raw[at + c]
            k += 1
    place = words[_HEAD]
    for _ in range(words[_LAGS]):
        row[k] = recent[place]
        k += 1
        place = place - 1 if place else words[_KEPT] - 1


@micropython.viper
def keep(codes: ptr16, words: ptr32, rows: ptr16, features: int):
    """Let a sample wait for its target, in the place of the oldest one."""
    at = words[_AT] * features
    for f in range(features):
        rows[at + f] = codes[f]


class Forecaster(Buffers):
    """Predicts one column of the samples that it is given, and learns it as time goes by.

    model     a learner of numbers of `columns - 1` features, and `lags` more with a horizon
    columns   values in a sample, at most 257; at least 2, or 1 with a horizon
    column    0..columns - 1, the one that is predicted
    ends      the raw range of the target, a pair, or None: that of the samples observed
    horizon   0..1000 samples; 0: the target is told from its own sample
    lags      1..256 with a horizon: the target's last values that are features
    interval  50..99 percent of the targets that the interval is to hold; None: there is none

    Raises ValueError, which says what is allowed. What has a state is in `parts`.
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
        self.metrics = NumberMetrics()
        self.interval = None
        if interval is not None:
            from .interval import Interval

            if type(interval) not in (int, float) or not 50 <= interval <= 99:
                raise ParameterError("interval", "a number of 50..99", interval)
            self.interval = Interval(interval / 100, late)
        self._kept = 1
        self.outlook = None
        if horizon:
            from .outlook import Outlook, ring_room

            self._kept = max(lags, ring_room(horizon))
            self.outlook = Outlook(horizon, self._kept)
        self._allocate()
        parts = self.quantizer, model, self.target, self.metrics, self, self.outlook, self.interval
        self.parts = tuple([part for part in parts if part])

    def configuration(self):
        """All but the learner, as one line of text."""
        return "Forecaster columns=%d column=%d horizon=%d lags=%d" % (
            self.columns, self.column, self.horizon, self.lags,
        )  # fmt: skip

    def _table(self):
        features, horizon = self.model.features, self.horizon
        return [
            ("forecaster.words", "i", _WORDS),
            ("forecaster.row", "i", features),
            ("forecaster.codes", "H", features),
            ("forecaster.recent", "i", self._kept),
            ("forecaster.rows", "H", horizon * features),
            ("forecaster.predicted", "i", horizon),
            ("forecaster.halves", "i", horizon),
        ]

    _FIXED = (("forecaster.words", range(_KEPT + 1)),)

    def _start(self):
        words, _, _, recent, _, _, _ = self._flat
        words[_COLUMNS], words[_COLUMN] = self.columns, self.column
        words[_HORIZON] = self.horizon
        words[_LAGS] = self.lags
        words[_KEPT] = len(recent)
        words[_HALF] = _NONE
        for k in range(len(recent)):
            recent[k] = _MISSING
        self._row = ()  # that was checked last

    def _is_sound(self):
        words, row, _, recent, _, predicted, halves = self._flat
        held, at = words[_HELD], words[_AT]
        if not 0 <= words[_HEAD] < words[_KEPT] or not 0 <= words[_TAKEN] <= _TICKS:
            return False
        if not 0 <= held <= self.horizon or (at != held if held < self.horizon else at < 0):
            return False
        if at >= max(self.horizon, 1) or not 0 <= words[_OUTCOME] <= 2:
            return False
        return (
            all([_MISSING <= v <= _RAW_MAX for v in list(row) + list(recent)])
            and all([_MISSING < v <= _RAW_MAX for v in [words[_SAID]] + list(predicted)])
            and all([_NONE <= v <= _RAW_MAX for v in [words[_HALF]] + list(halves)])
        )

    def observe(self, values):
        """Widen the ranges to hold one more sample, array('i') of `columns`."""
        self._check(values)
        y = values[self.column]
        if not self.target.frozen and y != _MISSING:
            self.target.observe(y)
        self._arrange(values, 0, y)
        self.quantizer.observe(self._flat[1])

    def freeze(self):
        """Fix the ranges, of which lags have the target's, and begin anew."""
        self.target.freeze()
        row = self._flat[1]
        for end in self.target.ends if not self.quantizer.frozen else ():
            for f in range(len(row)):
                row[f] = _MISSING if f < self.columns - 1 else end
            self.quantizer.observe(row)
        self.quantizer.freeze()
        self.reset()
        if self.outlook:
            self.outlook.reset()

    def take(self, values):
        """Learn what a sample, array('i') of `columns`, tells, and predict what it asks for.

        Returns the prediction, raw, within the targets seen. A value may be MISSING, also that of
        the target: then what waited for it is not learned. Allocates nothing.
        """
        if values is not self._row or len(values) != self.columns:
            self._check(values)
            self._row = values
        return self.take_at(values, 0)

    def take_at(self, values, at):
        """The same with the sample at values[at:], which is not looked at before."""
        words, _, _, recent, _, _, _ = self._flat
        y = values[at + self.column]
        words[_OUTCOME] = 0
        words[_TAKEN] = (words[_TAKEN] + 1) & _TICKS
        outlook = self.outlook
        if outlook:
            self._learn_waiting(y)
            self._arrange(values, at, y)
            outlook.note(recent, words[_HEAD], self.target.span)
            self._predict()
            said = outlook.foresee(words[_AT], words[_SAID], recent, words[_HEAD])
            words[_SAID] = self.target.within(said)
            self._wait()
        else:
            self._arrange(values, at, _MISSING)
            self._predict_and_learn(y)
        return words[_SAID]

    def _learn_waiting(self, y):
        """Learn the sample that waited for this value of the target."""
        words, _, _, recent, rows, predicted, halves = self._flat
        if words[_HELD] < self.horizon or y == _MISSING:
            return
        at, model = words[_AT], self.model
        model._learn(model._addresses, rows, at * model.features, self.target.learn(y))
        guess = recent[(words[_HEAD] + words[_KEPT] - self.horizon + 1) % words[_KEPT]]
        if self.outlook:
            self.outlook.judge(at, guess, y, self.target.span)
        self._judge(predicted[at], halves[at], y, guess)

    def _predict(self):
        _, row, codes, _, _, _, _ = self._flat
        self.quantizer.encode(row, codes)
        self._say(self.model._predict(self.model._addresses, codes, 0))

    def _say(self, code):
        """Keep what a code predicts, and how sure that is."""
        words = self._flat[0]
        words[_SAID] = self.target.predicted(code)
        words[_HALF] = self.interval.half if self.interval else _NONE

    def _wait(self):
        """Keep the sample until its target comes."""
        words, _, codes, _, rows, predicted, halves = self._flat
        at = words[_AT]
        keep(codes, words, rows, self.model.features)
        predicted[at] = words[_SAID]
        halves[at] = words[_HALF]
        words[_AT] = at + 1 if at + 1 < self.horizon else 0
        if words[_HELD] < self.horizon:
            words[_HELD] += 1

    def _predict_and_learn(self, y):
        """Predict a sample whose target, if it is known, is learned at once."""
        words, row, codes, recent, _, _, _ = self._flat
        if y == _MISSING:
            self._predict()
            return
        model, target = self.model, self.target
        self.quantizer.encode(row, codes)
        self._say(model._learn(model._addresses, codes, 0, target.code(y)))
        target.learn(y)
        self._judge(words[_SAID], words[_HALF], y, recent[words[_HEAD]])
        recent[words[_HEAD]] = y

    def _judge(self, said, half, y, guess):
        """Note how far a prediction was off, if a simple guess could have been made."""
        inside = abs(said - y) <= half
        if guess != _MISSING:
            self.metrics.update(said, y, guess, inside)
        if self.interval:
            self.interval.learn(said, y, half)
            self._flat[0][_OUTCOME] = 1 if inside else 2

    def _arrange(self, values, at, y):
        """Make the features; y goes to the ring, if there are lags or samples that wait."""
        words, row, _, recent, _, _, _ = self._flat
        if self.horizon:
            head = words[_HEAD] + 1
            words[_HEAD] = head if head < words[_KEPT] else 0
            recent[words[_HEAD]] = y
        arrange(values, at, words, row, recent)

    def _check(self, values):
        if not same_items(values, RAW) or len(values) != self.columns:
            raise ValueError("values has to be array('i') of %d" % self.columns)

    @property
    def said(self):
        """The last prediction, raw."""
        return self._flat[0][_SAID]

    @property
    def half(self):
        """Half the width of its interval, raw; -1 without one."""
        return self._flat[0][_HALF]

    @property
    def outcome(self):
        """Of the last sample's target: 1 inside its interval, 2 outside, 0 not known."""
        return self._flat[0][_OUTCOME]

    @property
    def samples(self):
        """Samples so far, 0..2**30 - 1, where it wraps around."""
        return self._flat[0][_TAKEN]

    @property
    def waiting(self):
        """Samples that wait for their target."""
        return self._flat[0][_HELD]

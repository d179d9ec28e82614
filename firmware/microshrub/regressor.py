"""The base class of the learners that predict numbers.

They learn and predict codes of 16 bits; Target (target.py) makes codes of raw values, and raw
values of codes.
"""

import micropython
from micropython import const

from .learner import CODES, Learner, check_row, same_items, whole

_MOST = const(65535)


@micropython.viper
def run_numbers(learn, t, rows, targets, predictions, count: int, features: int):
    """Learn rows one by one, and note the prediction for each."""
    y = ptr16(targets)
    out = ptr16(predictions)
    for i in range(count):
        out[i] = int(learn(t, rows, i * features, y[i]))


class Regressor(Learner):
    """The base class of the learners of numbers: a Learner without classes.

    Its kernels are `_predict(t, rows, at)` and `_learn(t, rows, at, target)`; both return the code
    predicted before learning. It lies within the codes of the targets learned so far (32767 before
    the first one).
    """

    _SHAPE = ("features",)

    def __init__(self, features, **parameters):
        self.features = whole("features", features, 1, 256)
        self._set_up(parameters)

    def learn(self, x, target):
        """Learn one sample; returns the code that was predicted before. Allocates nothing.

        x is array('H') of `features` codes, target a code of 0..65535. Wrong ones raise
        ValueError before anything changes.
        """
        if x is not self._row or len(x) != self.features:
            self._check(x)
        if type(target) is not int or not 0 <= target <= _MOST:
            whole("target", target, 0, _MOST)
        return self._learn(self._addresses, x, 0, target)

    def run(self, rows, targets, predictions):  # type: ignore[override]
        """Predict, then learn, one row after the other (prequential evaluation).

        rows is array('H') of len(targets) * features codes; targets and predictions are array('H')
        of codes, of one length. Allocates nothing.
        """
        count = len(targets)
        check_row(rows, count * self.features)
        for name, codes in (("targets", targets), ("predictions", predictions)):
            if not same_items(codes, CODES) or len(codes) != count:
                raise ValueError("%s has to be array('H') of one code a row" % name)
        run_numbers(self._learn, self._addresses, rows, targets, predictions, count, self.features)

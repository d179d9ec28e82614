"""Prequential errors of predicted numbers on the device, and those of the last known target.

Buffer "errors.words", 'i': the integers below. A sum may be above 2**29, so it is kept in two
words: 2**29 * high + low.
"""

from micropython import const

from .buffers import Buffers, table_bytes
from .learner import whole

_E_SCORED = const(0)  # predictions whose target is known, at most _E_FULL
_E_HIGH = const(1)  # sum of |prediction - target|
_E_LOW = const(2)
_E_NOCHANGE_HIGH = const(3)  # sum of |last - target|, last being the last known target
_E_NOCHANGE_LOW = const(4)
_E_INSIDE = const(5)  # targets that were inside their intervals
_WORDS = const(6)

_RAW_MAX = const(536870911)  # 2**29 - 1
_E_FULL = const(536870912)  # 2**29: all is halved there, which keeps the means
_E_BITS = const(29)


class RegressionMetrics(Buffers):
    """Sums of absolute errors, of predictions and of the baseline that nothing changes.

    Predictions and targets are raw integers within +-(2**29 - 1), in one unit; an error counts
    2**29 - 1 at most.
    """

    def __init__(self):
        self._allocate()

    @classmethod
    def nbytes(cls):
        """Bytes of the buffer."""
        return table_bytes(_TABLE)

    def configuration(self):
        """A text without parameters: there is nothing to choose."""
        return "RegressionMetrics"

    def _table(self):
        return _TABLE

    def _is_sound(self):
        words = self._flat[0]
        lows = (words[_E_LOW], words[_E_NOCHANGE_LOW])
        return min(words) >= 0 and max(words) <= _E_FULL and max(lows) <= _RAW_MAX

    def update(self, predicted, target, last, inside):
        """Note a prediction whose target is known now, and whether its interval held that.

        last is what would have been predicted if nothing changed. Allocates nothing.
        """
        _check(predicted)
        _check(target)
        _check(last)
        words = self._flat[0]
        if words[_E_SCORED] == _E_FULL:
            self._halve(words)
        words[_E_SCORED] += 1
        words[_E_INSIDE] += bool(inside)
        _add(words, _E_HIGH, predicted - target)
        _add(words, _E_NOCHANGE_HIGH, last - target)

    def _halve(self, words):
        for high in (_E_HIGH, _E_NOCHANGE_HIGH):
            words[high + 1] = (words[high + 1] >> 1) + ((words[high] & 1) << (_E_BITS - 1))
            words[high] >>= 1
        words[_E_SCORED] >>= 1
        words[_E_INSIDE] >>= 1

    def tell(self, words, at):
        """Copy scored, both sums (high, low) and inside to words[at:]; returns where they end."""
        for k in range(_WORDS):
            words[at + k] = min(self._flat[0][k], _RAW_MAX)
        return at + _WORDS

    @property
    def scored(self):
        """Predictions whose target is known; above 2**29 half of them, and so on."""
        return self._flat[0][_E_SCORED]

    @property
    def inside(self):
        """How many of these targets were inside the interval."""
        return self._flat[0][_E_INSIDE]

    @property
    def mae(self):
        """Mean absolute error, raw, a float."""
        return self._mean(_E_HIGH)

    @property
    def mae_nochange(self):
        """Mean absolute error of the last known target as a baseline, raw, a float."""
        return self._mean(_E_NOCHANGE_HIGH)

    def _mean(self, high):
        words = self._flat[0]
        return ((words[high] << _E_BITS) + words[high + 1]) / max(words[_E_SCORED], 1)


def _check(value):
    if type(value) is not int or not -_RAW_MAX <= value <= _RAW_MAX:
        whole("a number", value, -_RAW_MAX, _RAW_MAX)


def _add(words, high, error):
    """Add the size of an error to a sum, 2**29 - 1 at most."""
    low = words[high + 1] + min(abs(error), _RAW_MAX)  # < 2**30
    words[high] += low >> _E_BITS
    words[high + 1] = low & _RAW_MAX


_TABLE = [("errors.words", "i", _WORDS)]

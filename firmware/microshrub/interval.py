"""How far off a prediction may be: an interval around it that holds a stated share of the targets.

Its half width is an online quantile of the absolute errors, by stochastic gradient descent on the
quantile's (pinball) loss: a target outside widens it by share steps, one inside narrows it by
1 - share steps. Whatever the errors are, in the long run the part outside can only be 1 - share,
as in adaptive conformal inference (Gibbs, Candes: Adaptive Conformal Inference Under Distribution
Shift, NeurIPS 2021). A step is a sixteenth of the half width, and of the mean absolute error
lately at least, so the interval follows when errors grow or shrink; the first steps are longer.

Buffer "interval.state", 'i': the integers below.
"""

from micropython import const

from .buffers import Buffers, table_bytes
from .learner import number, whole

_HALF = const(0)  # half the width, raw
_PART = const(1)  # and 1/256 of that many
_MEAN = const(2)  # of the absolute errors lately, raw
_SEEN = const(3)  # errors so far, at most _MEMORY
_SHARE = const(4)  # 1/256
_WORDS = const(5)

_MEMORY = const(64)
_RAW_MAX = const(536870911)  # 2**29 - 1
_MOST_STEP = const(2097152)  # 2**21, so that 256 of it fit into 2**29


class Interval(Buffers):
    """The half width of an interval that holds `share` of the targets, 0.5 to 0.99.

    Predictions and targets are raw integers within +-(2**29 - 1), in one unit.
    """

    def __init__(self, share=0.9):
        self._share = number("share", share, "1/2..99/100", 256)
        self._allocate()

    @classmethod
    def nbytes(cls):
        """Bytes of the buffer."""
        return table_bytes(_TABLE)

    def configuration(self):
        """The share."""
        return "Interval share=%d/256" % self._share

    def _table(self):
        return _TABLE

    def _start(self):
        self._flat[0][_SHARE] = self._share

    _FIXED = (("interval.state", (_SHARE,)),)

    def _is_sound(self):
        state = self._flat[0]
        return (
            0 <= state[_HALF] <= _RAW_MAX
            and 0 <= state[_PART] < 256
            and 0 <= state[_MEAN] <= _RAW_MAX
            and 0 <= state[_SEEN] <= _MEMORY
        )

    @property
    def half(self):
        """Half the width: the interval is prediction - half to prediction + half."""
        return self._flat[0][_HALF]

    def learn(self, predicted, target):
        """Note what came of a prediction; returns whether it was inside. Allocates nothing."""
        _check("the prediction", predicted)
        _check("the target", target)
        state = self._flat[0]
        error = min(abs(predicted - target), _RAW_MAX)
        inside = error <= state[_HALF]
        if state[_SEEN] < _MEMORY:
            state[_SEEN] += 1
        state[_MEAN] += (error - state[_MEAN]) // state[_SEEN]
        shift = 0  # from a whole mean down to a sixteenth
        while shift < 4 and state[_SEEN] >> (shift + 3):
            shift += 1
        step = max(1, min(max(state[_MEAN] >> shift, state[_HALF] >> 4), _MOST_STEP))
        # at most 2**21 * 2**8, and 255 more
        part = state[_PART] + step * ((state[_SHARE] - 256) if inside else state[_SHARE])
        half = state[_HALF] + (part >> 8)
        state[_PART] = part & 255 if 0 <= half < _RAW_MAX else 0
        state[_HALF] = max(0, min(half, _RAW_MAX))
        return inside


def _check(name, value):
    if type(value) is not int or not -_RAW_MAX <= value <= _RAW_MAX:
        whole(name, value, -_RAW_MAX, _RAW_MAX)


_TABLE = [("interval.state", "i", _WORDS)]

"""Interval: an interval around a prediction that holds a chosen share of the targets.

Its half width is `level` times the mean absolute error of the last samples. The level follows the
outcome of the announced intervals, as in adaptive conformal inference: a target outside its
interval raises it by share steps, a target inside lowers it by 1 - share steps. So whatever the
errors are, in the long run the share of targets outside is 1 - share (Gibbs, Candes: Adaptive
Conformal Inference Under Distribution Shift, NeurIPS 2021). Steps are added to the level, and do
not multiply it: a target that comes `late` samples after its interval was announced brings the
same news as the `late` targets before it, and together they must not make the interval explode.
For the same reason, the later the targets come, the shorter are the steps, and the longer is the
mean.

Buffer "interval.state", 'i': the integers below.
"""

import micropython
from micropython import const

from .buffers import Buffers, table_bytes
from .fixed import log2
from .learner import number, whole

_HALF = const(0)  # half the width, raw
_LEVEL = const(1)  # half the width, in mean absolute errors, 1/2**20
_MEAN = const(2)  # of the absolute errors lately, raw
_PART = const(3)  # and 1/256 of that many
_SEEN = const(4)  # errors so far, at most _MEMORY
_SHARE = const(5)  # 1/256
_STEP = const(6)  # of the level, 1/2**20
_MEMORY = const(7)  # samples that the mean looks back over
_LATE = const(8)  # samples between a prediction and its target
_WORDS = const(9)

_RAW_MAX = const(536870911)  # 2**29 - 1
_LEAST = const(104858)  # of the level: a tenth
_MOST = const(67108864)  # and 64
_FIRST_STEP = const(1006633)  # 0.12 levels times 8, 1/2**20


@micropython.viper
def follow(state: ptr32, error: int, announced: int):
    """Note an absolute error, 0..2**29 - 1, and half the width that had been announced for it.

    The level does not follow the first widths: no error was known when they were announced.
    """
    if state[_SEEN] > state[_LATE]:
        share = state[_SHARE]
        if error <= announced:
            share -= 256
        level = state[_LEVEL] + ((state[_STEP] * share) >> 8)  # |product| < 2**17 * 2**8
        if level < _LEAST:
            level = _LEAST
        if level > _MOST:
            level = _MOST
        state[_LEVEL] = level
    seen = state[_SEEN]
    if seen < state[_MEMORY]:
        seen += 1
        state[_SEEN] = seen
    away = error - state[_MEAN]
    whole = away // seen
    part = state[_PART] + ((away - whole * seen) << 8) // seen  # rest < 2**14, so < 2**22
    state[_MEAN] = state[_MEAN] + whole + (part >> 8)
    state[_PART] = part & 255
    state[_HALF] = int(product(state[_MEAN], state[_PART], state[_LEVEL] >> 12))


@micropython.viper
def product(mean: int, part: int, level: int) -> int:
    """(mean + part / 256) * level / 256, at most 2**29 - 1; a level is below 2**15."""
    if mean < 256:
        return (((mean << 8) + part) * level) >> 16  # 2**16 * 2**14
    if mean < 65536:
        return (mean * level) >> 8  # 2**16 * 2**14
    half = (mean >> 14) * level  # 2**15 * 2**14
    return _RAW_MAX if half >= 8388608 else half << 6  # 2**23 * 2**6 = 2**29


class Interval(Buffers):
    """Half the width of an interval that contains `share` of the targets, 0.5 to 0.99.

    Predictions and targets are raw integers within +-(2**29 - 1), in one unit. late, 0..1000, is
    how many samples are predicted between a prediction and its target.
    """

    def __init__(self, share=0.9, late=0):
        self._share = number("share", share, "1/2..99/100", 256)
        self._late = whole("late", late, 0, 1000)
        self._allocate()

    @classmethod
    def nbytes(cls):
        """Bytes of the buffer."""
        return table_bytes(_TABLE)

    def configuration(self):
        """The share, and how late targets are."""
        return "Interval share=%d/256 late=%d" % (self._share, self._late)

    def _table(self):
        return _TABLE

    def _start(self):
        state = self._flat[0]
        state[_SHARE] = self._share
        state[_STEP] = _FIRST_STEP // (8 + self._late)
        state[_LATE] = self._late
        state[_MEMORY] = 256 + 8 * self._late
        # -ln(1 - share) mean errors hold that share of errors that are distributed exponentially
        state[_LEVEL] = ((8 << 14) - log2(256 - self._share)) * 44

    _FIXED = (("interval.state", (_SHARE, _STEP, _MEMORY, _LATE)),)

    def _is_sound(self):
        state = self._flat[0]
        return (
            0 <= state[_HALF] <= _RAW_MAX
            and _LEAST <= state[_LEVEL] <= _MOST
            and 0 <= state[_MEAN] <= _RAW_MAX
            and 0 <= state[_PART] < 256
            and 0 <= state[_SEEN] <= state[_MEMORY]
        )

    @property
    def half(self):
        """Half the width: the interval is prediction - half to prediction + half."""
        return self._flat[0][_HALF]

    def learn(self, predicted, target, announced=None):
        """Note a prediction and its target; returns whether that was inside. Allocates nothing.

        announced is the half width that came with the prediction; by default, the current one.
        """
        _check("the prediction", predicted)
        _check("the target", target)
        state = self._flat[0]
        error = min(abs(predicted - target), _RAW_MAX)
        half = state[_HALF] if announced is None else announced
        follow(state, error, half)
        return error <= half


def _check(name, value):
    if type(value) is not int or not -_RAW_MAX <= value <= _RAW_MAX:
        whole(name, value, -_RAW_MAX, _RAW_MAX)


_TABLE = [("interval.state", "i", _WORDS)]

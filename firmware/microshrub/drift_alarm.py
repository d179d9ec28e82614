"""A drift alarm on the stream of errors, Page-Hinkley or ADWIN, and the learner's response to it.

Page-Hinkley: Page, Continuous Inspection Schemes, Biometrika 41, 1954; on errors: Gama, Sebastiao,
Rodrigues, On Evaluating Stream Learning Algorithms, Machine Learning 90, 2013; fading as in River.
With e the error, 0 or 1, and m its mean so far, the sum S becomes S (1 - 1 / horizon) + e - m -
delta. There is drift when S exceeds its least value so far by more than the threshold; then all of
this starts over. adwin.py has ADWIN.
"""

import micropython
from micropython import const

from .buffers import Buffers, address_table, table_bytes
from .learner import Learner, ParameterError, choice, twelve_bits, whole

# From elsewhere, written by `make constants`:
# places of buffers
_DRIFT_WIDTH = const(1)
# (end)

LEVELS = ("none", "warning", "drift")

_DETECTORS = ("page_hinkley", "adwin")
_HOOKS = ("nothing", "reset", "forget")
_YES_OR_NO = (bool, int)

_LEVEL = const(0)  # of the last error: 0..2, see LEVELS
_DRIFTS = const(1)  # alarms so far
_SEEN = const(2)  # errors, or none, since the last alarm
_ERRORS = const(3)  # how many of them were errors
_SUM = const(4)  # S, Q16
_LOWEST = const(5)  # the least S since the last alarm, Q16
_THRESHOLD = const(6)  # Q16
_DELTA = const(7)  # Q16
_HORIZON = const(8)
_GRACE = const(9)
_WORDS = const(10)

_WARNING = const(1)
_DRIFT = const(2)
_FULL = const(536870912)  # 2**29: both counts are halved there
_HIGHEST = const(1073741823)  # above any S
_FARTHEST = const(1000000000)  # 15000 * 2**16 and a little


@micropython.viper
def page_hinkley(words: ptr32, wrong: int) -> int:
    """Take an error (1) or none (0); returns the level."""
    if words[_LEVEL] == _DRIFT:
        words[_SEEN] = 0
        words[_ERRORS] = 0
        words[_SUM] = 0
        words[_LOWEST] = _HIGHEST
    if words[_SEEN] == _FULL:
        words[_SEEN] = words[_SEEN] >> 1
        words[_ERRORS] = words[_ERRORS] >> 1
    seen = words[_SEEN] + 1
    errors = words[_ERRORS] + wrong
    words[_SEEN] = seen
    words[_ERRORS] = errors
    mean = 0  # errors / seen in Q16, bit by bit, as errors << 16 would not fit
    rest = errors
    for _ in range(16):
        rest = rest << 1  # < 2 * seen <= 2**30 + 2
        mean = mean << 1
        if rest >= seen:
            rest -= seen
            mean += 1
    if 2 * rest >= seen:
        mean += 1
    # |e - m - delta| <= 1.5 and horizon <= 10000, so |S| <= 15000 * 2**16 < 2**30
    horizon = words[_HORIZON]
    total = words[_SUM]
    total -= (total + (horizon >> 1)) // horizon
    total += (wrong << 16) - mean - words[_DELTA]
    words[_SUM] = total
    if total < words[_LOWEST]:
        words[_LOWEST] = total
    level = 0
    if seen >= words[_GRACE]:
        above = total - words[_LOWEST]  # < 2**31
        if above > words[_THRESHOLD]:
            level = _DRIFT
        elif above > words[_THRESHOLD] - (words[_THRESHOLD] >> 2):
            level = _WARNING
    words[_LEVEL] = level
    return level


class DriftAlarm(Buffers):
    """Watches whether predictions are wrong more often than before.

    detector   "page_hinkley" (a rise that adds up) or "adwin" (delta is 0.002; a check every 32
               samples)
    hook       what drift does to the learner: "nothing"; "reset": it starts over; "forget": old
               samples count less (Learner.forget)
    learner    the learner of the hook
    threshold  1..4096 excess errors that are drift; three quarters of them are a warning
    delta      0.0001..0.5, a rise of the error rate that does not matter, kept in 1/65536
    horizon    10..10000 samples after which Page-Hinkley's sum has faded; River's 1 / (1 - alpha)
    grace      1..32767 samples after a drift without an alarm

    The last four are for Page-Hinkley only. Levels are LEVELS: "none", "warning", "drift".
    """

    def __init__(
        self,
        detector="page_hinkley",
        hook="nothing",
        learner=None,
        threshold=50,
        delta=0.005,
        horizon=10000,
        grace=30,
    ):
        self.detector = choice("detector", detector, _DETECTORS)
        self.hook = choice("hook", hook, _HOOKS)
        if learner is not None and not isinstance(learner, Learner):
            raise ParameterError("learner", "the learner that is watched", learner)
        if hook != "nothing" and learner is None:
            raise ValueError("the hook %r needs to know the learner" % hook)
        self._learner = learner
        self.threshold = whole("threshold", threshold, 1, 4096)
        self.delta_q16 = _delta_q16(delta)
        self.horizon = whole("horizon", horizon, 10, 10000)
        self.grace = whole("grace", grace, 1, 32767)
        self._allocate()

    @classmethod
    def nbytes(cls, detector="page_hinkley"):
        """Bytes of the buffers."""
        return table_bytes(_table(choice("detector", detector, _DETECTORS)))

    _FIXED = (("alarm.words", range(_THRESHOLD, _GRACE + 1)),)

    def _is_sound(self):
        words = self._flat[0]
        if not 0 <= words[_LEVEL] <= _DRIFT or not 0 <= words[_DRIFTS] <= _FULL:
            return False
        if not 0 <= words[_ERRORS] <= words[_SEEN] <= _FULL or abs(words[_SUM]) > _FARTHEST:
            return False
        if not -_FARTHEST <= words[_LOWEST] <= _HIGHEST:
            return False
        if len(self._flat) == 1:
            return True
        from .adwin import windows_are_sound

        return windows_are_sound(self._flat[1:])

    def configuration(self):
        """All parameters but the learner, as one line of text."""
        return (
            "DriftAlarm detector=%s hook=%s threshold=%d delta=%d/65536 horizon=%d grace=%d"
        ) % (
            self.detector, self.hook, self.threshold, self.delta_q16, self.horizon, self.grace,
        )  # fmt: skip

    def _table(self):
        return _table(self.detector)

    def _start(self):
        words = self._flat[0]
        words[_LOWEST] = _HIGHEST
        words[_THRESHOLD] = self.threshold << 16  # <= 2**28
        words[_DELTA] = self.delta_q16
        words[_HORIZON] = self.horizon
        words[_GRACE] = self.grace
        self._addresses = address_table(self._flat)
        if self.detector == "adwin":
            from .adwin import clear_window, next_level

            self._adwin = next_level
            clear_window(self._addresses, _DRIFT_WIDTH, 0)

    def update(self, wrong):
        """Note whether a prediction was wrong; returns the level. Drift runs the hook.

        Allocates nothing, but "reset" may; "forget" of a ShrubEnsemble does not.
        """
        if not isinstance(wrong, _YES_OR_NO) or not 0 <= wrong <= 1:
            raise ValueError("wrong has to be True or False, not %r" % (wrong,))
        words = self._flat[0]
        if self.detector == "adwin":
            level = self._adwin(self._addresses, _DRIFT_WIDTH, words[_LEVEL], int(wrong))
            words[_LEVEL] = level
        else:
            level = page_hinkley(words, int(wrong))
        if level == _DRIFT:
            if words[_DRIFTS] < _FULL:
                words[_DRIFTS] += 1
            if self._learner and self.hook == "reset":
                self._learner.reset()
            elif self._learner and self.hook == "forget":
                self._learner.forget()
        return LEVELS[level]

    @property
    def level(self):
        """The level that the last update() returned; "none" at first."""
        return LEVELS[self._flat[0][_LEVEL]]

    @property
    def drifts(self):
        """Drifts so far, at most 2**29."""
        return self._flat[0][_DRIFTS]


def _delta_q16(delta):
    """The tolerated rise in 1/65536."""
    number = isinstance(delta, (int, float)) and not isinstance(delta, bool)
    if not number or not 1 / 10000 <= delta <= 1 / 2:
        raise ParameterError("delta", "a number of 0.0001..0.5", delta)
    whole_part, shift = twelve_bits(delta)
    return ((whole_part << 16) + (1 << shift >> 1)) >> shift


def _table(detector):
    table = [("alarm.words", "i", _WORDS)]
    if detector == "adwin":
        from .adwin import windows_table

        table += windows_table(1)
    return table

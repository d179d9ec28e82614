"""ThicketRegressor: different regressors, weighted by their recent errors.

The members are the last target known, the mean of the targets, a linear model, a linear model of
what changes since the last target, and shrubs. The first four, mixed, give an outline of each
target; half of the shrubs learn what the outline leaves (shrubs.py), which is all that a forecast
has left to learn, and the rest of many a target that no few trees could draw.

A member's share is exp(-50 * (error - the least) / the least), with the mean absolute errors of
the last 256 samples (Hedge: Freund, Schapire: A Decision-Theoretic Generalization of On-Line
Learning, Journal of Computer and System Sciences 1997).

The kernels' table t has three: that of the shrubs, that of the linear models, and its own:

    0  thicket.state    'i'  the integers below
    1  thicket.predictions     'i'  [members] what each member predicted
    2  thicket.error    'i'  [members] mean of |prediction - target|, in 1/64
    3  thicket.share    'i'  [members] of the last mixture, 4096 in all
    4  thicket.recent   'H'  [late + 1] the last targets, a ring
"""

import micropython
from micropython import const

from ..buffers import address_table, table_bytes
from ..fixed import exp_decay
from ..learner import ParameterError
from ..regressor import Regressor
from ..thicket.scaling import scale
from ..thicket.trees import descend
from .linear import LinearRegressor, add_up, step
from .linear import follow as follow_linear
from .shrubs import ShrubRegressor
from .shrubs import follow as follow_shrubs
from .weights import mix

# From elsewhere, written by `make constants`:
# places of buffers
_LINEAR_STATE = const(0)
_THICKET_STATE = const(0)
_THICKET_PREDICTIONS = const(1)
_THICKET_ERROR = const(2)
_GROVE_STATE = const(3)
_THICKET_SHARE = const(3)
_THICKET_RECENT = const(4)
_SHRUBS_STATE = const(22)
# regression/linear.py
_L_SEEN = const(3)
_L_CENTRE = const(4)
_L_LEAST = const(5)
_L_GREATEST = const(6)
# regression/shrubs.py
_V_OUTLINE = const(4)
# thicket/trees.py
_G_USED = const(1)
# (end)

_SHRUBS = const(0)  # tables
_LINEAR = const(1)
_THICKET = const(2)

_LAST = const(0)  # members
_MEAN = const(1)
_SUM = const(2)
_CHANGE = const(3)
_TREES = const(4)
_MEMBERS = const(5)
MEMBERS = ("last", "mean", "linear", "change", "shrubs")

_T_LATE = const(0)  # of the state: samples that come between a sample and its target
_T_HEAD = const(1)  # where the next target goes
_T_SEEN = const(2)  # samples so far, at most _MEMORY
_WORDS = const(3)

_MEMORY = const(256)  # samples that the errors look back over
_SHARPNESS = const(50)
_MIDDLE = const(32767)  # the prediction before there is a target
_LEAST = const(8)  # samples that shrubs are grown on
_MOST = const(1024)
_MOST_TREES = const(64)


@micropython.viper
def predict(t, rows, at: int) -> int:
    """The code of the target of the sample at rows[at]."""
    return int(foretell(t, rows, at, int(recent(t[_THICKET], 1))))


@micropython.viper
def learn(t, rows, at: int, target: int) -> int:
    """Learn a sample; returns the code predicted before, from what was known at its time."""
    address = ptr32(t[_THICKET])
    state = ptr32(address[_THICKET_STATE])
    last = int(recent(t[_THICKET], state[_T_LATE] + 1))
    predicted = int(foretell(t, rows, at, last))
    # before a target was known, no member could be right, and nothing changed since the last one
    if ptr32(ptr32(t[_LINEAR])[_LINEAR_STATE])[_L_SEEN] > state[_T_LATE]:
        judge(t[_THICKET], target)
        step(t[_LINEAR], 1, target)
    step(t[_LINEAR], 0, target)
    follow_linear(t[_LINEAR], rows, at, target)
    follow_shrubs(t[_SHRUBS], rows, at, target)
    head = state[_T_HEAD]
    ptr16(address[_THICKET_RECENT])[head] = target
    state[_T_HEAD] = head + 1 if head < state[_T_LATE] else 0
    return predicted


@micropython.viper
def recent(thicket, back: int) -> int:
    """Return the last target for 1, and earlier targets for 2 to late + 1."""
    address = ptr32(thicket)
    state = ptr32(address[_THICKET_STATE])
    place = state[_T_HEAD] - back
    if place < 0:
        place += state[_T_LATE] + 1
    return ptr16(address[_THICKET_RECENT])[place]


@micropython.viper
def foretell(t, rows, at: int, last: int) -> int:
    """Ask all members about the sample at rows[at], with the last target known at its time."""
    address = ptr32(t[_THICKET])
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    linear = ptr32(t[_LINEAR])
    centre = ptr32(linear[_LINEAR_STATE])[_L_CENTRE] >> 8
    scale(t[_LINEAR], rows, at)
    predictions[_LAST] = last
    predictions[_MEAN] = centre
    predictions[_SUM] = int(add_up(t[_LINEAR], 0, centre))
    predictions[_CHANGE] = int(add_up(t[_LINEAR], 1, last))
    outline = int(blend(t[_THICKET], _TREES))
    shrubs = ptr32(t[_SHRUBS])
    ptr32(shrubs[_SHRUBS_STATE])[_V_OUTLINE] = outline
    descend(0, 0, t[_SHRUBS], rows, at)
    y = int(mix(t[_SHRUBS]))
    if not ptr32(shrubs[_GROVE_STATE])[_G_USED]:
        y = outline
    if y < ptr32(linear[_LINEAR_STATE])[_L_LEAST]:
        y = ptr32(linear[_LINEAR_STATE])[_L_LEAST]
    if y > ptr32(linear[_LINEAR_STATE])[_L_GREATEST]:
        y = ptr32(linear[_LINEAR_STATE])[_L_GREATEST]
    predictions[_TREES] = y
    return int(blend(t[_THICKET], _MEMBERS))


@micropython.viper
def blend(thicket, members: int) -> int:
    """Mix the predictions of the first `members` members by their shares."""
    address = ptr32(thicket)
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    error = ptr32(address[_THICKET_ERROR])
    share = ptr32(address[_THICKET_SHARE])
    best = 0
    for k in range(members):
        if error[k] < error[best]:
            best = k
    least = error[best] + 1
    down = 0
    while least >> down > 65535:
        down += 1
    total = 0  # 16384..5 * 16384
    for k in range(members):
        worse = error[k] + 1 - least
        share[k] = 0
        if worse < least:  # beyond, exp(-50) is 0
            ratio = ((worse >> down) << 12) // (least >> down)  # < 2**16 * 2**12, <= 2**13
            share[k] = int(exp_decay((_SHARPNESS * ratio) << 4))  # < 50 * 2**13 * 2**4
            total += share[k]
    mixed = 0
    for k in range(members):
        share[k] = (share[k] << 12) // total  # 2**26
        mixed += share[k] * (predictions[k] - predictions[best])  # |sum| <= 2**12 * 2**16
    return predictions[best] + ((mixed + 2048) >> 12)


@micropython.viper
def judge(thicket, target: int):
    """How near was each member?"""
    address = ptr32(thicket)
    state = ptr32(address[_THICKET_STATE])
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    error = ptr32(address[_THICKET_ERROR])
    if state[_T_SEEN] < _MEMORY:
        state[_T_SEEN] = state[_T_SEEN] + 1
    for k in range(_MEMBERS):
        away = predictions[k] - target
        if away < 0:
            away = 0 - away
        error[k] = error[k] + ((away << 6) - error[k]) // state[_T_SEEN]


class OutlinedShrubs(ShrubRegressor):
    """Make the shrubs of a thicket: half of them learn the outline's errors."""

    _WITH_REST = 1


class TwoLinear(LinearRegressor):
    """The linear models of a thicket, from the mean and from the last target."""

    _HEADS = 2


class ThicketRegressor(Regressor):
    """Shrubs, linear models, the mean and the last target, mixed; you choose the bytes.

    Parameters (all but features have defaults):

    features  1..256, numbers in a sample
    bytes     1024..1048576, the most that the buffers may take
    late      0..1000, samples that come between a sample and its target
    seed      0..2**30 - 1, seed of the model's own random numbers

    Raises ValueError, which names the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    PARAMETERS = "bytes 16384 1024..1048576;late 0 0..1000;seed 0 0..1073741823"

    def _prepare(self):
        self.linear = TwoLinear.plan(features=self.features)
        rest = self.bytes - table_bytes(self._own_table()) - self.linear.table_bytes()
        self.shrubs = shrubs_share(self.features, rest, self.seed)
        if not self.shrubs:
            raise ParameterError("bytes", "more for %d features" % self.features, self.bytes)

    _FIXED = (("thicket.state", (_T_LATE,)),) + ShrubRegressor._FIXED + LinearRegressor._FIXED

    def _is_sound(self):
        from .state_check import thicket_is_sound

        b = self._flat[-5:]
        return self.shrubs._is_sound() and self.linear._is_sound() and thicket_is_sound(b)

    def _own_table(self):
        return [
            ("thicket.state", "i", _WORDS),
            ("thicket.predictions", "i", _MEMBERS),
            ("thicket.error", "i", _MEMBERS),
            ("thicket.share", "i", _MEMBERS),
            ("thicket.recent", "H", self.late + 1),
        ]

    def _table(self):
        return self.shrubs._table() + self.linear._table() + self._own_table()

    def _allocate(self):
        self._make_buffers(self._own_table())
        buffers = self._flat
        for member in (self.linear, self.shrubs):
            type(member)._allocate(member)
            self._flat = member._flat + self._flat
            self._size += member._size
        self._addresses = (self.shrubs._addresses, self.linear._addresses, address_table(buffers))
        self._row = ()
        self._start()

    def _start(self):
        self.shrubs._start()
        self.linear._start()
        b = self._flat[-5:]
        b[_THICKET_STATE][_T_LATE] = self.late
        for k in range(self.late + 1):
            b[_THICKET_RECENT][k] = _MIDDLE

    def progress(self):
        """Figures for users: each member's share in %."""
        progress = {"trees_used": self.shrubs.progress()["trees_used"]}
        for k in range(_MEMBERS):
            progress["share_" + MEMBERS[k]] = (
                self._flat[-5:][_THICKET_SHARE][k] * 100 + 2048
            ) >> 12
        return progress


def shrubs_share(features, limit, seed):
    """The plan of the largest shrubs that fit into `limit` bytes; None if none do.

    All of it grows together: the window, the leaves of a shrub, and their number. Beyond a window
    of 1024 samples, more bytes go to more shrubs.
    """
    low = _LEAST
    high = _MOST
    if _shrubs(features, low, 0, seed).table_bytes() > limit:
        return None
    while low < high:  # the greatest window that fits, by halving
        window = (low + high + 1) // 2
        if _shrubs(features, window, 0, seed).table_bytes() <= limit:
            low = window
        else:
            high = window - 1
    trees = _MOST_TREES if low == _MOST else 0
    while trees and _shrubs(features, low, trees, seed).table_bytes() > limit:
        trees -= 1
    return _shrubs(features, low, trees, seed)


def _shrubs(features, window, trees, seed):
    """Plan shrubs with a window, and the given number of them, or the usual number."""
    return OutlinedShrubs.plan(
        features=features,
        window=window,
        trees=trees or 4 + window // 28,
        leaves=min(max(window // 10, 4), 96),
        every=min(max(window // 16, 4), 64),
        seed=seed,
    )

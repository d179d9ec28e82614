"""LinearRegressor: a weighted sum of the features, fitted by normalised gradient descent.

Features are centred and scaled on the fly (thicket/scaling.py). The sum is relative to
the running mean of the targets; with a second head, as in thicket.py, also relative to a target
that is known. A sample of scaled features z, and one of 1 for the bias, changes each weight by

    rate * error * z_f / sum_f z_f**2

which is the normalised least mean squares rule (Nagumo, Noda: A Learning Method for System
Identification, IEEE Transactions on Automatic Control 1967): it cannot diverge for rates below 2.

Buffers; those of the first five are at the places of softmax.py's, whose kernels scale:

    0  linear.state      'i'  the integers below
    1  linear.predictions       'i'  [heads] what each head predicted
    2  linear.mean       'i'  [features]
    3  linear.deviation  'i'  [features]
    4  linear.scaled     'i'  [features + 1] z in Q12, the bias's 1 last
    5  linear.weight     'i'  [heads * (features + 1)] codes in 1/256, within +-65536
"""

import micropython
from micropython import const

from ..regressor import Regressor
from ..thicket.scaling import average, scale

# From elsewhere, written by `make constants`:
# places of buffers
_LINEAR_STATE = const(0)
_LINEAR_PREDICTIONS = const(1)
_LINEAR_SCALED = const(4)
_LINEAR_WEIGHT = const(5)
# (end)

_L_FEATURES = const(0)  # the state's, in the order of thicket/softmax.py
_L_HEADS = const(1)
_L_RATE = const(2)  # 1/256
_L_SEEN = const(3)
_L_CENTRE = const(4)  # running mean of the targets, in 1/256
_L_LEAST = const(5)  # target so far
_L_GREATEST = const(6)
_WORDS = const(7)

_MOST_WEIGHT = const(16777215)  # < 65536 in 1/256
_FINE = const(32768)
_MIDDLE = const(32767)  # the prediction before there is a target


@micropython.viper
def predict(t, rows, at: int) -> int:
    """The code of the target of the sample at rows[at]."""
    address = ptr32(t)
    scale(t, rows, at)
    return int(add_up(t, 0, ptr32(address[_LINEAR_STATE])[_L_CENTRE] >> 8))


@micropython.viper
def learn(t, rows, at: int, target: int) -> int:
    """Learn a sample; returns the code predicted before."""
    predicted = int(predict(t, rows, at))
    step(t, 0, target)
    follow(t, rows, at, target)
    return predicted


@micropython.viper
def add_up(t, head: int, base: int) -> int:
    """Return a head's prediction: the base plus its terms, within the targets so far."""
    address = ptr32(t)
    state = ptr32(address[_LINEAR_STATE])
    scaled = ptr32(address[_LINEAR_SCALED])
    weight = ptr32(address[_LINEAR_WEIGHT])
    terms = state[_L_FEATURES] + 1
    k = head * terms
    total = 0  # of at most 257 terms below 3 * 65536 in quarters each: below 2**28
    for f in range(terms):
        total += ((weight[k] >> 6) * (scaled[f] >> 2)) >> 10  # 2**18 * 3072 < 2**30
        k += 1
    prediction = base + ((total + 2) >> 2)
    if prediction > state[_L_GREATEST]:
        prediction = state[_L_GREATEST]
    if prediction < state[_L_LEAST]:
        prediction = state[_L_LEAST]
    ptr32(address[_LINEAR_PREDICTIONS])[head] = prediction
    return prediction


@micropython.viper
def step(t, head: int, target: int):
    """Change a head's weights along the gradient of its squared error."""
    address = ptr32(t)
    state = ptr32(address[_LINEAR_STATE])
    scaled = ptr32(address[_LINEAR_SCALED])
    weight = ptr32(address[_LINEAR_WEIGHT])
    terms = state[_L_FEATURES] + 1
    norm = 0  # Q12, of at most 257 terms of 9: below 2**24
    for f in range(terms):
        z = scaled[f] >> 6
        norm += z * z
    error = target - ptr32(address[_LINEAR_PREDICTIONS])[head]
    # codes in 1/256; 2**16 * 2**6 * 2**6 < 2**29 for rates of at most 64/256; norm >> 6 is >= 64
    pull = (error * state[_L_RATE] << 6) // (norm >> 6)
    k = head * terms
    for f in range(terms):
        change = 0
        if pull < _FINE and pull > 0 - _FINE:
            change = (pull * scaled[f] + 2048) >> 12  # 2**15 * 12288 < 2**30
        else:
            change = ((pull >> 6) * (scaled[f] >> 4)) >> 2  # |pull| < 2**23: 2**17 * 768
        w = weight[k] + change
        if w > _MOST_WEIGHT:
            w = _MOST_WEIGHT
        if w < 0 - _MOST_WEIGHT:
            w = 0 - _MOST_WEIGHT
        weight[k] = w
        k += 1


@micropython.viper
def follow(t, rows, at: int, target: int):
    """Move all means towards the sample at rows[at] and its target."""
    address = ptr32(t)
    state = ptr32(address[_LINEAR_STATE])
    first = int(state[_L_SEEN] == 0)
    average(t, rows, at)
    if first:
        state[_L_CENTRE] = target << 8
        state[_L_LEAST] = target
        state[_L_GREATEST] = target
    away = (target << 8) - state[_L_CENTRE]
    state[_L_CENTRE] = state[_L_CENTRE] + away // state[_L_SEEN]
    if target < state[_L_LEAST]:
        state[_L_LEAST] = target
    if target > state[_L_GREATEST]:
        state[_L_GREATEST] = target


class LinearRegressor(Regressor):
    """A linear model of numbers, sample by sample, in 4 bytes a weight.

    Parameters (all but features have defaults):

    features  1..256, numbers in a sample
    rate      1/256..1/4, step size of the normalised gradient descent, rounded to 1/256

    Raises ValueError, which names the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    PARAMETERS = "rate 0.05 1/256..1/4 256"
    _HEADS = 1

    _FIXED = (("linear.state", range(_L_SEEN)),)

    def _is_sound(self):
        from .state_check import linear_is_sound

        return linear_is_sound(self._flat)

    def _table(self):
        return [
            ("linear.state", "i", _WORDS),
            ("linear.predictions", "i", self._HEADS),
            ("linear.mean", "i", self.features),
            ("linear.deviation", "i", self.features),
            ("linear.scaled", "i", self.features + 1),
            ("linear.weight", "i", self._HEADS * (self.features + 1)),
        ]

    def _start(self):
        state = self._flat[_LINEAR_STATE]
        state[_L_FEATURES] = self.features
        state[_L_HEADS] = self._HEADS
        state[_L_RATE] = self.rate
        state[_L_CENTRE] = _MIDDLE << 8
        state[_L_LEAST] = state[_L_GREATEST] = _MIDDLE

    def progress(self):
        """Figures for users, as a dict of ints."""
        return {}

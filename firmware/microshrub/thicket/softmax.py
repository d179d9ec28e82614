"""SoftmaxRegression: one linear score per class, fitted by stochastic gradient descent.

Multinomial logistic regression on features that are centred and scaled on the fly, each by its
running mean and mean absolute deviation. A sample of codes x with label y changes the weights by

    weight[c][f] -= rate * (p_c - [c = y]) * z_f,    z_f = (x_f - mean_f) / deviation_f within +-3

with p the softmax of the scores sum_f weight[c][f] * z_f, and one z_f of 1 for the bias.

Buffers:

    state      'i'  the integers below
    votes      'i'  [classes] the votes for the last sample that was predicted
    mean       'i'  [features] running mean of the codes, in 1/256
    deviation  'i'  [features] running mean of |code - mean|, in 1/256
    scaled     'i'  [features + 1] that sample's z, Q12, the bias's 1 last
    share      'i'  [classes] the scores, Q12, then their softmax p, Q14
    weight     'i'  [classes * (features + 1)] Q16, within +-16

scaling.py centres and scales the features.
"""

import micropython
from micropython import const

from ..fixed import exp_decays
from ..learner import Learner
from .scaling import average, scale

# From elsewhere, written by `make constants`:
# places of buffers
_SOFTMAX_STATE = const(0)
_SOFTMAX_VOTES = const(1)
_SOFTMAX_SCALED = const(4)
_SOFTMAX_SHARE = const(5)
_SOFTMAX_WEIGHT = const(6)
# (end)

_L_FEATURES = const(0)  # from here on, words of the state
_L_CLASSES = const(1)
_L_RATE = const(2)  # 1/256
_L_SEEN = const(3)  # samples so far, at most as many as the means look back over
_WORDS = const(4)
_MOST_WEIGHT = const(1048576)  # 16 in Q16
_FAR = const(65536)  # 16 in Q12
_CERTAIN = const(16384)  # 1 in Q14
_VOTE = const(1020)  # votes for a share of 1 / 2**14


@micropython.viper
def predict(t, rows, at: int) -> int:
    """Return the class of the sample at rows[at]; leave its votes, z and p in the table."""
    scale(t, rows, at)
    score(t)
    return int(share_out(t))


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Take a gradient step, with the means from before; returns the class predicted before."""
    predicted = int(predict(t, rows, at))
    step(t, label, 1)
    average(t, rows, at)
    return predicted


@micropython.viper
def score(t):
    """Set share to the scores sum_f weight[c][f] * z_f, in Q12."""
    address = ptr32(t)
    state = ptr32(address[_SOFTMAX_STATE])
    scaled = ptr32(address[_SOFTMAX_SCALED])
    share = ptr32(address[_SOFTMAX_SHARE])
    weight = ptr32(address[_SOFTMAX_WEIGHT])
    terms = state[_L_FEATURES] + 1
    k = 0
    for c in range(state[_L_CLASSES]):
        total = 0  # at most 257 terms below 3 * 16 in Q12 each: below 2**26
        for f in range(terms):
            total += ((weight[k] >> 4) * scaled[f]) >> 12  # 2**16 * 12288 < 2**30
            k += 1
        share[c] = total


@micropython.viper
def share_out(t) -> int:
    """Replace share by its softmax, fill the votes, and return the likeliest class."""
    address = ptr32(t)
    classes = ptr32(address[_SOFTMAX_STATE])[_L_CLASSES]
    votes = ptr32(address[_SOFTMAX_VOTES])
    share = ptr32(address[_SOFTMAX_SHARE])
    best = 0
    for c in range(classes):
        if share[c] > share[best]:
            best = c
    top = share[best]
    for c in range(classes):
        below = top - share[c]  # < 2**27
        if below > _FAR:
            below = _FAR
        share[c] = below << 4
    exp_decays(0, 0, classes, t, _SOFTMAX_SHARE)
    total = 0  # <= 256 * 2**14 = 2**22, and >= 2**14
    for c in range(classes):
        total += share[c]
    for c in range(classes):
        p = (share[c] << 14) // total  # <= 2**28 before it is divided
        share[c] = p
        votes[c] = p * _VOTE
    return best


@micropython.viper
def step(t, label: int, times: int):
    """Change the weights along the gradient of the last sample's log-loss, 1 or 2 times as far."""
    address = ptr32(t)
    state = ptr32(address[_SOFTMAX_STATE])
    scaled = ptr32(address[_SOFTMAX_SCALED])
    share = ptr32(address[_SOFTMAX_SHARE])
    weight = ptr32(address[_SOFTMAX_WEIGHT])
    terms = state[_L_FEATURES] + 1
    rate = state[_L_RATE] * times
    k = 0
    for c in range(state[_L_CLASSES]):
        excess = share[c]
        if c == label:
            excess -= _CERTAIN
        for f in range(terms):
            # Q14 * Q12 is below 2**28; Q18 * the rate, at most 2 * 64 / 256, below 2**27
            change = ((excess * scaled[f]) >> 8) * rate
            w = weight[k] - ((change + 512) >> 10)  # Q26 to Q16
            if w > _MOST_WEIGHT:
                w = _MOST_WEIGHT
            if w < 0 - _MOST_WEIGHT:
                w = 0 - _MOST_WEIGHT
            weight[k] = w
            k += 1


class SoftmaxRegression(Learner):
    """Multinomial logistic regression, sample by sample, in 4 bytes a weight.

    Parameters (all but features and classes have defaults):

    features  1..256, numbers in a sample; classes: 2..256
    rate      1/256..1/4, step size of the gradient descent, rounded to 1/256

    Raises ValueError, which names the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    PARAMETERS = "rate 0.02 1/256..1/4 256"

    _FIXED = (("softmax.state", range(_L_SEEN)),)

    def _is_sound(self):
        from .state_check import softmax_is_sound

        return softmax_is_sound(self._flat)

    def _table(self):
        return softmax_table(self.features, self.classes)

    def _start(self):
        start_softmax(self._flat, self.features, self.classes, self.rate)

    @property
    def votes(self):
        """Votes of the last prediction, array('i'); they add up to about 65536 * 255."""
        return self._flat[_SOFTMAX_VOTES]

    @property
    def confidence(self):
        """The predicted class's share of the votes, 0..255."""
        return max(self.votes) >> 16

    def progress(self):
        """Figures for users, as a dict of ints."""
        return {}


def softmax_table(features, classes):
    """The buffers."""
    return [
        ("softmax.state", "i", _WORDS),
        ("softmax.votes", "i", classes),
        ("softmax.mean", "i", features),
        ("softmax.deviation", "i", features),
        ("softmax.scaled", "i", features + 1),
        ("softmax.share", "i", classes),
        ("softmax.weight", "i", classes * (features + 1)),
    ]


def start_softmax(b, features, classes, rate_q8):
    """Set up the state."""
    state = b[_SOFTMAX_STATE]
    state[_L_FEATURES] = features
    state[_L_CLASSES] = classes
    state[_L_RATE] = rate_q8

"""Gaussian naive Bayes with a short memory: accurate after a handful of samples.

Each feature of each class has its own mean and variance. While a class has few samples, its
variances are drawn towards the pooled variance within the classes, which counts as two samples
more. All classes are taken to be equally likely. With n samples of class c so far, at most 512, a
sample x with that label changes

    mean_cf += (x_f - mean_cf) / n        variance_cf += ((x_f - mean_cf)**2 - variance_cf) / n

The votes are the softmax of the scores of the classes. With v the variance drawn like that, a
score is

    sum_f -min((x_f - mean_cf)**2 / v_cf, 40) / 2 - ln(v_cf) / 2

Buffers (variances are in units of 2**16 squared codes, so that they fit into 16 bits):

    state     'i'  the integers below
    votes     'i'  [classes] the votes for the last sample that was predicted
    score     'i'  [classes] the scores with the other sign, in 1/256 of log2
    seen      'H'  [classes] n
    mean      'H'  [classes * features]
    variance  'H'  [classes * features]
    pooled    'i'  [features] the variance within all classes, in 1/64 of that unit
    rng       'i'  [2]
"""

import micropython
from micropython import const

from ..fixed import RNG_WORDS, below, exp_decays, seed_generator
from ..learner import Learner

# From elsewhere, written by `make constants`:
# places of buffers
_BAYES_STATE = const(0)
_BAYES_VOTES = const(1)
_BAYES_SCORE = const(2)
_BAYES_SEEN = const(3)
_BAYES_MEAN = const(4)
_BAYES_VARIANCE = const(5)
_BAYES_POOLED = const(6)
_BAYES_RNG = const(7)
# (end)

_B_FEATURES = const(0)  # from here on, words of the state
_B_CLASSES = const(1)
_B_SEEN = const(2)  # samples that the pooled variances are of
_B_WORDS = const(3)

_MEMORY = const(512)  # samples of a class that its means look back over
_POOL = const(1024)  # the same, of the pooled variances
_AT_FIRST = const(1024)  # a variance before any is known: an eighth of the codes' range squared
_VIRTUAL = const(2)  # samples that the pooled variance stands for
_CLIPPED = const(10240)  # 40 in Q8
_NOTHING = const(1048576)  # exp_decay() of it is 0
_VOTE = const(1020)  # votes for a share of 1 / 2**14


@micropython.viper
def predict(t, rows, at: int) -> int:
    """Return the class of the sample at rows[at], or -1 if nothing is known; leave its votes."""
    address = ptr32(t)
    seen = ptr16(address[_BAYES_SEEN])
    score = ptr32(address[_BAYES_SCORE])
    votes = ptr32(address[_BAYES_VOTES])
    classes = ptr32(address[_BAYES_STATE])[_B_CLASSES]
    best = -1
    for c in range(classes):
        votes[c] = 0
        if seen[c]:
            score[c] = int(distance(0, 0, 0, t, rows, at, c))
            if best < 0 or score[c] < score[best]:
                best = c
    if best < 0:
        return best
    least = score[best]
    for c in range(classes):
        votes[c] = _NOTHING
        if seen[c]:
            votes[c] = (score[c] - least) * 177  # ln 2 in Q16 / 256; < 2**23 * 2**8
    exp_decays(0, 0, classes, t, _BAYES_VOTES)
    total = 0  # <= 256 * 2**14
    for c in range(classes):
        total += votes[c]
    for c in range(classes):
        votes[c] = (votes[c] << 14) // total * _VOTE
    return best


# Of the next one, v, y and f are 0: viper keeps the first arguments in registers.


@micropython.viper
def distance(v: int, y: int, f: int, t, rows, at: int, c: int) -> int:
    """Return the score of class c for the sample at rows[at], with the opposite sign."""
    address = ptr32(t)
    state = ptr32(address[_BAYES_STATE])
    mean = ptr16(address[_BAYES_MEAN])
    variance = ptr16(address[_BAYES_VARIANCE])
    pooled = ptr32(address[_BAYES_POOLED])
    x = ptr16(rows)
    n = ptr16(address[_BAYES_SEEN])[c]
    features = state[_B_FEATURES]
    k = c * features
    total = 0  # <= 256 * (2**13 + 2**12)
    for i in range(features):
        v = (n * variance[k] + _VIRTUAL * (pooled[i] >> 6)) // (n + _VIRTUAL) + 1  # <= 2**16
        y = (x[at + i] - mean[k]) >> 1
        y = (y * y >> 6) // v  # in Q8, as the variance's unit is 2**16: < 2**24
        if y > _CLIPPED:
            y = _CLIPPED
        total += y * 185 >> 8  # 185 / 256 = 1 / (2 ln 2)
        top = 16 if v >= 65536 else 0  # as log2() of fixed.py: a call would take longer than this
        if v >> top > 255:
            top += 8
        if v >> top > 15:
            top += 4
        if v >> top > 3:
            top += 2
        if v >> top > 1:
            top += 1
        f = (v << (16 - top) >> 1) - 32768  # 0..2**15 - 1
        y = ((720 * f) >> 15) - 3110
        y = ((y * f) >> 15) + 6743
        y = ((y * f) >> 15) - 11588
        y = ((y * f) >> 15) + 23619
        total += ((top << 14) + ((y * f) >> 15)) >> 7
        k += 1
    return total


@micropython.viper
def answer(t, rows, at: int) -> int:
    """Return the class of the sample at rows[at], 0 if nothing is known; leave its votes."""
    predicted = int(predict(t, rows, at))
    return predicted if predicted > 0 else 0


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Learn a sample; returns the class predicted before, 0 if nothing was known."""
    predicted = int(answer(t, rows, at))
    follow(t, rows, at, label)
    return predicted


@micropython.viper
def follow(t, rows, at: int, label: int):
    """Move the means and variances of a class towards the sample at rows[at]."""
    address = ptr32(t)
    state = ptr32(address[_BAYES_STATE])
    mean = ptr16(address[_BAYES_MEAN])
    variance = ptr16(address[_BAYES_VARIANCE])
    pooled = ptr32(address[_BAYES_POOLED])
    seen = ptr16(address[_BAYES_SEEN])
    x = ptr16(rows)
    features = state[_B_FEATURES]
    n = seen[label]
    if n < _MEMORY:
        n += 1
        seen[label] = n
    pool = state[_B_SEEN]
    if n > 1 and pool < _POOL:
        pool += 1
        state[_B_SEEN] = pool
    k = label * features
    dice = int(below(t, _BAYES_RNG, n))  # rounded up or down by chance: small steps are not lost
    for f in range(features):
        if n == 1:
            mean[k] = x[at + f]
        else:
            away = x[at + f] - mean[k]
            square = (away >> 1) * (away >> 1) >> 14  # < 2**16
            mean[k] = mean[k] + (away + dice) // n
            variance[k] = variance[k] + (square - variance[k] + dice) // n
            pooled[f] = pooled[f] + ((square << 6) - pooled[f]) // pool  # 2**16 * 2**6
        k += 1


class GaussianNaiveBayes(Learner):
    """Naive Bayes with a normal distribution for each feature of each class.

    Parameters (all but features and classes have defaults):

    features  1..256, numbers in a sample; classes: 2..256
    seed      0..2**30 - 1, seed of the model's own random numbers

    Raises ValueError, which names the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(answer)
    _learn = staticmethod(learn)

    PARAMETERS = "seed 0 0..1073741823"

    _FIXED = (("bayes.state", (_B_FEATURES, _B_CLASSES)),)

    def _is_sound(self):
        from .state_check import bayes_is_sound

        return bayes_is_sound(self._flat)

    def _table(self):
        return bayes_table(self.features, self.classes)

    def _start(self):
        start_bayes(self._flat, self.features, self.classes, self.seed)

    @property
    def votes(self):
        """Votes of the last prediction, array('i'): about 65536 * 255 in all, or all are 0."""
        return self._flat[_BAYES_VOTES]

    @property
    def confidence(self):
        """The predicted class's share of the votes, 0..255."""
        return max(self.votes) >> 16

    def progress(self):
        """Figures for users, as a dict of ints."""
        return {}


def bayes_table(features, classes):
    """The buffers."""
    return [
        ("bayes.state", "i", _B_WORDS),
        ("bayes.votes", "i", classes),
        ("bayes.score", "i", classes),
        ("bayes.seen", "H", classes),
        ("bayes.mean", "H", classes * features),
        ("bayes.variance", "H", classes * features),
        ("bayes.pooled", "i", features),
        ("bayes.rng", "i", RNG_WORDS),
    ]


def start_bayes(b, features, classes, seed):
    """Start with no knowledge."""
    state = b[_BAYES_STATE]
    state[_B_FEATURES] = features
    state[_B_CLASSES] = classes
    state[_B_SEEN] = 1
    for f in range(features):
        b[_BAYES_POOLED][f] = _AT_FIRST << 6
    seed_generator(b[_BAYES_RNG], seed)

"""ShrubRegressor: shrub ensembles for numbers.

Buschjaeger, Hess, Morik: Shrub Ensembles for Online Classification, AAAI 2022, who note that the
approach is also applicable to regression: small trees grown on the last samples, with the splits
of least squared error and means in the leaves, and weights by the gradient of the squared error.
Here growth is spread over the samples (thicket/tree_growth.py), the leaves go on learning, and
the weights take exponentiated steps, which need no projection.

An ensemble of which these are a part (thicket.py) gives an outline of each target before the
shrubs predict it. Every second shrub then learns what the outline leaves, the rest
(target - outline + 65536) / 2, and adds it to the outline; the weights find out which kind is
the better one.

Buffers of the table t (T = shrubs, L = leaves, N = samples in the ring; T + 1 slots, of which one
has the shrub that grows). The ring is that of thicket/sample_ring.py, the shrubs have the form of
those in thicket/grove.py, and `sprout` is the one that grows, as in thicket/tree_growth.py:

     0  ring.shape     'i'
     1  ring.codes     'B'  [N * features]
     2  ring.labels    'B'  [N] the upper 8 bits of the targets
     3  grove.state    'i'
     4  grove.lower    'B'  [N] the lower 8 bits of the targets
     5  grove.feature, 6 grove.threshold, 7 grove.kids   'B'
     8  grove.means    'H'  [(T + 1) * L] what each leaf predicts
     9 to 14           the sprout's state, line, begin, end, hook, and impurity: what the targets
                       of a leaf are apart from their mean in all
    15  sprout.sums    'i'  [32] of each bin, samples and the sum of their targets
    16  sprout.order   'B'  [features]
    17  grove.rng      'i'  [2]
    18  grove.path     'B'  [T + 1] the leaf that the sample reached in each slot
    19  grove.weight   'i'  [T + 1] Q16, of the slots that predict: 65536 in all
    20  grove.predictions     'i'  [T + 1] what each slot predicted
    21  grove.pull     'i'  [T + 1] the gradient in 1/65536 of the deviation squared
    22  shrubs.state   'i'  the integers below
    23  grove.of_rest  'B'  [T + 1] 1: the slot's shrub predicts a rest
    24  rest.upper     'B'  [N] the upper 8 bits of the rests, if there are any; else empty
    25  rest.lower     'B'  [N] their lower 8 bits
"""

import micropython
from micropython import const

from ..fixed import RNG_WORDS, seed_generator
from ..regressor import Regressor
from ..thicket.sample_ring import ring_table, start_ring, take
from ..thicket.trees import (
    FIXED_IN_GROVE,
    FIXED_IN_SPROUT,
    G_WORDS,
    descend,
    sprout_table,
    start_trees,
    trees_table,
)
from .growth import BINS, tend
from .weights import mix, teach, weigh

# From elsewhere, written by `make constants`:
# places of buffers
_GROVE_STATE = const(3)
_GROVE_LOWER = const(4)
_GROVE_RNG = const(17)
_SHRUBS_STATE = const(22)
_REST_UPPER = const(24)
_REST_LOWER = const(25)
# thicket/trees.py
_G_USED = const(1)
# (end)

_V_PREDICTED = const(0)  # the last prediction
_V_LAST = const(1)  # the last target
_V_DEVIATION = const(2)  # what predictions were away from the targets lately, in 1/64
_V_STEP = const(3)  # of the weights, in 1/256
_V_OUTLINE = const(4)  # of the target that is predicted
_V_WITH_REST = const(5)  # 1: every second shrub grows on rests
_V_OF_REST = const(6)  # 1: the one that began last does
_WORDS = const(7)

_MIDDLE = const(32767)  # the prediction before there is a target


@micropython.viper
def predict(t, rows, at: int) -> int:
    """The code of the target of the sample at rows[at]."""
    descend(0, 0, t, rows, at)
    return int(mix(t))


@micropython.viper
def learn(t, rows, at: int, target: int) -> int:
    """Learn a sample; returns the code predicted before."""
    predicted = int(predict(t, rows, at))
    follow(t, rows, at, target)
    return predicted


@micropython.viper
def follow(t, rows, at: int, target: int):
    """Learn the sample that was predicted last."""
    address = ptr32(t)
    state = ptr32(address[_SHRUBS_STATE])
    rest = (target - state[_V_OUTLINE] + 65536) >> 1  # 0..65535
    weigh(t, target)
    teach(t, target, rest)
    b = int(take(t, rows, at, target >> 8))
    ptr8(address[_GROVE_LOWER])[b] = target & 255
    if state[_V_WITH_REST]:
        ptr8(address[_REST_UPPER])[b] = rest >> 8
        ptr8(address[_REST_LOWER])[b] = rest & 255
    state[_V_LAST] = target
    tend(t)


class ShrubRegressor(Regressor):
    """Up to `trees` shrubs for numbers; one at a time grows on the last `window` samples.

    Parameters (all but features have defaults):

    features      1..256, numbers in a sample, kept in 8 bits each
    window        8..2047, recent samples that each shrub is grown on
    trees         1..255, the most shrubs that predict
    leaves        2..128, the most leaves of a shrub
    every         1..255: a shrub starts to grow every N samples, and has N samples to finish; the
                  ring holds N samples more than the window
    step          1/256..1, step size of the weights' gradient descent, rounded to 1/256
    max_features  0..features, features tried for each split; 0: two thirds of them
    seed          0..2**30 - 1, seed of the model's own random numbers

    Raises ValueError, which names the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    PARAMETERS = (
        "window 512 8..2047;"
        "trees 24 1..255;"
        "leaves 48 2..128;"
        "every 32 1..255;"
        "step 0.1 1/256..1 256;"
        "max_features 0 0..features;"
        "seed 0 0..1073741823"
    )

    _FIXED = (
        ("ring.shape", range(3)),
        ("grove.state", FIXED_IN_GROVE),
        ("sprout.state", FIXED_IN_SPROUT),
        ("shrubs.state", (_V_STEP, _V_WITH_REST)),
    )
    _WITH_REST = 0  # 1: an outline is given

    def _is_sound(self):
        from .state_check import shrubs_are_sound

        return shrubs_are_sound(self._flat)

    def _table(self):
        slots = self.trees + 1
        ring = ring_table(self.features, self.window + self.every)
        shrubs = [
            ("grove.state", "i", G_WORDS),
            ("grove.lower", "B", self.window + self.every),
        ]
        shrubs += trees_table(slots, self.leaves)
        shrubs += [("grove.means", "H", slots * self.leaves)]
        sums = ("sprout.sums", "i", 2 * BINS)
        sprout = sprout_table(self.features, self.window, self.leaves, sums)
        weights = [
            ("grove.rng", "i", RNG_WORDS),
            ("grove.path", "B", slots),
            ("grove.weight", "i", slots),
            ("grove.predictions", "i", slots),
            ("grove.pull", "i", slots),
            ("shrubs.state", "i", _WORDS),
            ("grove.of_rest", "B", slots),
            ("rest.upper", "B", self._WITH_REST * (self.window + self.every)),
            ("rest.lower", "B", self._WITH_REST * (self.window + self.every)),
        ]
        return ring + shrubs + sprout + weights

    def _start(self):
        b = self._flat
        wanted = self.max_features or max(2 * self.features // 3, 1)
        shape = (self.features, self.window, self.trees, self.leaves, self.every)
        start_ring(b, self.features, 256, self.window + self.every)
        start_trees(b, *shape, wanted)
        seed_generator(b[_GROVE_RNG], self.seed)
        state = b[_SHRUBS_STATE]
        state[_V_LAST] = _MIDDLE
        state[_V_STEP] = self.step
        state[_V_WITH_REST] = self._WITH_REST

    def progress(self):
        """Figures for users, as a dict of ints."""
        return {"trees_used": self._flat[_GROVE_STATE][_G_USED]}

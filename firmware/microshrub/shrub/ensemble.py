"""ShrubEnsemble: small trees grown on a sliding window, weighted by proximal gradient descent.

Buschjaeger, Hess, Morik: Shrub Ensembles for Online Classification, AAAI 2022, Algorithm 1, whose
lines the comments name.
"""

import micropython
from micropython import const

from ..fixed import RNG_WORDS, seed_generator
from ..learner import Learner, ParameterError, choice, twelve_bits, whole
from .cart import cart_table, grow, start_cart
from .pool import descend, leaf_slots, shrubs_table, start_shrubs
from .weights import favour, gradient_step, members_table, mix, project, start_members
from .window import slide, start_window, window_table

# What the kernels get: five buffers and the tuples of buffers of the ensemble's parts.
_STATE = const(0)  # 'i' the integers below
_VOTES = const(1)  # 'i' [classes] the votes for the last sample that was asked for
_PATH = const(2)  # 'B' path[s]: that sample's leaf in slot s; one or two bytes an entry
_MEMBER = const(3)  # 'B' member[s * B + b]: leaf of window sample b in slot s; one or two bytes
_RNG = const(4)
_WINDOW = const(5)
_SHRUBS = const(6)
_CART = const(7)
_MEMBERS = const(8)

_M_USED = const(0)  # of the members' tuple and shape, see weights.py
_M_SHAPE = const(0)
_M_WEIGHT = const(1)
_M_RANK = const(2)

_W_SIZE = const(2)  # of the window's shape, see window.py

_SEEN = const(0)  # samples, or errors, since the last shrub was grown
_EVERY = const(1)  # train_every
_ON_ERROR = const(2)  # 1: trigger "error"
_LENGTH = const(3)  # B
_WIDE_LEAF = const(4)  # 1: a leaf's number needs two bytes
_WORDS = const(5)

_LOSSES = ("mse", "cross_entropy")
_SPLITTERS = ("best", "random")
_LEAF_KINDS = ("proba", "class")
_TRIGGERS = ("sample", "error")


@micropython.viper
def predict(t, rows, at: int) -> int:
    """The class of the sample at rows[at]; leaves votes and path in the table."""
    m = t[_MEMBERS]
    descend(t[_SHRUBS], m[_M_RANK], ptr32(m[_M_SHAPE])[_M_USED], rows, at, t[_PATH])
    return int(mix(t[_SHRUBS], m, t[_PATH], 1, 0, t[_VOTES]))


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Lines 2 to 12: take the sample in and, when the trigger says so, grow one shrub."""
    state = ptr32(t[_STATE])
    predicted = int(predict(t, rows, at))
    place = int(slide(t[_WINDOW], rows, at, label))
    follow(t, place)
    if not state[_ON_ERROR] or predicted != label:
        state[_SEEN] = state[_SEEN] + 1
    if state[_SEEN] >= state[_EVERY]:
        state[_SEEN] = 0
        train(t, 0)
    return predicted


@micropython.viper
def follow(t, place: int):
    """Note which leaf the sample that entered the window has in each member."""
    state = ptr32(t[_STATE])
    m = t[_MEMBERS]
    rank = ptr8(m[_M_RANK])
    path8 = ptr8(t[_PATH])
    path16 = ptr16(t[_PATH])
    member8 = ptr8(t[_MEMBER])
    member16 = ptr16(t[_MEMBER])
    window = state[_LENGTH]
    for i in range(ptr32(m[_M_SHAPE])[_M_USED]):
        slot = rank[i]
        k = slot * window + place  # < 256 * 1024 = 2**18
        if state[_WIDE_LEAF]:
            member16[k] = path16[slot]
        else:
            member8[k] = path8[slot]


@micropython.viper
def train(t, forget: int):
    """Lines 6 to 12: grow a shrub in the first free slot, step, project, prune.

    To forget, the step is that the new shrub takes half of the others' weights.
    """
    m = t[_MEMBERS]
    slot = ptr8(m[_M_RANK])[ptr32(m[_M_SHAPE])[_M_USED]]
    weights = ptr32(m[_M_WEIGHT])
    weights[slot] = 0
    grow(t[_WINDOW], t[_SHRUBS], t[_CART], t[_RNG], t[_MEMBER], slot)
    if forget:
        favour(m, slot)
    else:
        gradient_step(t[_WINDOW], t[_SHRUBS], m, t[_MEMBER])
    project(m)


class ShrubEnsemble(Learner):
    """An ensemble of at most `trees` shrubs, each grown on the last `window` samples.

    Parameters (all but features and classes have defaults):

    features      1..256 codes a sample; classes: 2..256
    window        2..1024 samples that a shrub is grown on and the weights are fitted to
    trees         1..255 members at most
    depth         1..30, the longest path of tests; a shrub never has more than `window` leaves
    step          1/1024..64, step size of the weights' gradient, held in 12 bits.
                  8 to 32 suits streams with runs of one label, 0.05 to 0.2 noisy ones
    loss          "mse" or "cross_entropy"
    splitter      "best" (CART) or "random" (one random threshold a feature)
    max_features  features drawn for each node, 0..features; 0: all
    leaf          "proba" (class frequencies, 8 bits) or "class" (the majority)
    train_every   1..32767: grow a shrub after every so many samples, or errors
    trigger       "sample" or "error": what train_every counts
    feature_bits  8 or 16: bits of a code that are kept in the window and the thresholds
    seed          0..2**30 - 1, of the model's own random generator

    Raises ValueError naming the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    def __init__(
        self,
        features,
        classes,
        window=32,
        trees=8,
        depth=5,
        step=0.5,
        loss="mse",
        splitter="best",
        max_features=0,
        leaf="proba",
        train_every=1,
        trigger="sample",
        feature_bits=16,
        seed=0,
    ):
        self.features = whole("features", features, 1, 256)
        self.classes = whole("classes", classes, 2, 256)
        self.window = whole("window", window, 2, 1024)
        self.trees = whole("trees", trees, 1, 255)
        self.depth = whole("depth", depth, 1, 30)
        self.step_q16 = _step_q16(step)
        self.loss = choice("loss", loss, _LOSSES)
        self.splitter = choice("splitter", splitter, _SPLITTERS)
        self.max_features = whole("max_features", max_features, 0, features)
        self.leaf = choice("leaf", leaf, _LEAF_KINDS)
        self.train_every = whole("train_every", train_every, 1, 32767)
        self.trigger = choice("trigger", trigger, _TRIGGERS)
        if not isinstance(feature_bits, int) or feature_bits not in (8, 16):
            raise ParameterError("feature_bits", "8 or 16", feature_bits)
        self.feature_bits = feature_bits
        self.seed = whole("seed", seed, 0, (1 << 30) - 1)
        self._allocate()

    def configuration(self):
        """All parameters as one line of text; the step as its numerator over 65536."""
        return (
            "ShrubEnsemble features=%d classes=%d window=%d trees=%d depth=%d step=%d/65536 "
            "loss=%s splitter=%s max_features=%d leaf=%s train_every=%d trigger=%s "
            "feature_bits=%d seed=%d"
        ) % (
            self.features, self.classes, self.window, self.trees, self.depth, self.step_q16,
            self.loss, self.splitter, self.max_features, self.leaf, self.train_every, self.trigger,
            self.feature_bits, self.seed,
        )  # fmt: skip

    def _parts(self):
        """The tables of the parts, in the order of the kernels' tuple."""
        slots = self.trees + 1
        one_hot = self.leaf == "class"
        pool = (slots, self.classes, self.window, self.depth, self.feature_bits, one_hot)
        leaf_bytes = 2 if leaf_slots(*pool[1:]) > 256 else 1
        return (
            [
                ("state", "i", _WORDS),
                ("votes", "i", self.classes),
                ("path", "B", slots * leaf_bytes),
                ("member", "B", slots * self.window * leaf_bytes),
                ("rng", "i", RNG_WORDS),
            ],
            window_table(self.features, self.window, self.feature_bits, self.splitter == "best"),
            shrubs_table(*pool),
            cart_table(self.features, self.classes, self.window, self.depth, self.max_features),
            members_table(self.trees, self.classes),
        )

    def _start(self):
        one_hot = self.leaf == "class"
        t = self._nest
        pool = (self.classes, self.window, self.depth, self.feature_bits, one_hot)
        state = t[_STATE]
        state[_EVERY] = self.train_every
        state[_ON_ERROR] = int(self.trigger == "error")
        state[_LENGTH] = self.window
        state[_WIDE_LEAF] = int(leaf_slots(*pool) > 256)
        seed_generator(t[_RNG], self.seed)
        start_window(t[_WINDOW], self.features, self.window, self.feature_bits)
        start_shrubs(t[_SHRUBS], *pool)
        start_cart(t[_CART], self.window, self.depth, self.max_features)
        start_members(
            t[_MEMBERS], self.trees, self.classes, self.step_q16, self.loss == "cross_entropy"
        )

    def forget(self):
        """Halve the weights of all shrubs; a new one, grown on the window, gets the other half.

        If there is no room for another, the lightest goes. Allocates nothing.
        """
        if self._nest[_WINDOW][0][_W_SIZE]:
            train(self._nest, 1)

    @property
    def votes(self):
        """Votes of the last prediction, array('i'); they add up to 65536 * 255, or all are 0."""
        return self._nest[_VOTES]

    @property
    def confidence(self):
        """The part of the votes that the predicted class has, 0..255."""
        return max(self._nest[_VOTES]) >> 16

    def progress(self):
        """What there is to tell of the state, as a dict of ints."""
        return {"trees_used": self.trees_used}

    @property
    def trees_used(self):
        """Members of the ensemble now, 0..trees."""
        return self._nest[_MEMBERS][_M_SHAPE][_M_USED]


def _step_q16(step):
    """The step size in 1/65536."""
    number = isinstance(step, (int, float)) and not isinstance(step, bool)
    if not number or not 1 / 1024 <= step <= 64:
        raise ParameterError("step", "a number of 1/1024..64", step)
    whole_part, shift = twelve_bits(step)
    return (whole_part << 16) >> shift

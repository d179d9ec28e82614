"""ShrubEnsemble: small trees grown on a sliding window, weighted by proximal gradient descent.

Buschjaeger, Hess, Morik: Shrub Ensembles for Online Classification, AAAI 2022, Algorithm 1, whose
lines the comments name.
"""

import micropython
from micropython import const

from ..fixed import RNG_WORDS, seed_generator
from ..learner import Learner
from .cart import cart_table, grow, start_cart
from .gradient import gradient_step
from .pool import descend, leaf_slots, shrubs_table, start_shrubs
from .weights import favour, members_table, mix, project, start_members
from .window import slide, start_window, window_table

# From elsewhere, written by `make constants`:
# places of buffers
_STATE = const(0)
_VOTES = const(1)
_PATH = const(2)
_MEMBER = const(3)
_RNG = const(4)
_WINDOW_SHAPE = const(5)
_MEMBERS_SHAPE = const(24)
_MEMBERS_WEIGHT = const(25)
_MEMBERS_RANK = const(26)
# shrub/weights.py
_M_USED = const(0)
# shrub/window.py
_W_SIZE = const(2)
# (end)

# words of the state
_SEEN = const(0)  # samples, or errors, since the last shrub was grown
_EVERY = const(1)  # train_every
_ON_ERROR = const(2)  # 1: trigger "error"
_LENGTH = const(3)  # B
_WIDE_LEAF = const(4)  # 1: a leaf's number needs two bytes
_WORDS = const(5)


@micropython.viper
def predict(t, rows, at: int) -> int:
    """The class of the sample at rows[at]; leaves votes and path in the table."""
    descend(t, rows, at)
    return int(mix(t))


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Lines 2 to 12: take the sample in and, when the trigger says so, grow one shrub."""
    address = ptr32(t)
    state = ptr32(address[_STATE])
    predicted = int(predict(t, rows, at))
    place = int(slide(t, rows, at, label))
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
    address = ptr32(t)
    state = ptr32(address[_STATE])
    rank = ptr8(address[_MEMBERS_RANK])
    path8 = ptr8(address[_PATH])
    path16 = ptr16(address[_PATH])
    member8 = ptr8(address[_MEMBER])
    member16 = ptr16(address[_MEMBER])
    window = state[_LENGTH]
    for i in range(ptr32(address[_MEMBERS_SHAPE])[_M_USED]):
        slot = rank[i]
        k = slot * window + place  # < 256 * 1024 = 2**18
        if state[_WIDE_LEAF]:
            member16[k] = path16[slot]
        else:
            member8[k] = path8[slot]


@micropython.viper
def train(t, forget: int):
    """Lines 6 to 12: grow a shrub in the first free slot, step, project, prune.

    To forget, instead of the gradient step, the new shrub takes half of the others' weights.
    """
    address = ptr32(t)
    slot = ptr8(address[_MEMBERS_RANK])[ptr32(address[_MEMBERS_SHAPE])[_M_USED]]
    ptr32(address[_MEMBERS_WEIGHT])[slot] = 0
    grow(t, slot)
    if forget:
        favour(t, slot)
    else:
        gradient_step(0, 0, t)
    project(t)


class ShrubEnsemble(Learner):
    """An ensemble of at most `trees` shrubs, each grown on the last `window` samples.

    Parameters (all but features and classes have defaults):

    features      1..256, numbers in a sample; classes: 2..256
    window        2..1024, recent samples that shrubs are grown on and weights are fitted to; 0: as
                  many as fit into 16 KB, from 16 up to 128, or up to 8 per class if that is more
    trees         1..255, the most shrubs in the ensemble
    depth         1..30, the longest path of tests; a shrub never has more than `window` leaves
    step          1/1024..64, step size of the weights' gradient descent, rounded to 12 bits;
                  8 to 32 suits streams with long runs of one label, 0.05 to 0.2 noisy ones
    loss          "mse" or "cross_entropy"
    splitter      "best" (CART) or "random" (one random threshold per feature)
    max_features  0..features, features drawn for each node; 0: all of them
    leaf          "proba" (class frequencies in 8 bits) or "class" (the majority class alone)
    train_every   1..32767: grow a shrub after every N samples, or errors; 0: after every sixteenth
                  of the window if that is 0, too, else after each
    trigger       "sample" or "error": what train_every counts
    feature_bits  8 or 16, bits of each code that the window and the thresholds keep
    seed          0..2**30 - 1, seed of the model's own random numbers

    Raises ValueError, which names the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    PARAMETERS = (
        "window 0 2..1024;"
        "trees 16 1..255;"
        "depth 5 1..30;"
        "step 0.2 1/1024..64 65536;"
        "loss mse mse|cross_entropy;"
        "splitter best best|random;"
        "max_features 0 0..features;"
        "leaf proba proba|class;"
        "train_every 0 1..32767;"
        "trigger sample sample|error;"
        "feature_bits 16 8|16;"
        "seed 0 0..1073741823"
    )

    _FIXED = (
        ("state", (_EVERY, _ON_ERROR, _LENGTH, _WIDE_LEAF)),
        ("window.shape", (0, 1, 4, 5, 6)),
        ("shrubs.shape", range(8)),
        ("cart.shape", range(3)),
        ("members.shape", range(1, 5)),
    )

    def _is_sound(self):
        from .state_check import is_sound

        return is_sound(self._flat, self.features, self.classes)

    def _prepare(self):
        every = 1
        if not self.window:
            self.fit("window", 16, max(128, min(8 * self.classes, 1024)))
            every = self.window // 16
        self.train_every = getattr(self, "train_every") or every  # noqa: B009

    def _table(self):
        slots = self.trees + 1
        one_hot = self.leaf == "class"
        pool = (slots, self.classes, self.window, self.depth, self.feature_bits, one_hot)
        leaf_bytes = 2 if leaf_slots(*pool[1:]) > 256 else 1
        table = [
            ("state", "i", _WORDS),
            ("votes", "i", self.classes),
            ("path", "B", slots * leaf_bytes),
            ("member", "B", slots * self.window * leaf_bytes),
            ("rng", "i", RNG_WORDS),
        ]
        table += window_table(
            self.features, self.window, self.feature_bits, self.splitter == "best"
        )
        table += shrubs_table(*pool)
        table += cart_table(
            self.features, self.classes, self.window, self.depth, self.max_features
        )
        return table + members_table(self.trees, self.classes)

    def _start(self):
        one_hot = self.leaf == "class"
        b = self._flat
        pool = (self.classes, self.window, self.depth, self.feature_bits, one_hot)
        state = b[_STATE]
        state[_EVERY] = self.train_every
        state[_ON_ERROR] = int(self.trigger == "error")
        state[_LENGTH] = self.window
        state[_WIDE_LEAF] = int(leaf_slots(*pool) > 256)
        seed_generator(b[_RNG], self.seed)
        start_window(b, self.features, self.window, self.feature_bits)
        start_shrubs(b, *pool)
        start_cart(b, self.window, self.depth, self.max_features)
        start_members(b, self.trees, self.classes, self.step, self.loss == "cross_entropy")

    def forget(self):
        """Halve the weights of all shrubs; a new shrub, grown on the window, gets the other half.

        If there is no room for another, the lightest goes. Allocates nothing.
        """
        if self._flat[_WINDOW_SHAPE][_W_SIZE]:
            train(self._addresses, 1)

    @property
    def votes(self):
        """Votes of the last prediction, array('i'); they add up to 65536 * 255, or all are 0."""
        return self._flat[_VOTES]

    @property
    def confidence(self):
        """The part of the votes that the predicted class has, 0..255."""
        return max(self._flat[_VOTES]) >> 16

    def progress(self):
        """Figures for users, as a dict of ints."""
        return {"trees_used": self.trees_used}

    @property
    def trees_used(self):
        """Members of the ensemble now, 0..trees."""
        return self._flat[_MEMBERS_SHAPE][_M_USED]

"""Grove: small random trees, grown one after the other on the last samples, that keep learning.

A random forest (Breiman: Random Forests, Machine Learning 2001) for streams: each tree is grown on
the last samples only, its leaves learn from every later sample that reaches them, and its vote
counts the more, the better it has predicted recently. A new tree replaces the worst tree.
Growth is spread evenly over the samples, see tree_growth.py.

Buffers of the table t, after the ring's (T = trees, L = leaves; of the T + 1 slots, one has the
tree that grows, and the others have the trees that vote):

     3  grove      'i'  the integers below
     4  votes      'i'  [classes] the votes for the last sample that was predicted
     5  feature    'B'  [(T + 1) * (L - 1)] what inner node n of slot s tests, at s * (L - 1) + n
     6  threshold  'B'  likewise: a sample goes left if its 8-bit code <= threshold
     7  kids       'B'  [(T + 1) * 2 * (L - 1)] the left kid of that node at twice the place, then
                        the right one: inner node 0..L - 2, or L - 1 + a leaf; node 0 is the root.
                        With more than 128 leaves, these are the lower 8 bits of all, and the
                        upper ones follow
     8  leaves     'B'  [(T + 1) * L * (classes - 1)] class frequencies in 1/255; the last class
                        has what they leave of 255
     9 to 16            the tree that grows, see tree_growth.py
    17  rng        'i'  [2]
    18  path       'B'  [T + 1] the leaf that the sample reached in each slot; likewise
    19  accuracy   'i'  [T + 1] Q20: of late, how often a slot's tree was right
    20  weight     'i'  [T + 1] Q14: exp(20 * (accuracy - the best one's))
"""

import micropython
from micropython import const

from ..fixed import RNG_WORDS, below, exp_decays, seed_generator, square_root
from ..learner import Learner
from .sample_ring import ring_table, start_ring
from .sample_store import FIXED_IN_STORE, start_store, store_table, take
from .tree_growth import BINS, advance, measure
from .trees import (
    FIXED_IN_GROVE,
    FIXED_IN_SPROUT,
    G_WORDS,
    begin,
    descend,
    hand_over,
    is_over,
    octets,
    plant,
    sprout_table,
    start_trees,
    trees_table,
)

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_GROVE_STATE = const(3)
_GROVE_VOTES = const(4)
_GROVE_LEAVES = const(8)
_SPROUT_STATE = const(9)
_GROVE_RNG = const(17)
_GROVE_PATH = const(18)
_GROVE_ACCURACY = const(19)
_GROVE_WEIGHT = const(20)
_GROVE_GROWN = const(21)
_STORE_STATE = const(22)
# thicket/sample_ring.py
_R_LENGTH = const(0)
_R_CLASSES = const(2)
_R_HELD = const(3)
# thicket/sample_store.py
_W_SEEN = const(4)
_W_LABEL = const(5)
_W_RUN = const(6)
_W_ALERT = const(7)
# thicket/trees.py
_G_TREES = const(0)
_S_SLOT = const(0)
_G_USED = const(1)
_S_GROWING = const(1)
_G_MOST = const(2)
_G_WINDOW = const(3)
_G_SINCE = const(5)
_G_PACE = const(6)
_NARROW = const(128)
# (end)

_ONE = const(1048576)  # an accuracy of 1, Q20
_MEMORY = const(8)  # log2 of the samples that an accuracy looks back over
_NOTHING = const(1048576)  # exp_decay() of it is 0
_LEAF_RATE = const(8)  # in 1/256: how fast leaves go on learning


# Of the next two, c, at and share are 0: viper keeps the first arguments in registers. A loop that
# counts down to 0 takes a third of one over a range.


@micropython.viper
def count_votes(c: int, at: int, t) -> int:
    """Sum up the trees' weighted class frequencies; returns the class with the most votes."""
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    votes = ptr32(address[_GROVE_VOTES])
    leaves = ptr8(address[_GROVE_LEAVES])
    path = ptr8(address[_GROVE_PATH])
    weight = ptr32(address[_GROVE_WEIGHT])
    last = ptr32(address[_RING_SHAPE])[_R_CLASSES] - 1
    growing = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    most_leaves = grove[_G_MOST]
    upper = 0
    if most_leaves > _NARROW:
        upper = grove[_G_TREES] + 1
    for c in range(last):
        votes[c] = 0
    total = 0
    s = grove[_G_USED] + 1
    k = s * most_leaves
    while s:
        s -= 1
        k -= most_leaves
        if s != growing:
            w = weight[s]
            total += w  # <= 255 * 2**14 < 2**22
            at = k + path[s]
            if upper:
                at += path[upper + s] << 8
            at *= last  # < 256 * 2**13 * 255 < 2**29
            c = last
            while c:
                c -= 1
                votes[c] = votes[c] + leaves[at + c] * w  # <= 255 * 255 * 2**14 < 2**30
    rest = 255 * total
    for c in range(last):
        rest -= votes[c]
    votes[last] = rest
    best = 0
    for c in range(last + 1):
        if total > 16:
            votes[c] = votes[c] // (total >> 4) << 12  # about 255 * 16 * 2**12
        if votes[c] > votes[best]:
            best = c
    return best


@micropython.viper
def judge(c: int, share: int, t, label: int):
    """Update each tree that voted, by the label: its accuracy, and the leaf that it reached.

    After eight labels of a run, a label counts the less, the longer the run is: otherwise the
    leaves would forget all other classes. After drift (drift_response.py), they follow at once.
    """
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    leaves = ptr8(address[_GROVE_LEAVES])
    path = ptr8(address[_GROVE_PATH])
    accuracy = ptr32(address[_GROVE_ACCURACY])
    last = ptr32(address[_RING_SHAPE])[_R_CLASSES] - 1
    growing = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    dice = int(below(t, _GROVE_RNG, 256))
    run = ptr32(address[_STORE_STATE])[_W_RUN] + 1
    if run < 8 or label != ptr32(address[_STORE_STATE])[_W_LABEL]:
        run = 8
    rate = _LEAF_RATE
    if ptr32(address[_STORE_STATE])[_W_ALERT] == 0:
        rate = 8 * _LEAF_RATE // run
    most_leaves = grove[_G_MOST]
    upper = 0
    if most_leaves > _NARROW:
        upper = grove[_G_TREES] + 1
    k = 0
    for s in range(grove[_G_USED] + 1):
        if s != growing:
            at = k + path[s]
            if upper:
                at += path[upper + s] << 8
            at *= last
            most = 0
            predicted = last
            rest = 255
            after = 255
            c = last
            while c:
                c -= 1
                share = leaves[at + c]
                rest -= share
                if share >= most:  # of two equal classes, the first one
                    most = share
                    predicted = c
                # rounded up or down by chance, so that small changes are not lost: 0..255 again
                share += (((255 if c == label else 0) - share) * rate + dice) >> 8
                leaves[at + c] = share
                after -= share
            if rest > most:
                predicted = last
            if after < 0:  # only the label's share has grown, and by more than is too much
                leaves[at + label] = leaves[at + label] + after
            right = _ONE if predicted == label else 0
            step = (right - accuracy[s]) >> _MEMORY
            if run > 8:  # a division for each tree takes its time
                step = (step << 3) // run
            accuracy[s] = accuracy[s] + step
            dice = (dice + 97) & 255
        k += most_leaves


# Of the next one, s and x are 0.


@micropython.viper
def weigh(s: int, x: int, t):
    """Compute the trees' weights from their accuracies; trees grown on few samples get less."""
    address = ptr32(t)
    accuracy = ptr32(address[_GROVE_ACCURACY])
    weight = ptr32(address[_GROVE_WEIGHT])
    grown = ptr32(address[_GROVE_GROWN])
    growing = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    slots = ptr32(address[_GROVE_STATE])[_G_USED] + 1
    top = 0
    most = 1
    s = slots
    while s:
        s -= 1
        if s != growing:
            x = accuracy[s]
            if x > top:
                top = x
            x = grown[s]
            if x > most:
                most = x
    s = slots
    while s:
        s -= 1
        weight[s] = (20 * (top - accuracy[s])) >> 4  # < 20 * 2**20
    weight[growing] = _NOTHING
    exp_decays(0, 0, slots, t, _GROVE_WEIGHT)
    s = slots
    while s:
        s -= 1
        if grown[s] < most:
            x = (grown[s] << 8) // most
            x = x * x >> 8
            weight[s] = (weight[s] * x >> 8) * x >> 8


@micropython.viper
def predict(t, rows, at: int) -> int:
    """Return the class of the sample at rows[at]; leave votes and path in the table."""
    descend(0, 0, t, rows, at)
    return int(count_votes(0, 0, t))


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Learn a sample; returns the class predicted before."""
    predicted = int(predict(t, rows, at))
    follow(t, rows, at, label)
    return predicted


@micropython.viper
def follow(t, rows, at: int, label: int):
    """Learn the sample that was predicted last."""
    judge(0, 0, t, label)
    take(t, rows, at, label)
    if not int(tend(t)):  # which weighs the trees if there is a new one
        weigh(0, 0, t)


@micropython.viper
def tend(t) -> int:
    """Let a tree grow for a while; once it is done, or its time is up, it votes.

    Returns 1 if a tree began to vote, else 0.
    """
    address = ptr32(t)
    sprout = ptr32(address[_SPROUT_STATE])
    grove = ptr32(address[_GROVE_STATE])
    visits = grove[_G_PACE]
    young = int(ptr32(address[_STORE_STATE])[_W_SEEN] < 256)
    entered = 0
    for _ in range(4 if young else 1):
        stage = int(begin(t))
        if not stage and young and ptr32(address[_RING_SHAPE])[_R_HELD] > 1:
            grove[_G_SINCE] = 0
            plant(0, 0, t, grove[_G_WINDOW])
            stage = 2
        if not stage:
            return entered
        if stage == 2:
            measure(0, 0, t, 0)
            ptr32(address[_GROVE_GROWN])[sprout[_S_SLOT]] = ptr32(address[_RING_SHAPE])[_R_HELD]
        while visits > 0 and sprout[_S_GROWING]:
            visits -= int(advance(t))
        if int(is_over(t)):
            enter(t)
            entered = 1
        if visits <= 0:
            return entered
    return entered


@micropython.viper
def enter(t):
    """Let the finished tree vote from now on; the next tree will replace the worst one."""
    address = ptr32(t)
    accuracy = ptr32(address[_GROVE_ACCURACY])
    slot = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    used = ptr32(address[_GROVE_STATE])[_G_USED]
    total = 0
    for s in range(used + 1):
        if s != slot:
            total += accuracy[s] >> 8  # <= 255 * 2**12
    accuracy[slot] = total // used << 8 if used else _ONE >> 1
    shape = ptr32(address[_RING_SHAPE])
    filling = int(shape[_R_HELD] < shape[_R_LENGTH])
    hand_over(t, _GROVE_GROWN if filling else _GROVE_ACCURACY)
    weigh(0, 0, t)


def grove_table(features, classes, window, trees, leaves):
    """Describe the buffers besides the ring's."""
    slots = trees + 1
    words = G_WORDS + octets(leaves) - 1
    grove = [("grove.state", "i", words), ("grove.votes", "i", classes)]
    grove += trees_table(slots, leaves)
    grove += [("grove.leaves", "B", slots * leaves * (classes - 1))]
    tally = ("sprout.tally", "H", (BINS + 2) * classes)
    sprout = sprout_table(features, window, leaves, tally)
    weights = [
        ("grove.rng", "i", RNG_WORDS),
        ("grove.path", "B", slots * octets(leaves)),
        ("grove.accuracy", "i", slots),
        ("grove.weight", "i", slots),
        ("grove.grown", "i", slots),
    ]
    return grove + sprout + weights


class Grove(Learner):
    """Up to `trees` random trees; one new tree at a time grows on the last `window` samples.

    Parameters (all but features and classes have defaults):

    features      1..256, numbers in a sample, kept in 8 bits each; classes: 2..256
    window        8..16383, recent samples that each tree is grown on; 0: as many as fit into 16 KB
                  beside 8 trees, from 32 up to 512
    trees         1..255, the most trees that vote; 0: as many as fit into 16 KB, from 2 up to 32
    leaves        2..2048, the most leaves of a tree
    every         1..255: a tree starts to grow every N samples, and has N samples to finish; the
                  ring holds N samples more than the window
    max_features  0..features, features tried for each split; 0: 1.5 times the square root of
                  their number, plus one
    seed          0..2**30 - 1, seed of the model's own random numbers

    Raises ValueError, which names the parameter, what is allowed and what was given.
    """

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    PARAMETERS = (
        "window 0 8..16383;"
        "trees 0 1..255;"
        "leaves 64 2..2048;"
        "every 32 1..255;"
        "max_features 0 0..features;"
        "seed 0 0..1073741823"
    )

    _FIXED = (
        ("ring.shape", range(3)),
        ("grove.state", FIXED_IN_GROVE),
        ("sprout.state", FIXED_IN_SPROUT),
        ("store.state", FIXED_IN_STORE),
    )

    def _prepare(self):
        trees = getattr(self, "trees")  # noqa: B009
        if not self.window:
            self.trees = trees or 8
            self.fit("window", 32, 512)
        self.trees = trees
        if not trees:
            self.fit("trees", 2, 32)

    def _is_sound(self):
        from .state_check import grove_is_sound

        return grove_is_sound(self._flat)

    def _table(self):
        ring = ring_table(self.features, self.window)
        grove = grove_table(self.features, self.classes, self.window, self.trees, self.leaves)
        return ring + grove + store_table(self.classes, self.window)

    def _start(self):
        b = self._flat
        wanted = self.max_features or min(square_root(9 * self.features // 4) + 1, self.features)
        start_ring(b, self.features, self.classes, self.window)
        start_store(b, self.window)
        shape = (self.features, self.window, self.trees, self.leaves, self.every)
        start_trees(b, *shape, wanted)
        seed_generator(b[_GROVE_RNG], self.seed)

    @property
    def votes(self):
        """Votes of the last prediction, array('i'): about 65536 * 255 in all, or all are 0."""
        return self._flat[_GROVE_VOTES]

    @property
    def confidence(self):
        """The predicted class's share of the votes, 0..255."""
        return min(max(self.votes) >> 16, 255)

    def progress(self):
        """Figures for users, as a dict of ints."""
        return {"trees_used": self.trees_used}

    @property
    def trees_used(self):
        """How many trees vote now, 0..trees."""
        return self._flat[_GROVE_STATE][_G_USED]

"""BalancedThicket, for class imbalance: it learns frequent classes less often and weighs errors.

With one sample of a class in a hundred, the most accurate prediction is nearly always the other
class, and a window of samples holds hardly any of the rare class. Three measures help:

- A frequent class is learned at most sixteen times as often as the rarest one (random
  undersampling, as in Liu, Wu, Zhou: Exploratory undersampling for class-imbalance learning, IEEE
  Transactions on Systems, Man, and Cybernetics B, 2009). The members that follow runs of a label,
  the fast shrubs and the last label, see all samples.
- Members are weighted by how well they know each class, a rare class as much as the others, see
  below.
- The votes then reflect the shares of the classes among the learned samples. So the votes of each
  class are divided by its share, and multiplied by the weight that the class should have (Elkan:
  The foundations of cost-sensitive learning, IJCAI 2001, theorem 2).

Its own table has these buffers after those of thicket.py:

    seen     'i'  [classes] Q26: the recent share of all labels
    learned  'i'  [classes] Q26: the recent share of the samples that the members learned
    factor   'i'  [classes] the factor of the class's last votes, 1..4095
    cost     'i'  [classes] the cost of a missed sample of the class; all 0: by its rarity
    rng      'i'  [2] a generator of random numbers, see fixed.py
    even     'i'  [classes] the factor of votes by which all classes count the same, 1..4095
    skill    'H'  [6 * classes] Q16: how well member k knows class c, at k * classes + c
    judged   'B'  [classes] samples in the means `skill`, 0..56

The accuracy of a member says hardly anything about a rare class: a member that never predicts it
is right 99 times in a hundred. So each class keeps a mean, over its own samples, of

    skill = 1 - (1 - p)**2

where p is the label's share of the member's votes, weighted so that all classes count the same
(Brier: Verification of forecasts expressed in terms of probability, Monthly Weather Review 1950).
A member's weight follows from the mean over the classes, as from recalls in Wang, Minku, Yao:
Resampling-based ensemble methods for online class imbalance learning, IEEE Transactions on
Knowledge and Data Engineering 2015, section 3.2.
"""

import micropython
from micropython import const

from ..fixed import RNG_WORDS, below, seed_generator
from ..learner import ParameterError, whole
from ..shrub.ensemble import learn as learn_shrubs
from .members import come_back, find, predict_known, teach
from .members import predict as predict_plainly
from .members import predict_next as predict_next_plainly
from .sample_store import in_runs
from .thicket import MEMBERS, Thicket

# From elsewhere, written by `make constants`:
# places of buffers
_THICKET_STATE = const(0)
_BAYES_VOTES = const(1)
_SOFTMAX_VOTES = const(1)
_THICKET_VOTES = const(1)
_VOTES = const(1)
_THICKET_PREDICTIONS = const(2)
_THICKET_ACCURACY = const(3)
_GROVE_VOTES = const(4)
_NEIGHBOURS_VOTES = const(4)
_BALANCED_SEEN = const(9)
_BALANCED_LEARNED = const(10)
_BALANCED_FACTOR = const(11)
_BALANCED_COST = const(12)
_BALANCED_RNG = const(13)
_BALANCED_EVEN = const(14)
_BALANCED_SKILL = const(15)
_BALANCED_JUDGED = const(16)
# thicket/members.py
_GROVE = const(0)
_NEIGHBOURS = const(1)
_T_CLASSES = const(1)
_ALWAYS_EVEN = const(2)
_SOFTMAX = const(2)
_T_LABEL = const(2)
_SHRUBS = const(3)
_LAST = const(4)
_THICKET = const(4)
_T_KNOWN = const(4)
_BAYES = const(5)
_MEMBERS = const(6)
_T_WITH_SHRUBS = const(7)
_T_EVEN = const(10)
# (end)

_MEMORY = const(64)  # samples of a class that a skill looks back over
_FIRST = const(8)  # samples that the skill at the start stands for
_SOFTEN = const(3)  # differences of skills count a third of those of accuracies
SOFTEN = _SOFTEN
MOST_JUDGED = _MEMORY - _FIRST
START = const(49152)  # 3/4 in Q16: of a member that gives both of two classes half of its votes
_ONE = const(1048576)  # an accuracy of 1, Q20
_WHOLE = const(67108864)  # a share of 1, Q26
_SEEN = const(12)  # log2 of the labels that a share looks back over
_LEARNED = const(8)  # the same, of the learned ones
_RATIO = const(16)  # a class is learned at most so many times as often as the rarest
_LEAST = const(8)  # in 1/256: how often the most frequent class is learned at least
_FEWEST = const(6)  # log2 of how much rarer than the others a class may be among the learned ones


@micropython.viper
def judge(t, label: int):
    """Judge the members' last predictions, once the label is known.

    rate() then computes their weights.
    """
    thicket = t[_THICKET]
    address = ptr32(thicket)
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    judged = ptr8(address[_BALANCED_JUDGED])
    if judged[label] < _MEMORY - _FIRST:
        judged[label] = judged[label] + 1
    if predictions[_GROVE] >= 0:
        note(thicket, _GROVE, label, int(likelihood(thicket, t[_GROVE], _GROVE_VOTES, label)))
    if predictions[_NEIGHBOURS] >= 0:
        p = int(likelihood(thicket, t[_NEIGHBOURS], _NEIGHBOURS_VOTES, label))
        note(thicket, _NEIGHBOURS, label, p)
    if predictions[_SOFTMAX] >= 0:
        note(
            thicket, _SOFTMAX, label, int(likelihood(thicket, t[_SOFTMAX], _SOFTMAX_VOTES, label))
        )
    if predictions[_SHRUBS] >= 0:
        note(thicket, _SHRUBS, label, int(likelihood(thicket, t[_SHRUBS], _VOTES, label)))
    if predictions[_BAYES] >= 0:
        note(thicket, _BAYES, label, int(likelihood(thicket, t[_BAYES], _BAYES_VOTES, label)))
    if predictions[_LAST] >= 0:
        note(thicket, _LAST, label, 4095 if predictions[_LAST] == label else 0)


@micropython.viper
def likelihood(thicket, member, place: int, label: int) -> int:
    """Return the label's share of a member's votes, with even classes: Q12, 0..4095."""
    address = ptr32(thicket)
    even = ptr32(address[_BALANCED_EVEN])
    votes = ptr32(ptr32(member)[place])
    total = 0  # <= 2**16 * 2**12, as all votes together are at most about 2**16 * 255
    for c in range(ptr32(address[_THICKET_STATE])[_T_CLASSES]):
        total += (votes[c] >> 8) * even[c]
    return (votes[label] >> 8) * even[label] // ((total >> 12) + 1)


@micropython.viper
def note(thicket, k: int, label: int, p: int):
    """Move the skill of member k for a class towards its share of votes p for the label, Q12."""
    address = ptr32(thicket)
    skill = ptr16(address[_BALANCED_SKILL])
    miss = 4095 - p
    k = ptr32(address[_THICKET_STATE])[_T_CLASSES] * k + label
    change = 65535 - (miss * miss >> 8) - skill[k]  # within +-2**16; the skill is 0..65535 again
    skill[k] = skill[k] + change // (ptr8(address[_BALANCED_JUDGED])[label] + _FIRST)


@micropython.viper
def rate(thicket):
    """Set the members' accuracies to their mean skills, over the classes that came."""
    address = ptr32(thicket)
    accuracy = ptr32(address[_THICKET_ACCURACY])
    skill = ptr16(address[_BALANCED_SKILL])
    judged = ptr8(address[_BALANCED_JUDGED])
    classes = ptr32(address[_THICKET_STATE])[_T_CLASSES]
    at = 0
    for k in range(_MEMBERS):
        total = 0  # < 256 * 2**16
        came = 0
        for c in range(classes):
            if judged[c]:
                total += skill[at + c]
                came += 1
        at += classes
        accuracy[k] = (total << 4) // (_SOFTEN * came)  # the dividend is < 2**28


@micropython.viper
def predict(t, rows, at: int) -> int:
    """Return the class of the sample at rows[at], whatever came before it; leave the votes."""
    predict_plainly(t, rows, at)
    weigh(t[_THICKET], int(in_runs(t[_GROVE])))
    return int(choose(t[_THICKET]))


@micropython.viper
def predict_next(t, rows, at: int) -> int:
    """Return the class of a sample that follows the last one, whose label may be a hint."""
    predict_next_plainly(t, rows, at)
    weigh(t[_THICKET], 0)
    return int(choose(t[_THICKET]))


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Learn a sample, or leave it out; returns the class predicted before."""
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    weigh(t[_THICKET], 0)
    late = int(come_back(t, rows, at))
    predicted = int(predict_known(t, rows, at, int(find(t, rows, at))))
    judge(t, label)
    if int(wants(t[_THICKET], label)):
        teach(t, rows, at, label, int(predicted != label))
    elif state[_T_WITH_SHRUBS]:
        learn_shrubs(t[_SHRUBS], rows, at, label)
    rate(t[_THICKET])
    state[_T_LABEL] = label
    if not late:
        state[_T_KNOWN] = 1
    return int(choose(t[_THICKET]))


@micropython.viper
def weigh(thicket, alone: int):
    """Compute the factor of each class's votes, from the costs, or without costs from its rarity.

    alone is 1 if the votes are even already, as in runs without labels: see vote_mixing.py.
    """
    address = ptr32(thicket)
    seen = ptr32(address[_BALANCED_SEEN])
    learned = ptr32(address[_BALANCED_LEARNED])
    factor = ptr32(address[_BALANCED_FACTOR])
    even = ptr32(address[_BALANCED_EVEN])
    cost = ptr32(address[_BALANCED_COST])
    classes = ptr32(address[_THICKET_STATE])[_T_CLASSES]
    most = 0
    for c in range(classes):
        most = learned[c] if learned[c] > most else most
    least = (most >> _FEWEST) + 1
    for c in range(classes):
        share = learned[c] if learned[c] > least else least
        even[c] = 4194304 // ((share >> 12) + 1)  # 2**22: at least 2**8, for a share of 1
        if alone:
            factor[c] = (seen[c] >> 16) * cost[c] + 1 if cost[c] else 1  # < 2**10 * 2**8
        elif cost[c]:
            factor[c] = ((seen[c] >> 6) * cost[c]) // ((share >> 16) + 1)  # < 2**20 * 2**8
        else:
            factor[c] = even[c]
    to_twelve_bits(thicket, _BALANCED_EVEN)
    to_twelve_bits(thicket, _BALANCED_FACTOR)


@micropython.viper
def to_twelve_bits(thicket, place: int):
    """Scale the numbers of all classes by one factor, so that they are within 1..4095."""
    address = ptr32(thicket)
    factor = ptr32(address[place])
    classes = ptr32(address[_THICKET_STATE])[_T_CLASSES]
    top = 0
    for c in range(classes):
        top = factor[c] if factor[c] > top else top
    shift = 0
    while top >> shift > 4095:
        shift += 1
    for c in range(classes):
        x = factor[c] >> shift
        factor[c] = x if x else 1  # so that a class that alone has votes is chosen


@micropython.viper
def choose(thicket) -> int:
    """Multiply each class's votes by its factor; returns the class with the most votes."""
    address = ptr32(thicket)
    votes = ptr32(address[_THICKET_VOTES])
    factor = ptr32(address[_BALANCED_FACTOR])
    classes = ptr32(address[_THICKET_STATE])[_T_CLASSES]
    total = 0
    for c in range(classes):
        votes[c] = (votes[c] >> 8) * factor[c]  # all of them are 2**16 * 255: 2**16 * 2**12
        total += votes[c]
    unit = (total >> 12) + 1
    best = 0
    for c in range(classes):
        votes[c] = votes[c] // unit * 4080  # about 2**12 * 4080 = 2**16 * 255 in all
        if votes[c] > votes[best]:
            best = c
    return best


@micropython.viper
def wants(thicket, label: int) -> int:
    """Count a label; returns 1 if its sample is to be learned, which is counted, too."""
    address = ptr32(thicket)
    seen = ptr32(address[_BALANCED_SEEN])
    learned = ptr32(address[_BALANCED_LEARNED])
    classes = ptr32(address[_THICKET_STATE])[_T_CLASSES]
    rarest = _WHOLE
    for c in range(classes):
        share = seen[c]
        share += ((_WHOLE if c == label else 0) - share) >> _SEEN
        seen[c] = share
        if share and share < rarest:  # 0: the class has not come for long, or never
            rarest = share
    chance = (rarest >> 8) * (256 * _RATIO) // ((seen[label] >> 8) + 1)  # <= 2**18 * 2**12
    chance = chance if chance > _LEAST else _LEAST
    if int(below(thicket, _BALANCED_RNG, 256)) >= chance:
        return 0
    for c in range(classes):
        share = learned[c]
        learned[c] = share + (((_WHOLE if c == label else 0) - share) >> _LEARNED)
    return 1


class BalancedThicket(Thicket):
    """A thicket that does not overlook rare classes, at the price of false alarms.

    Parameters (all but features and classes have defaults):

    features  1..256, numbers in a sample; classes: 2..256
    bytes     2048..1048576, the most that all buffers together may take
    seed      0..2**30 - 1, seed of the model's own random numbers
    costs     the cost of a missed sample of each class, 1..255, in the order of the classes;
              without costs, each class counts the same, however rare it is

    Raises ValueError, which names the parameter, what is allowed and what was given; also if there
    are too many features and classes for so few bytes.
    """

    _predict = staticmethod(predict)
    _predict_next = staticmethod(predict_next)
    _learn = staticmethod(learn)

    PARAMETERS = Thicket.PARAMETERS + ";costs ()"

    def _prepare(self):
        given = getattr(self, "costs")  # noqa: B009
        if not isinstance(given, (tuple, list)) or len(given) not in (0, self.classes):
            raise ParameterError("costs", "a number for each of %d classes" % self.classes, given)
        self.costs = tuple([whole("costs", cost, 1, 255) for cost in given])
        super()._prepare()

    def _own_table(self):
        return super()._own_table() + [
            ("balanced.seen", "i", self.classes),
            ("balanced.learned", "i", self.classes),
            ("balanced.factor", "i", self.classes),
            ("balanced.cost", "i", self.classes),
            ("balanced.rng", "i", RNG_WORDS),
            ("balanced.even", "i", self.classes),
            ("balanced.skill", "H", _MEMBERS * self.classes),
            ("balanced.judged", "B", self.classes),
        ]

    def _start(self):
        super()._start()
        self._flat[_THICKET_STATE][_T_EVEN] = _ALWAYS_EVEN
        seed_generator(self._flat[_BALANCED_RNG], self.seed)
        for c in range(len(self.costs)):
            self._flat[_BALANCED_COST][c] = self.costs[c]
        for k in range(_MEMBERS * self.classes):
            self._flat[_BALANCED_SKILL][k] = START
        for k in range(_MEMBERS):
            self._flat[_THICKET_ACCURACY][k] = (START << 4) // SOFTEN

    def _is_sound(self):
        b = self._flat
        shares = (b[_BALANCED_SEEN], b[_BALANCED_LEARNED])
        costs = self.costs or (0,) * self.classes
        return (
            all([min(share) >= 0 and max(share) <= _WHOLE for share in shares])
            and tuple(b[_BALANCED_COST]) == costs
            and max(b[_BALANCED_JUDGED]) <= MOST_JUDGED
            and super()._is_sound()
        )

    def progress(self):
        """Figures for users; a member's accuracy is its mean skill over the classes."""
        progress = super().progress()
        for k in range(_MEMBERS):
            skill = self._flat[_THICKET_ACCURACY][k] * SOFTEN
            progress["accuracy_" + MEMBERS[k]] = (skill * 100 + (_ONE >> 1)) >> 20
        return progress

"""Asking: which samples are worth asking a person for their class, within a budget of labels.

It follows Zliobaite, Bifet, Pfahringer, Holmes: Active learning with drifting streaming data, IEEE
Transactions on Neural Networks and Learning Systems 2014, section IV: variable uncertainty with
randomisation, and some of the budget for samples drawn at random, as in their Split.

A sample is uncertain if its margin, the votes of the first class minus those of the second, is
below a threshold times a random number of 1/2..3/2. The threshold falls by s = 1/50 of all votes
with each uncertain sample, and rises by s * share with every sample: so about that share of the
samples is uncertain, whatever the margins are. A tenth of the budget goes to samples drawn at
random.

Unlike there, labels are saved for a change, since that is when they are worth most. Behind the
first 8,000 samples the uncertain ones get six tenths of the budget, and the rest is saved, up to
what 10,000 samples bring. When surprise.py says that something has changed, every sample is asked
for until all that was saved is spent. While almost as much is saved as can be, the uncertain ones
get nine tenths. Of n samples, at most n * budget + 10 are asked for.

Buffers:

    asking.words     'i'  the integers below
    asking.rng       'i'  [2] of the random numbers
    asking.surprise  'i'  those of surprise.py
"""

from array import array

import micropython
from micropython import const

from .buffers import Buffers, address_table, table_bytes
from .fixed import RNG_WORDS, below, seed_generator
from .learner import same_items, whole
from .surprise import SURPRISE_WORDS, has_changed, start_surprise, surprise_is_sound

# From elsewhere, written by `make constants`:
# places of buffers
_ASKING_WORDS = const(0)
_ASKING_RNG = const(1)
_ASKING_SURPRISE = const(2)
# (end)

_SAVED = const(0)  # questions that may be asked, one after the other
_NEXT = const(1)  # 0..samples - 1: how far the next one is, in 1 / samples
_LIMIT = const(2)  # the threshold
_DEBT = const(3)  # what the threshold has not risen by yet, in 1 / samples
_ASKS = const(4)  # 1: the last sample was asked for
_CHANGED = const(5)  # 1: every sample is asked for, until nothing is saved
_SEEN = const(6)  # samples that came, and
_QUESTIONS = const(7)  # how many of them were asked for; both are halved at 2**29
_LABELS = const(8)
_SAMPLES = const(9)
_MOST_SAVED = const(10)
_CHANCE = const(11)  # of a sample to be drawn at random, in 2**-30
_RISE = const(12)  # while labels are saved: step * labels // samples,
_REST = const(13)  # and step * labels % samples
_RISE_ENOUGH = const(14)  # the same while enough are saved
_REST_ENOUGH = const(15)
_ENOUGH = const(16)  # saved questions
_FALL = const(17)  # step, a number that code for a Cortex-M0 could not hold where it is frozen
_WORDS = const(18)

_AT_ONCE = const(10)  # questions that may be asked in the beginning
_FIRST = const(8000)  # samples before labels are saved
_SAVINGS = const(10000)  # samples whose labels may be saved
_STEP = const(334234)  # a fiftieth of all votes, which are about 65536 * 255
_HIGHEST = const(33554432)  # 2**25: half of it is above any margin
_FULL = const(536870912)  # 2**29


@micropython.viper
def margin(votes: ptr32, classes: int) -> int:
    """How many more votes the first class has than the second, 0..2**24."""
    first = 0
    second = 0
    for c in range(classes):
        vote = votes[c]
        if vote > first:
            second = first
            first = vote
        elif vote > second:
            second = vote
    return first - second


@micropython.viper
def earn(t):
    """Save what this sample brings of a question."""
    words = ptr32(ptr32(t)[_ASKING_WORDS])
    part = words[_NEXT] + words[_LABELS]  # < 2 * samples <= 2**30
    if part >= words[_SAMPLES]:
        part -= words[_SAMPLES]
        if words[_SAVED] < words[_MOST_SAVED]:
            words[_SAVED] = words[_SAVED] + 1
    words[_NEXT] = part


@micropython.viper
def move(t, uncertain: int):
    """Move the threshold after a sample, so that it leads to the share that is wanted.

    It is above 0 before it falls by a step.
    """
    words = ptr32(ptr32(t)[_ASKING_WORDS])
    rise = words[_RISE_ENOUGH]
    debt = words[_DEBT] + words[_REST_ENOUGH]  # < 2 * samples <= 2**30
    if words[_SEEN] >= _FIRST and words[_SAVED] < words[_ENOUGH]:
        rise = words[_RISE]
        debt = words[_DEBT] + words[_REST]
    if debt >= words[_SAMPLES]:
        debt -= words[_SAMPLES]
        rise += 1
    words[_DEBT] = debt
    limit = words[_LIMIT] + rise - uncertain * words[_FALL]
    words[_LIMIT] = limit if limit < _HIGHEST else _HIGHEST


@micropython.viper
def wants(t, votes, classes: int) -> int:
    """1 if the sample is uncertain, or drawn at random."""
    words = ptr32(ptr32(t)[_ASKING_WORDS])
    # a threshold in units of 2**11, <= 2**14, times 1/2 <= r < 3/2 in Q15: < 2**30
    r = 16384 + int(below(t, _ASKING_RNG, 32768))
    uncertain = int(int(margin(votes, classes)) < (words[_LIMIT] >> 11) * r >> 4)
    move(t, uncertain)
    if uncertain:
        return 1
    chance = words[_CHANCE]
    r = int(below(t, _ASKING_RNG, 32768)) - (chance >> 15)
    if not r:
        r = int(below(t, _ASKING_RNG, 32768)) - (chance & 32767)
    return int(r < 0)


@micropython.viper
def decide(t, votes, classes: int) -> int:
    """1 if the sample with these votes is to be asked for, else 0; it is noted."""
    words = ptr32(ptr32(t)[_ASKING_WORDS])
    earn(t)
    saved = words[_SAVED]
    if not saved:
        words[_CHANGED] = 0
    asks = words[_CHANGED]
    if not asks:
        asks = int(wants(t, votes, classes))
    if not saved:
        asks = 0
    words[_SAVED] = saved - asks
    words[_ASKS] = asks
    if words[_SEEN] == _FULL:
        words[_SEEN] = _FULL >> 1
        words[_QUESTIONS] = words[_QUESTIONS] >> 1
    words[_SEEN] = words[_SEEN] + 1
    words[_QUESTIONS] = words[_QUESTIONS] + asks
    return asks


class Asking(Buffers):
    """Says with each sample whether to ask for its class: for `labels` of `samples`, at most.

    classes   2..256 of the learner whose votes it looks at
    labels    1..samples questions in
    samples   1..2**29 samples, in the long run; at most 10 questions come on top of these
    seed      0..2**30 - 1, of its own random numbers

    Raises ParameterError for other values.

        guess = model.predict(x)
        if asking.ask(model.votes):
            ...                                      # and when the person has answered
            asking.note(model.votes, guess != label)
            model.learn(x, label)

    If other samples were predicted since then, model.predict(x) makes the votes again.
    """

    def __init__(self, classes, labels=1, samples=10, seed=0):
        self.classes = whole("classes", classes, 2, 256)
        self.samples = whole("samples", samples, 1, _FULL)
        self.labels = whole("labels", labels, 1, samples)
        self.seed = whole("seed", seed, 0, (1 << 30) - 1)
        self._allocate()

    @classmethod
    def nbytes(cls):
        """Bytes of the buffers."""
        return table_bytes(_TABLE)

    def configuration(self):
        """All parameters as one line of text."""
        return "Asking classes=%d labels=%d samples=%d seed=%d" % (
            self.classes, self.labels, self.samples, self.seed,
        )  # fmt: skip

    def _table(self):
        return _TABLE

    def _start(self):
        words = self._flat[_ASKING_WORDS]
        words[_SAVED] = _AT_ONCE
        words[_CHANGED] = 1
        words[_LIMIT] = _HIGHEST
        words[_FALL] = _STEP
        words[_LABELS] = self.labels
        words[_SAMPLES] = self.samples
        words[_MOST_SAVED] = max(_AT_ONCE, _SAVINGS * self.labels // self.samples)
        words[_CHANCE] = (1 << 30) // 10 * self.labels // self.samples
        words[_ENOUGH] = words[_MOST_SAVED] * 7 // 8
        for rise, rest, tenths in ((_RISE, _REST, 6), (_RISE_ENOUGH, _REST_ENOUGH, 9)):
            step = _STEP * tenths // 10 * self.labels
            words[rise] = step // self.samples
            words[rest] = step % self.samples
        seed_generator(self._flat[_ASKING_RNG], self.seed)
        start_surprise(self._flat[_ASKING_SURPRISE])
        self._addresses = address_table(self._flat)
        self._votes = ()  # that were checked last

    _FIXED = (("asking.words", range(_LABELS, _WORDS)),)

    def _is_sound(self):
        words, rng, surprise = self._flat
        return (
            0 <= words[_SAVED] <= words[_MOST_SAVED]
            and 0 <= words[_NEXT] < self.samples
            and -_STEP <= words[_LIMIT] <= _HIGHEST
            and 0 <= words[_DEBT] < self.samples
            and 0 <= words[_ASKS] <= 1
            and 0 <= words[_CHANGED] <= 1
            and 0 <= words[_QUESTIONS] <= words[_SEEN] <= _FULL
            and min(rng) >= 0
            and surprise_is_sound(surprise)
        )

    def _check(self, votes):
        if votes is not self._votes:
            if not same_items(votes, _EXAMPLE) or len(votes) != self.classes:
                raise ValueError("votes has to be array('i') of %d votes" % self.classes)
            self._votes = votes

    def ask(self, votes):
        """Whether to ask for the sample that a learner has just predicted with these votes.

        votes is array('i') with those of each class, 0..2**24. Allocates nothing.
        """
        self._check(votes)
        return decide(self._addresses, votes, self.classes) == 1

    def note(self, votes, wrong):
        """Note whether the prediction of a sample, with these votes, was wrong, when it is known.

        Allocates nothing.
        """
        self._check(votes)
        words, _, surprise = self._flat
        sure = margin(votes, self.classes) >= words[_LIMIT]
        if not words[_CHANGED] and has_changed(surprise, sure, wrong):
            words[_CHANGED] = 1

    @property
    def asks(self):
        """Whether the last sample was asked for."""
        return self._flat[_ASKING_WORDS][_ASKS] == 1

    @property
    def seen(self):
        """Samples so far; halved at 2**29, as is their number that was asked for."""
        return self._flat[_ASKING_WORDS][_SEEN]

    @property
    def questions(self):
        """How many of these were asked for."""
        return self._flat[_ASKING_WORDS][_QUESTIONS]

    @property
    def saved(self):
        """How many may be asked for now, one after the other."""
        return self._flat[_ASKING_WORDS][_SAVED]

    @property
    def threshold(self):
        """Below which margin a sample is uncertain, in 1/255 of all votes, rounded down."""
        return min(max(self._flat[_ASKING_WORDS][_LIMIT] >> 16, 0), 255)


_EXAMPLE = array("i")
_TABLE = [
    ("asking.words", "i", _WORDS),
    ("asking.rng", "i", RNG_WORDS),
    ("asking.surprise", "i", SURPRISE_WORDS),
]

"""Asking: which samples are worth asking a person for their class, within a budget of labels.

It follows Zliobaite, Bifet, Pfahringer, Holmes: Active learning with drifting streaming data, IEEE
Transactions on Neural Networks and Learning Systems 2014, section IV: variable uncertainty with
randomisation, and some of the budget for samples drawn at random, as in their Split.

A sample is uncertain if its margin, the votes of the first class minus those of the second, is
below a threshold times a random number of 1/2..3/2. The threshold falls by s = 1/50 of all votes
with each uncertain sample, and rises by s * share with every sample: so about that share of the
samples is uncertain, whatever the margins are.

Unlike there, labels are saved for a change, since that is when they are worth most. Behind the
first 14,000 samples the uncertain ones get half of the budget, those drawn at random a fifth, and
the rest is saved, up to what 10,000 samples bring. While almost as much is saved as can be, the
uncertain ones get nine tenths. When doubt.py says that something may have changed, the next 100
samples are asked for, or a quarter of what is saved if that is less, so that surprise.py learns
soon if it has. When that says so, every sample is asked for: until all is spent if there was doubt
in the last 1,000 samples, else until five eighths of what was saved are left, since a surprise
alone may be chance.

In the beginning every label counts, too: as many questions as 2,000 samples bring, and 10 at
least, may be asked in advance. Until they are paid back, every second question that is earned goes
into that. So of n samples, at most n * budget are asked for if n is at least 4,000 and brings at
least 20 questions; before that, at most the advance comes on top.

Buffers:

    asking.words     'i'  the integers of asking_rules.py
    asking.rng       'i'  [2] of the random numbers
    asking.surprise  'i'  those of surprise.py
    asking.doubt     'i'  those of doubt.py
"""

from array import array

from micropython import const

from .asking_rules import decide, margin
from .buffers import Buffers, address_table, table_bytes
from .doubt import DOUBT_WORDS, doubt_is_sound, has_doubted
from .fixed import RNG_WORDS, seed_generator
from .learner import same_items, whole
from .surprise import SURPRISE_WORDS, has_changed, start_surprise, surprise_is_sound

# From elsewhere, written by `make constants`:
# places of buffers
_ASKING_WORDS = const(0)
_ASKING_RNG = const(1)
_ASKING_SURPRISE = const(2)
_ASKING_DOUBT = const(3)
# asking_rules.py
_Q_SAVED = const(0)
_Q_NEXT = const(1)
_Q_LIMIT = const(2)
_Q_DEBT = const(3)
_Q_ASKS = const(4)
_Q_CHANGED = const(5)
_Q_SEEN = const(6)
_Q_QUESTIONS = const(7)
_Q_OWED = const(8)
_Q_PROBES = const(9)
_Q_KEPT = const(10)
_Q_LABELS = const(11)
_Q_SAMPLES = const(12)
_Q_MOST_SAVED = const(13)
_Q_CHANCE = const(14)
_Q_RISE = const(15)
_Q_REST = const(16)
_Q_RISE_ENOUGH = const(17)
_Q_REST_ENOUGH = const(18)
_Q_ENOUGH = const(19)
_Q_FALL = const(20)
_Q_MISLED = const(21)
_Q_WORDS = const(22)
_Q_PROBE = const(100)
_Q_HIGHEST = const(33554432)
_Q_FULL = const(536870912)
# (end)

_AT_ONCE = const(10)  # questions in advance, at least,
_ADVANCE = const(2000)  # and samples whose labels may be asked for in advance
_SAVINGS = const(10000)  # samples whose labels may be saved
_CERTAIN = const(16056320)  # 245/255 of all votes: the first class has so many more
_MISLED = const(10)  # an error where it is certain counts 8, and fades by 2: more than one lately
_MOST_MISLED = const(40)  # 16 labels that were right, and it is not misled any more
_CONTRADICTED = const(8)  # an error where it is certain is so fresh: the last label, or nearly
_STEP = const(334234)  # a fiftieth of all votes, which are about 65536 * 255


class Asking(Buffers):
    """Says whether to ask for a sample's class: at most `labels` questions in `samples` samples.

    classes   2..256, those of the learner whose votes it looks at
    labels    1..samples questions in
    samples   1..2**29 samples; what may be asked for in advance is said above
    seed      0..2**30 - 1, of its own random numbers

    Raises ParameterError for other values.

        guess = model.predict_next(x)
        if asking.ask(model.votes):
            ...                                      # and when the person has answered
            asking.note(model.votes, guess != label)
            model.learn(x, label)

    If other samples were predicted in between, predict the sample again, for its votes.
    """

    def __init__(self, classes, labels=1, samples=10, seed=0):
        self.classes = whole("classes", classes, 2, 256)
        self.samples = whole("samples", samples, 1, _Q_FULL)
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
        words[_Q_SAVED] = max(_AT_ONCE, _ADVANCE * self.labels // self.samples)
        words[_Q_OWED] = 2 * words[_Q_SAVED]
        words[_Q_CHANGED] = 1
        words[_Q_LIMIT] = _Q_HIGHEST
        words[_Q_FALL] = _STEP
        words[_Q_LABELS] = self.labels
        words[_Q_SAMPLES] = self.samples
        words[_Q_MOST_SAVED] = max(_AT_ONCE, _SAVINGS * self.labels // self.samples)
        words[_Q_CHANCE] = (1 << 30) // 5 * self.labels // self.samples
        words[_Q_ENOUGH] = words[_Q_MOST_SAVED] * 7 // 8
        for rise, rest, tenths in ((_Q_RISE, _Q_REST, 5), (_Q_RISE_ENOUGH, _Q_REST_ENOUGH, 9)):
            step = _STEP * tenths // 10 * self.labels
            words[rise] = step // self.samples
            words[rest] = step % self.samples
        seed_generator(self._flat[_ASKING_RNG], self.seed)
        start_surprise(self._flat[_ASKING_SURPRISE])
        self._addresses = address_table(self._flat)
        self._votes = ()  # that were checked last

    _FIXED = (("asking.words", range(_Q_LABELS, _Q_MISLED)),)

    def _is_sound(self):
        words, rng, surprise, doubt = self._flat
        return (
            0 <= words[_Q_SAVED] <= words[_Q_MOST_SAVED]
            and 0 <= words[_Q_NEXT] < self.samples
            and -_STEP <= words[_Q_LIMIT] <= _Q_HIGHEST
            and 0 <= words[_Q_DEBT] < self.samples
            and 0 <= words[_Q_ASKS] <= 1
            and 0 <= words[_Q_CHANGED] <= 1
            and 0 <= words[_Q_QUESTIONS] <= words[_Q_SEEN] <= _Q_FULL
            and 0 <= words[_Q_OWED] <= 2 * words[_Q_MOST_SAVED]
            and 0 <= words[_Q_PROBES] <= _Q_PROBE
            and 0 <= words[_Q_KEPT] <= words[_Q_MOST_SAVED]
            and 0 <= words[_Q_MISLED] <= _MOST_MISLED
            and min(rng) >= 0
            and surprise_is_sound(surprise)
            and doubt_is_sound(doubt)
        )

    def _check(self, votes):
        if votes is not self._votes:
            if not same_items(votes, _EXAMPLE) or len(votes) != self.classes:
                raise ValueError("votes has to be array('i') of %d votes" % self.classes)
            self._votes = votes

    def ask(self, votes):
        """Whether to ask for the sample that a learner has just predicted with these votes.

        votes is array('i') with the votes for each class, 0..2**24. Allocates nothing.
        """
        self._check(votes)
        return decide(self._addresses, votes, self.classes) == 1

    def note(self, votes, wrong):
        """Note, once it is known, whether the prediction with these votes was wrong.

        Returns whether something has changed which contradicts what the model was certain of: see
        thicket/rehearsal.py. Allocates nothing.
        """
        self._check(votes)
        sure = self._is_sure(votes, wrong)
        words = self._flat[_ASKING_WORDS]
        if words[_Q_CHANGED]:
            return False
        doubtful = has_doubted(self._flat[_ASKING_DOUBT])
        if not has_changed(self._flat[_ASKING_SURPRISE], sure, wrong, doubtful):
            return False
        words[_Q_CHANGED] = 1
        words[_Q_KEPT] = 0 if doubtful else words[_Q_SAVED] * 5 // 8
        return words[_Q_MISLED] >= _CONTRADICTED

    def _is_sure(self, votes, wrong):
        """Whether the sample was certain enough not to be asked for; notes if that misled."""
        words = self._flat[_ASKING_WORDS]
        ahead = margin(votes, self.classes)
        if ahead >= _CERTAIN:
            misled = words[_Q_MISLED] + (8 if wrong else -2)
            words[_Q_MISLED] = min(max(misled, 0), _MOST_MISLED)
        return ahead >= words[_Q_LIMIT]

    @property
    def asks(self):
        """Whether the last sample was asked for."""
        return self._flat[_ASKING_WORDS][_Q_ASKS] == 1

    @property
    def is_misled(self):
        """Whether the model was wrong lately where it was certain, as behind a change."""
        return self._flat[_ASKING_WORDS][_Q_MISLED] >= _MISLED

    @property
    def seen(self):
        """Samples so far; halved at 2**29, as is their number that was asked for."""
        return self._flat[_ASKING_WORDS][_Q_SEEN]

    @property
    def questions(self):
        """How many of these were asked for."""
        return self._flat[_ASKING_WORDS][_Q_QUESTIONS]

    @property
    def saved(self):
        """How many may be asked for now, one after the other."""
        return self._flat[_ASKING_WORDS][_Q_SAVED]

    @property
    def threshold(self):
        """Below which margin a sample is uncertain, in 1/255 of all votes, rounded down."""
        return min(max(self._flat[_ASKING_WORDS][_Q_LIMIT] >> 16, 0), 255)


_EXAMPLE = array("i")
_TABLE = [
    ("asking.words", "i", _Q_WORDS),
    ("asking.rng", "i", RNG_WORDS),
    ("asking.surprise", "i", SURPRISE_WORDS),
    ("asking.doubt", "i", DOUBT_WORDS),
]

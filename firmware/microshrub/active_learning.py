"""QueryStrategy: which samples to query for their class, within a label budget.

It follows Zliobaite, Bifet, Pfahringer, Holmes: Active learning with drifting streaming data, IEEE
Transactions on Neural Networks and Learning Systems 2014, section IV: variable uncertainty with
randomisation, and some of the budget for samples drawn at random, as in their Split.

A sample is uncertain if its margin, the votes of the first class minus those of the second, is
below a threshold times a random number of 1/2..3/2. The threshold falls by s = 1/50 of all votes
with each uncertain sample, and rises by s * share with every sample: so about that share of the
samples is uncertain, for any distribution of margins.

Unlike in the paper, labels are saved for concept drift, when they are worth most. After the first
14,000 samples, uncertain samples get half of the budget, random samples a fifth, and the rest is
saved, up to the budget of 10,000 samples. While almost that much is saved, uncertain samples get
nine tenths. When uncertainty.py suspects drift, the next 100 samples are queried, or a quarter of
the saved budget if that is less, so that error_rise.py soon confirms it or not. When its sum is
above 3 bits, as many samples are queried as 100 samples earn, ten at most. When it
confirms drift, by 8 bits, or 4 if uncertainty rose in the last 1,000 samples, every sample is
queried: until errors are as usual again, or the budget is spent; if uncertainty has not risen,
until five eighths of the saved budget are left, since a rise of errors alone may be chance.

In the beginning every label counts, too: the queries of 2,000 samples, and at least 10, are made
in advance. Drift comes before anything is saved, too: for drift, and its suspicion, queries are
made in advance during the first 20,000 samples, so that those of 3,000 samples, and at least 10,
are owed in all; a suspicion gets a quarter of these. Until they are paid back, every second earned
query goes into that. So of n samples, at most n * budget are queried, and what is owed on top. If
n is at least 26,000, and what came after the first 20,000 has earned 20 queries, nothing is owed;
without an alarm, that is so from sample 4,000 on, if it has earned 20.

Buffers:

    query.words     'i'  the integers of query_rules.py
    query.rng       'i'  [2] of the random numbers
    query.errors  'i'  those of error_rise.py
    query.uncertainty     'i'  those of uncertainty.py
"""

from array import array

from micropython import const

from .buffers import Buffers, address_table, table_bytes
from .error_rise import ERROR_WORDS, add_label, errors_are_sound, start_again, start_errors
from .fixed import RNG_WORDS, seed_generator
from .learner import same_items, whole
from .query_rules import borrow, decide, margin
from .uncertainty import UNCERTAINTY_WORDS, uncertainty_is_sound, was_suspected

# From elsewhere, written by `make constants`:
# places of buffers
_QUERY_WORDS = const(0)
_QUERY_RNG = const(1)
_QUERY_ERRORS = const(2)
_QUERY_UNCERTAINTY = const(3)
# query_rules.py
_Q_SAVED = const(0)
_Q_NEXT = const(1)
_Q_OVER = const(1)
_Q_DRIFT = const(2)
_Q_LIMIT = const(2)
_Q_BEGINNING = const(3)
_Q_DEBT = const(3)
_Q_ASKS = const(4)
_Q_PHASE = const(5)
_Q_SEEN = const(6)
_Q_QUERIES = const(7)
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
_Q_CREDIT = const(22)
_Q_WORDS = const(23)
_Q_PROBE = const(100)
_Q_LENT = const(20000)
_Q_HIGHEST = const(33554432)
_Q_FULL = const(536870912)
# (end)

_AT_ONCE = const(10)  # queries in advance, at least,
_ADVANCE = const(2000)  # or those of so many samples
_CREDIT = const(3000)  # and those of so many, when drift is suspected
_SAVINGS = const(10000)  # samples whose queries may be saved
_CERTAIN = const(16056320)  # a margin of 245/255 of all votes
_MISLED = const(10)  # an error where it is certain counts 8, and fades by 2: more than one lately
_MOST_MISLED = const(40)  # 16 labels that were right, and it is not misled any more
_CONTRADICTED = const(8)  # an error where it is certain is so fresh: the last label, or nearly
_CHANGE = const(524288)  # 8 bits, Q16
_ODD = const(196608)  # 3 bits
_FOLLOWED = const(10)  # samples that are queried then, at most,
_SHARE_FOLLOWED = const(60)  # of what may be owed: what 100 samples earn
_LEARNING = const(40)  # the labels that the share of errors looks back over in the beginning
_STEP = const(334234)  # a fiftieth of all votes, which are about 65536 * 255


class QueryStrategy(Buffers):
    """Decides which samples to query: at most `labels` queries in `samples` samples.

    classes   2..256, as many as the learner has
    labels    1..samples queries in
    samples   1..2**29 samples, besides the advance at the beginning
    seed      0..2**30 - 1, of its own random numbers

    Raises ParameterError for other values.

        predicted = model.predict_next(x)
        if strategy.ask(model.votes):
            ...                                      # and when the person has answered
            strategy.note(model.votes, predicted != label)
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
        return "QueryStrategy classes=%d labels=%d samples=%d seed=%d" % (
            self.classes, self.labels, self.samples, self.seed,
        )  # fmt: skip

    def _table(self):
        return _TABLE

    def _start(self):
        words = self._flat[_QUERY_WORDS]
        words[_Q_SAVED] = max(_AT_ONCE, _ADVANCE * self.labels // self.samples)
        words[_Q_OWED] = 2 * words[_Q_SAVED]
        words[_Q_PHASE] = _Q_BEGINNING
        words[_Q_CREDIT] = 2 * max(_AT_ONCE, _CREDIT * self.labels // self.samples)
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
        seed_generator(self._flat[_QUERY_RNG], self.seed)
        start_errors(self._flat[_QUERY_ERRORS])
        self._addresses = address_table(self._flat)
        self._votes = ()  # that were checked last

    _FIXED = (
        ("query.words", range(_Q_LABELS, _Q_MISLED)),
        ("query.words", range(_Q_CREDIT, _Q_WORDS)),
    )

    def _is_sound(self):
        words, rng, errors, uncertainty = self._flat
        return (
            0 <= words[_Q_SAVED] <= words[_Q_MOST_SAVED]
            and 0 <= words[_Q_NEXT] < self.samples
            and -_STEP <= words[_Q_LIMIT] <= _Q_HIGHEST
            and 0 <= words[_Q_DEBT] < self.samples
            and 0 <= words[_Q_ASKS] <= 1
            and 0 <= words[_Q_PHASE] <= _Q_BEGINNING
            and 0 <= words[_Q_QUERIES] <= words[_Q_SEEN] <= _Q_FULL
            and 0 <= words[_Q_OWED] <= words[_Q_CREDIT]
            and 0 <= words[_Q_PROBES] <= _Q_PROBE
            and 0 <= words[_Q_KEPT] <= words[_Q_MOST_SAVED]
            and 0 <= words[_Q_MISLED] <= _MOST_MISLED
            and min(rng) >= 0
            and errors_are_sound(errors)
            and uncertainty_is_sound(uncertainty)
        )

    def _check(self, votes):
        if votes is not self._votes:
            if not same_items(votes, _EXAMPLE) or len(votes) != self.classes:
                raise ValueError("votes has to be array('i') of %d votes" % self.classes)
            self._votes = votes

    def ask(self, votes):
        """Whether to query the sample that a learner has just predicted with these votes.

        votes is array('i') with the votes for each class, 0..2**24. Allocates nothing.
        """
        self._check(votes)
        return decide(self._addresses, votes, self.classes) == 1

    def decline(self):
        """Take back the query for which ask() has just decided."""
        words = self._flat[_QUERY_WORDS]
        words[_Q_ASKS] = 0
        words[_Q_SAVED] += 1
        words[_Q_QUERIES] -= 1

    def note(self, votes, wrong):
        """Note, when the label has come, whether the prediction with these votes was wrong.

        Returns whether a drift contradicts predictions that were certain: see
        thicket/rehearsal.py. Allocates nothing.
        """
        self._check(votes)
        return self._judge(self._is_sure(votes, wrong), wrong)

    def _judge(self, sure, wrong):
        """Do the rest of note(), in two functions, as one with more variables would take heap."""
        errors = self._flat[_QUERY_ERRORS]
        phase = self._flat[_QUERY_WORDS][_Q_PHASE]
        if phase == _Q_BEGINNING:
            add_label(errors, sure, wrong, _LEARNING)
            return False
        if phase == _Q_DRIFT:
            if not add_label(errors, sure, wrong, 0):
                self._calm()
            return False
        if phase:
            start_again(errors)
            self._flat[_QUERY_WORDS][_Q_PHASE] = 0
        return self._respond(add_label(errors, sure, wrong), wrong)

    def _respond(self, bits, wrong):
        """Query all samples for a while if so many bits, Q16, say that errors have risen."""
        words = self._flat[_QUERY_WORDS]
        suspected = was_suspected(self._flat[_QUERY_UNCERTAINTY])
        if bits <= (_CHANGE >> 1 if suspected else _CHANGE):
            if wrong and bits > _ODD:
                self._follow()
            return False
        words[_Q_PHASE] = _Q_DRIFT
        words[_Q_KEPT] = 0 if suspected else words[_Q_SAVED] * 5 // 8
        borrow(self._addresses, words[_Q_CREDIT] >> 1)
        return words[_Q_MISLED] >= _CONTRADICTED

    def _calm(self):
        """Errors are as usual again: what was borrowed, and not needed, is given back."""
        words = self._flat[_QUERY_WORDS]
        words[_Q_PHASE] = _Q_OVER
        words[_Q_KEPT] = 0
        if words[_Q_SEEN] < _Q_LENT:
            back = min(words[_Q_SAVED], words[_Q_OWED] >> 1)
            words[_Q_SAVED] -= back
            words[_Q_OWED] -= 2 * back

    def _follow(self):
        """Errors are odd, so the next samples are queried."""
        words = self._flat[_QUERY_WORDS]
        most = min(_FOLLOWED, words[_Q_CREDIT] // _SHARE_FOLLOWED)
        borrow(self._addresses, most)
        words[_Q_PROBES] = max(words[_Q_PROBES], most)

    def _is_sure(self, votes, wrong):
        """Whether the sample was too certain to be queried; notes if it was wrong."""
        words = self._flat[_QUERY_WORDS]
        ahead = margin(votes, self.classes)
        if ahead >= _CERTAIN:
            misled = words[_Q_MISLED] + (8 if wrong else -2)
            words[_Q_MISLED] = min(max(misled, 0), _MOST_MISLED)
        return ahead >= words[_Q_LIMIT]

    @property
    def asks(self):
        """Whether the last sample is queried."""
        return self._flat[_QUERY_WORDS][_Q_ASKS] == 1

    @property
    def is_misled(self):
        """Whether the model was wrong lately where it was certain, as after drift."""
        return self._flat[_QUERY_WORDS][_Q_MISLED] >= _MISLED

    @property
    def seen(self):
        """Samples so far; halved at 2**29, as is the number of queries."""
        return self._flat[_QUERY_WORDS][_Q_SEEN]

    @property
    def queries(self):
        """How many of these were queried."""
        return self._flat[_QUERY_WORDS][_Q_QUERIES]

    @property
    def saved(self):
        """How many samples may be queried now, one after the other."""
        return self._flat[_QUERY_WORDS][_Q_SAVED]

    @property
    def threshold(self):
        """The margin below which a sample is uncertain, in 1/255 of all votes, rounded down."""
        return min(max(self._flat[_QUERY_WORDS][_Q_LIMIT] >> 16, 0), 255)


_EXAMPLE = array("i")
_TABLE = [
    ("query.words", "i", _Q_WORDS),
    ("query.rng", "i", RNG_WORDS),
    ("query.errors", "i", ERROR_WORDS),
    ("query.uncertainty", "i", UNCERTAINTY_WORDS),
]

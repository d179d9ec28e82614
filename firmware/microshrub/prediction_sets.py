"""Guarantee: prediction sets that hold the true class with the chosen frequency, on any stream.

Adaptive conformal inference (Gibbs and Candes, Adaptive conformal inference under distribution
shift, NeurIPS 2021): a class is in the set if its votes are at least some part of the most votes.
A label that was in its set raises a threshold by 100 - percent steps, and a label that was not
lowers it by `percent` steps. Below 0 all classes are in the set, above 1 none is: so the threshold
moves by less than 18,284 steps in all, and over any 500 labels in a row, the coverage is within
two points of `percent`. A model that is right more often than that has an empty set now and then.

Such large steps make the sets of a steady model larger than they need to be. So the part is the
square of a usual part, which moves a quarter as fast: each label shows which part would have been
enough. The threshold moves it from there to 0 or 1: halfway it changes nothing, and it changes
more the farther it is from there (with the square).

The confidence is calibrated as well (histogram binning: Zadrozny and Elkan, Obtaining calibrated
probability estimates, ICML 2001): for each eighth in which the most votes can lie, it is the
recent share of right predictions, in which each label has a 64th of the weight.

Without labels, both stay as they are.
"""

from micropython import const

from .buffers import Buffers
from .learner import whole

_G_THRESHOLD = const(0)  # times 16384
_G_USUAL = const(1)  # likewise: the root of the usual part
_G_LABELS = const(2)  # labels so far,
_G_COVERED = const(3)  # and labels that were in their set
_G_SETS = const(4)
_G_CLASSES = const(5)  # in all of them
_G_UNSURE = const(6)  # sets of more than one class
_G_SURE = const(7)  # how likely the last prediction is right, times 65536
_G_WORDS = const(8)

_GUARANTEE_WORDS = const(0)
_GUARANTEE_SET = const(1)
_GUARANTEE_RIGHT = const(2)
_G_EIGHTHS = const(8)  # of the votes
_G_HALF = const(8192)
_G_ONE = const(16384)
_G_STEP = const(19)  # 18,284 / (500 * 19) is less than two points
_G_SLOW = const(4)  # steps of the usual part
_G_MOST = const(1048576)  # sets; then all counts are halved
_G_BITS = const(30)  # classes in a word of the link


class Guarantee(Buffers):
    """Watches a learner of classes; see device/watchers.py.

    features, classes  of the learner
    percent            50..99, how many percent of the sets contain the true class

    Raises ParameterError for other values.
    """

    def __init__(self, features, classes, percent=90):
        self.classes = whole("classes", classes, 2, 256)
        self.percent = whole("percent", percent, 50, 99)
        self._allocate()

    def configuration(self):
        """All parameters as one line of text."""
        return "Guarantee classes=%d percent=%d" % (self.classes, self.percent)

    def _table(self):
        return [
            ("guarantee.words", "i", _G_WORDS),
            ("guarantee.set", "B", self.classes),
            ("guarantee.right", "H", _G_EIGHTHS),
        ]

    def _start(self):
        self._flat[_GUARANTEE_WORDS][_G_THRESHOLD] = _G_HALF
        self._flat[_GUARANTEE_WORDS][_G_USUAL] = _G_HALF
        for k in range(_G_EIGHTHS):  # until labels tell more: what the votes say
            self._flat[_GUARANTEE_RIGHT][k] = 8192 * k + 4096

    def _is_sound(self):
        words = self._flat[_GUARANTEE_WORDS]
        return (
            -_G_STEP * 100 <= words[_G_THRESHOLD] <= _G_ONE + _G_STEP * 100
            and 0 <= words[_G_USUAL] <= _G_ONE
            and 0 <= words[_G_COVERED] <= words[_G_LABELS] <= 2 * _G_MOST
            and 0 <= words[_G_UNSURE] <= words[_G_SETS] <= _G_MOST
            and 0 <= words[_G_CLASSES] <= self.classes * _G_MOST
            and 0 <= words[_G_SURE] <= 65535
            and max(self._flat[_GUARANTEE_SET]) <= 1
        )

    def look(self, x, votes, predicted, label):
        """Make the set of a sample with these votes, which sum up to 2**24 at most.

        Takes the label, too, unless it is -1. Returns how many classes are in the set, 0..255.
        Allocates nothing.
        """
        size = self._choose(votes)
        self._count(size, votes)
        if label >= 0:
            self.late(votes, predicted, label)
        return min(size, 255)

    def _choose(self, votes):
        """Make the set; returns how many classes are in it."""
        members = self._flat[_GUARANTEE_SET]
        limit = self.limit(votes)
        size = c = 0
        while c < self.classes:
            members[c] = int(votes[c] >> 9 >= limit)
            size += members[c]
            c += 1
        return size

    def _count(self, size, votes):
        words = self._flat[_GUARANTEE_WORDS]
        if words[_G_SETS] >= _G_MOST:
            for k in range(_G_LABELS, _G_SURE):
                words[k] >>= 1
        words[_G_SURE] = self._flat[_GUARANTEE_RIGHT][_eighth(votes)]
        words[_G_SETS] += 1
        words[_G_CLASSES] += size
        words[_G_UNSURE] += int(size > 1)

    def late(self, votes, predicted, label):
        """Take the label of an earlier sample, which has these votes now. Allocates nothing."""
        vote = votes[label] >> 9
        self._cover(vote >= self.limit(votes))
        self._settle(vote >= self._usual() * (max(votes) >> 9) >> 14)
        self._weigh(_eighth(votes), predicted == label)

    def _cover(self, covered):
        """Count a label that was in its set, or was not."""
        words = self._flat[_GUARANTEE_WORDS]
        if words[_G_LABELS] >= 2 * _G_MOST:  # many of no set, which came late
            words[_G_LABELS] >>= 1
            words[_G_COVERED] >>= 1
        words[_G_LABELS] += 1
        words[_G_COVERED] += int(covered)
        words[_G_THRESHOLD] += _G_STEP * (100 - self.percent if covered else -self.percent)

    def _settle(self, covered):
        """Move the usual part up or down, as it would have been enough for the label or not."""
        words = self._flat[_GUARANTEE_WORDS]
        usual = words[_G_USUAL] + _G_SLOW * (100 - self.percent if covered else -self.percent)
        words[_G_USUAL] = min(max(usual, 0), _G_ONE)

    def _usual(self):
        """The usual part of the most votes, times 16384."""
        usual = self._flat[_GUARANTEE_WORDS][_G_USUAL]
        return usual * usual >> 14

    def _weigh(self, k, was_right):
        """Update the share of right predictions among those with votes like these."""
        right = self._flat[_GUARANTEE_RIGHT]
        right[k] += 65535 - right[k] >> 6 if was_right else -(right[k] >> 6)

    @property
    def confidence(self):
        """How likely the last prediction is right, 0..255."""
        return self._flat[_GUARANTEE_WORDS][_G_SURE] >> 8

    def limit(self, votes):
        """The least votes of a class in the set, in 1/32768 of all votes."""
        most = max(votes) >> 9
        threshold = max(self._flat[_GUARANTEE_WORDS][_G_THRESHOLD], 0)
        if threshold > _G_ONE:
            return most + 1
        off = 2 * threshold - _G_ONE
        part = self._usual()
        room = _G_ONE - part if off > 0 else -part
        part += room * (off * off >> 14) >> 14
        return part * most >> 14  # <= 2**14 * 2**15

    def holds(self, label):
        """Whether the last set has the class."""
        return self._flat[_GUARANTEE_SET][label] == 1

    def tell(self, words):
        """Fill the words of the link's answer; returns how many.

        They are counts, the last prediction's confidence in 1/65536, and its set.
        """
        n = 0
        while n < _G_WORDS - _G_LABELS:
            words[n] = self._flat[_GUARANTEE_WORDS][n + _G_LABELS]
            n += 1
        begin = 0
        while begin < self.classes:
            words[n] = self._bits(begin)
            n += 1
            begin += _G_BITS
        return n

    def _bits(self, begin):
        """The members of the set from a class on, within 30 bits with a sign."""
        members = self._flat[_GUARANTEE_SET]
        bits = 0
        c = min(begin + _G_BITS, self.classes)
        while c > begin:
            c -= 1
            bits = bits << 1 | members[c]
        return bits - (1 << 29)


def _eighth(votes):
    return min(max(votes) >> 21, _G_EIGHTHS - 1)

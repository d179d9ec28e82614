"""Sets of classes that hold the true one as often as was asked for, whatever the stream does.

Adaptive conformal inference (Gibbs and Candes, Adaptive conformal inference under distribution
shift, NeurIPS 2021): a class is in the set if its votes are at least some part of the most. A
label that was in its set raises a threshold by 100 - percent steps, one that was not lowers it by
`percent`. Below 0 all classes are in the set, above 1 there is none: so it moves by less than
18,284 steps in all, and over any 500 labels in a row, the share that was in its set is within two
points of what was asked for. A model that is right more often than that has sets with no class in
them now and then.

Steps as large as that make the sets of a steady model larger than they need to be. So the part is
the square of a usual one, which moves a quarter as fast and is told by the same labels what would
have been enough. The threshold takes it from there to 0 or 1: half way it changes nothing, and the
farther it is from there, the more (with its square).

Beside it, the confidence is calibrated (histogram binning: Zadrozny and Elkan, Obtaining
calibrated probability estimates, ICML 2001): for each eighth in which the most votes can lie, how
often such a prediction was right lately, each label with a 64th of the weight.

Without labels, both stay as they are.
"""

from micropython import const

from .buffers import Buffers
from .learner import whole

_G_THRESHOLD = const(0)  # times 16384
_G_USUAL = const(1)  # likewise: the root of the part that is usual
_G_TOLD = const(2)  # labels that came,
_G_COVERED = const(3)  # and those that were in their set
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
    """Beside a learner of classes; see device/beside.py.

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
            and 0 <= words[_G_COVERED] <= words[_G_TOLD] <= 2 * _G_MOST
            and 0 <= words[_G_UNSURE] <= words[_G_SETS] <= _G_MOST
            and 0 <= words[_G_CLASSES] <= self.classes * _G_MOST
            and 0 <= words[_G_SURE] <= 65535
            and max(self._flat[_GUARANTEE_SET]) <= 1
        )

    def look(self, x, votes, said, label):
        """Make the set of a sample with these votes, which sum up to 2**24 at most.

        label is told at once, unless it is -1. Returns how many classes are in the set, 0..255.
        Allocates nothing.
        """
        size = self._choose(votes)
        self._count(size, votes)
        if label >= 0:
            self.told(votes, said, label)
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
            for k in range(_G_TOLD, _G_SURE):
                words[k] >>= 1
        words[_G_SURE] = self._flat[_GUARANTEE_RIGHT][_eighth(votes)]
        words[_G_SETS] += 1
        words[_G_CLASSES] += size
        words[_G_UNSURE] += int(size > 1)

    def told(self, votes, said, label):
        """Take the label of a sample with these votes. Allocates nothing."""
        own = votes[label] >> 9
        self._cover(own >= self.limit(votes))
        self._settle(own >= self._usual() * (max(votes) >> 9) >> 14)
        self._weigh(_eighth(votes), said == label)

    def _cover(self, covered):
        """Count a label that was in its set, or was not."""
        words = self._flat[_GUARANTEE_WORDS]
        if words[_G_TOLD] >= 2 * _G_MOST:  # many of no set, which came late
            words[_G_TOLD] >>= 1
            words[_G_COVERED] >>= 1
        words[_G_TOLD] += 1
        words[_G_COVERED] += int(covered)
        words[_G_THRESHOLD] += _G_STEP * (100 - self.percent if covered else -self.percent)

    def _settle(self, covered):
        """Move the usual part: would it have held the label?"""
        words = self._flat[_GUARANTEE_WORDS]
        usual = words[_G_USUAL] + _G_SLOW * (100 - self.percent if covered else -self.percent)
        words[_G_USUAL] = min(max(usual, 0), _G_ONE)

    def _usual(self):
        """The part of the most votes that is usual, times 16384."""
        usual = self._flat[_GUARANTEE_WORDS][_G_USUAL]
        return usual * usual >> 14

    def _weigh(self, k, was_right):
        """Move how many predictions with votes like these are right."""
        right = self._flat[_GUARANTEE_RIGHT]
        right[k] += 65535 - right[k] >> 6 if was_right else -(right[k] >> 6)

    @property
    def confidence(self):
        """How likely the last prediction is right, 0..255."""
        return self._flat[_GUARANTEE_WORDS][_G_SURE] >> 8

    def limit(self, votes):
        """What a class of the set has to have of these votes at least, in 1/32768 of all."""
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
        while n < _G_WORDS - _G_TOLD:
            words[n] = self._flat[_GUARANTEE_WORDS][n + _G_TOLD]
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

"""What happened while nobody listened: a ring of the last events of a board in a house."""

from array import array

from micropython import const

from ..learner import whole

STATE = const(0)  # kinds: another class,
DRIFT = const(1)  # a drift began,
DRIFT_OVER = const(2)  # and is over,
ANOMALY = const(3)  # samples became unlike the others,
ANOMALY_OVER = const(4)  # and are like them again,
QUESTION = const(5)  # the class of a sample is asked for,
NEW = const(6)  # and a name for what is new

_KIND = const(0)  # words of an event: its kind and class, what names its sample, its second
_EPOCH = const(1)
_NUMBER = const(2)
_SECOND = const(3)
_WORDS = const(4)


class Events:
    """The last `room` events, 1..1024, oldest first: 16 bytes each. Allocates nothing."""

    def __init__(self, room):
        self._room = whole("events", room, 1, 1024)
        self._ring = array("i", [0] * (_WORDS * room))
        self._first = 0
        self.held = 0
        self.lost = 0  # for which there was no room, at most 2**29

    def add(self, kind, label, epoch, number, second):
        """Add one; the oldest makes room for it. Returns whether one was lost."""
        lost = self.held == self._room
        if lost:
            self.drop()
            self.lost = min(self.lost + 1, 1 << 29)
        at = _WORDS * ((self._first + self.held) % self._room)
        self._ring[at + _KIND] = kind << 9 | (label + 1)
        self._ring[at + _EPOCH] = epoch
        self._ring[at + _NUMBER] = number
        self._ring[at + _SECOND] = second
        self.held += 1
        return lost

    def drop(self):
        """Let go of the oldest."""
        self._first = (self._first + 1) % self._room
        self.held -= 1

    # The oldest one

    @property
    def kind(self):
        return self._word(_KIND) >> 9

    @property
    def label(self):
        """The class, -1 for none."""
        return (self._word(_KIND) & 511) - 1

    @property
    def epoch(self):
        return self._word(_EPOCH)

    @property
    def number(self):
        """The id of its sample."""
        return self._word(_NUMBER)

    @property
    def second(self):
        """When it was, in seconds since the start."""
        return self._word(_SECOND)

    def _word(self, k):
        return self._ring[_WORDS * self._first + k]

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

KIND = const(0)  # words of an event, 16 bits each: its kind and class, what names its sample,
EPOCH = const(1)
NUMBER = const(2)
SECOND = const(3)  # and its second, in two words
_REST = const(4)
_WORDS = const(5)


class Events:
    """The last `room` events, 1..1024, oldest first: 10 bytes each. Allocates nothing."""

    def __init__(self, room):
        self._ring = array("H", [0] * (_WORDS * whole("events", room, 1, 1024)))
        self._first = 0  # word of the oldest one
        self.held = 0
        self.lost = 0  # for which there was no room, at most 2**29

    def add(self, kind, label, epoch, number, second):
        """Add one; the oldest makes room for it. Returns whether one was lost."""
        ring = self._ring
        lost = _WORDS * self.held == len(ring)
        if lost:
            self.drop()
            self.lost = min(self.lost + 1, 1 << 29)
        at = (self._first + _WORDS * self.held) % len(ring)
        ring[at] = kind << 9 | (label + 1)
        ring[at + EPOCH] = epoch
        ring[at + NUMBER] = number
        ring[at + SECOND] = second >> 16
        ring[at + _REST] = second & 65535
        self.held += 1
        return lost

    def drop(self):
        """Let go of the oldest."""
        self._first = (self._first + _WORDS) % len(self._ring)
        self.held -= 1

    def word(self, k):
        """A word of the oldest one."""
        return self._ring[self._first + k]

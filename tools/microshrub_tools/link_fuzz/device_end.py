"""The device's side of a check of the serial link, which knows all requests in advance.

Request k and the answer to it follow from k. This file runs on CPython and on MicroPython. On
MicroPython it is the program, which serves the link on standard input and output, with the heap
locked.
"""

import sys
from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from typing import Any

FEATURES, CLASSES = 5, 7
HASH = 0xC0FFEE11
_LATE = 5  # one of five requests is the label of an earlier sample
_FACTORS = (1, -1, 40503, -3, 0)


def is_late(k: int) -> bool:
    """Return whether request k is the label of an earlier sample."""
    return k % _LATE == 0


def value_of(k: int, feature: int) -> int:
    """Return a value of the sample of request k."""
    return k % 8192 * _FACTORS[feature]


def label_of(k: int) -> int:
    """Return the label of request k's sample, -1 for none; a late label is k % CLASSES."""
    return k % (CLASSES + 1) - 1


def prediction_of(k: int) -> int:
    """Return the prediction in the answer to request k."""
    return k * 3 % CLASSES


class CheckingApplication:
    """The application of a Link. `applied` counts requests, `wrong` counts those out of order."""

    features = FEATURES
    classes = CLASSES
    hash = HASH

    def __init__(self) -> None:
        self.values = array("i", [0] * FEATURES)
        self.applied = 0
        self.wrong = 0
        self.sample_id = 0
        self.confidence = 0
        self.more: dict[int, object] = {}

    def sample(self, label: int) -> int:
        """Check the sample, and return the prediction for it."""
        k = self.applied
        right = not is_late(k) and label == label_of(k)
        for f in range(FEATURES):
            right = right and self.values[f] == value_of(k, f)
        self._count(right)
        self.sample_id = k % 65536
        self.confidence = k % 256
        return prediction_of(k)

    def label(self, sample_id: int, label: int) -> None:
        """Check a late label."""
        k = self.applied
        self._count(is_late(k) and sample_id == k % 65536 and label == k % CLASSES)

    def status(self, words: "array[int]") -> None:
        """Put the count of applied requests, and of right ones, into words."""
        words[0] = self.applied
        words[1] = self.applied - self.wrong

    def _count(self, right: bool) -> None:
        self.wrong += not right
        self.applied += 1


def _serve(link: "Any", lock: "Any", source: "Any") -> None:
    piece = bytearray(1)
    lock.heap_lock()
    while source.readinto(piece):
        link.feed(piece, 1)


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import micropython

    from microshrub.device.link import Link

    device: "Any" = Link
    _serve(device(CheckingApplication(), sys.stdout.buffer.write), micropython, sys.stdin.buffer)

"""The last samples in a ring, 8 bits a code, one sample after the other.

Buffers of a ring (the first three of the table of every learner that stands on one):

    ring.shape   'i'  the integers below
    ring.codes   'B'  codes[b * features + f]: the upper 8 bits of feature f's code of sample b
    ring.labels  'B'  labels[b]

A sample's place b is its index everywhere. Taking one in costs O(features), however long the ring.
"""

import micropython
from micropython import const

_SHAPE = const(0)  # of the table
_CODES = const(1)
_LABELS = const(2)

_LENGTH = const(0)  # of the shape: places, 1..65535
_FEATURES = const(1)
_CLASSES = const(2)
_HELD = const(3)  # samples held so far, 0..length
_HEAD = const(4)  # where the next sample goes
_WORDS = const(5)


def ring_table(features, length):
    """The buffers of a ring of that many samples."""
    return [
        ("ring.shape", "i", _WORDS),
        ("ring.codes", "B", features * length),
        ("ring.labels", "B", length),
    ]


def start_ring(t, features, classes, length):
    """Make the ring at the head of the table t an empty one."""
    shape = t[_SHAPE]
    shape[_LENGTH] = length
    shape[_FEATURES] = features
    shape[_CLASSES] = classes


@micropython.viper
def take(t, rows, at: int, label: int):
    """Take in the sample whose codes start at rows[at]; a full ring drops its oldest one."""
    shape = ptr32(t[_SHAPE])
    codes = ptr8(t[_CODES])
    labels = ptr8(t[_LABELS])
    x = ptr16(rows)
    features = shape[_FEATURES]
    head = shape[_HEAD]
    first = head * features  # < 65535 * 256 < 2**24
    for f in range(features):
        codes[first + f] = x[at + f] >> 8
    labels[head] = label
    head += 1
    if head > shape[_HELD]:
        shape[_HELD] = head
    shape[_HEAD] = head if head < shape[_LENGTH] else 0

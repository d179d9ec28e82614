"""A ring of the last samples, with 8 bits per code.

Buffers of a ring (the first three in the table of every learner that uses one):

    ring.shape   'i'  the integers below
    ring.codes   'B'  codes[b * features + f]: the upper 8 bits of feature f's code of sample b
    ring.labels  'B'  labels[b]

A sample's place b is its index everywhere. Taking in a sample costs O(features), whatever the
ring's length.
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_RING_CODES = const(1)
_RING_LABELS = const(2)
# (end)


_R_LENGTH = const(0)  # from here on, words of the shape: places, 1..65535
_R_FEATURES = const(1)
_R_CLASSES = const(2)
_R_HELD = const(3)  # samples held so far, 0..length
_R_HEAD = const(4)  # where the next sample goes
_WORDS = const(5)


def ring_table(features, length):
    """Describe the buffers of a ring of `length` samples."""
    return [
        ("ring.shape", "i", _WORDS),
        ("ring.codes", "B", features * length),
        ("ring.labels", "B", length),
    ]


def start_ring(b, features, classes, length):
    """Empty the ring at the head of the table."""
    shape = b[_RING_SHAPE]
    shape[_R_LENGTH] = length
    shape[_R_FEATURES] = features
    shape[_R_CLASSES] = classes


@micropython.viper
def take(t, rows, at: int, label: int) -> int:
    """Take in the sample whose codes start at rows[at]; returns its place.

    A full ring drops its oldest sample.
    """
    address = ptr32(t)
    shape = ptr32(address[_RING_SHAPE])
    codes = ptr8(address[_RING_CODES])
    labels = ptr8(address[_RING_LABELS])
    x = ptr16(rows)
    features = shape[_R_FEATURES]
    head = shape[_R_HEAD]
    first = head * features  # < 65535 * 256 < 2**24
    for f in range(features):
        codes[first + f] = x[at + f] >> 8
    labels[head] = label
    after = head + 1
    if after > shape[_R_HELD]:
        shape[_R_HELD] = after
    shape[_R_HEAD] = after if after < shape[_R_LENGTH] else 0
    return head

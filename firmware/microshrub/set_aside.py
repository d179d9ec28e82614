"""New samples in a ring of their own, until they get a label together.

With every eighth sample that is not new, the oldest of them is dropped. So single ones come and
go, while a new state fills the ring. The buffers are those of newcomers.py.
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_NEWCOMERS_WORDS = const(0)
_NEWCOMERS_SAMPLE = const(2)
_NEWCOMERS_RING = const(5)
_NEWCOMERS_X = const(6)
# newcomers.py
_N_FADE = const(5)
_RING_HEAD = const(6)
_RING_HELD = const(7)
_N_GIVEN = const(8)
_N_LABEL = const(9)
_N_FEATURES = const(12)
_N_ROOM = const(15)
# (end)

_PATIENCE = const(8)  # samples that are not new until one that is, is dropped


@micropython.viper
def collect(t, rows, at: int):
    """Put a sample into the ring, in the place of the oldest one if it is full."""
    address = ptr32(t)
    words = ptr32(address[_NEWCOMERS_WORDS])
    ring = ptr16(address[_NEWCOMERS_RING])
    x = ptr16(rows)
    features = words[_N_FEATURES]
    head = words[_RING_HEAD]
    first = head * features  # < 256 * 256
    for f in range(features):
        ring[first + f] = x[at + f]
    head += 1
    words[_RING_HEAD] = head if head < words[_N_ROOM] else 0
    if words[_RING_HELD] < words[_N_ROOM]:
        words[_RING_HELD] = words[_RING_HELD] + 1
    elif words[_N_GIVEN]:
        words[_N_GIVEN] = words[_N_GIVEN] - 1
    words[_N_FADE] = 0


@micropython.viper
def fade(t):
    """Count a sample that is not new; with each eighth, the oldest that waits for a label goes."""
    words = ptr32(ptr32(t)[_NEWCOMERS_WORDS])
    words[_N_FADE] = words[_N_FADE] + 1
    if words[_N_FADE] >= _PATIENCE:
        words[_N_FADE] = 0
        if words[_RING_HELD] and not words[_N_GIVEN]:
            words[_RING_HELD] = words[_RING_HELD] - 1


@micropython.viper
def take(t) -> int:
    """Take the oldest new sample that has a label out of the ring, to newcomers.x and sample.

    Returns the label, -1 if there is none.
    """
    address = ptr32(t)
    words = ptr32(address[_NEWCOMERS_WORDS])
    if not words[_N_GIVEN]:
        return -1
    ring = ptr16(address[_NEWCOMERS_RING])
    x = ptr16(address[_NEWCOMERS_X])
    sample = ptr8(address[_NEWCOMERS_SAMPLE])
    features = words[_N_FEATURES]
    place = words[_RING_HEAD] - words[_RING_HELD]
    if place < 0:
        place += words[_N_ROOM]
    first = place * features
    for f in range(features):
        x[f] = ring[first + f]
        sample[f] = x[f] >> 8
    words[_RING_HELD] = words[_RING_HELD] - 1
    words[_N_GIVEN] = words[_N_GIVEN] - 1
    return words[_N_LABEL]

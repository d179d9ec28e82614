"""A memory of labelled samples, balanced over all classes, and a sample's distance from it.

Once the memory is full, each new sample replaces an old sample of the largest class. With
d the mean distance from the three nearest samples, the distance being the sum of |code - code|
over the features in codes of 8 bits, and r = reach * features, the score is

    32 log2((r + d) / r)      32 more is twice as far

So a rare class is as well known as a frequent one, unlike with the density of
anomaly_distance.py. d stays in novelty.words. The buffers are those of novelty_detection.py.
"""

import micropython
from micropython import const

from .fixed import log2

# From elsewhere, written by `make constants`:
# places of buffers
_NOVELTY_WORDS = const(0)
_NOVELTY_CODES = const(1)
_NOVELTY_SAMPLE = const(2)
_NOVELTY_LABELS = const(3)
_NOVELTY_COUNTS = const(4)
# novelty_detection.py
_N_HELD = const(2)
_N_HAND = const(3)
_N_AWAY = const(4)
_N_WINDOW = const(20)
_N_FEATURES = const(21)
_N_NEAR = const(22)
_N_CLASSES = const(23)
# (end)

_AFAR = const(65536)  # above any distance


@micropython.viper
def nearest(away: int, gap: int, i: int, t) -> int:
    """The sum of the three smallest distances of novelty.sample from samples in the memory.

    The hot variables come as arguments, 0 each: viper keeps the first three in registers.
    """
    address = ptr32(t)
    words = ptr32(address[_NOVELTY_WORDS])
    codes = ptr8(address[_NOVELTY_CODES])
    sample = ptr8(address[_NOVELTY_SAMPLE])
    features = words[_N_FEATURES]
    least = _AFAR
    second = _AFAR
    third = _AFAR
    first = 0
    for _ in range(words[_N_HELD]):
        away = 0  # <= 256 * 255 < 2**16
        i = 0
        while i < features:
            gap = codes[first + i] - sample[i]
            if gap < 0:
                away -= gap
            else:
                away += gap
            i += 1
        first += features
        if away < third:
            third = away
            if away < second:
                third = second
                second = away
                if away < least:
                    second = least
                    least = away
    return least + second + third


@micropython.viper
def height_of(t, rows, at: int) -> int:
    """The distance of the sample at rows[at] from the memory, in 1/16384 octaves; 0 if empty."""
    address = ptr32(t)
    words = ptr32(address[_NOVELTY_WORDS])
    sample = ptr8(address[_NOVELTY_SAMPLE])
    x = ptr16(rows)
    for f in range(words[_N_FEATURES]):
        sample[f] = x[at + f] >> 8
    words[_N_AWAY] = 0
    if words[_N_HELD] < 3:
        return 0
    near = words[_N_NEAR] * 3  # <= 3 * 32 * 256
    away = int(nearest(0, 0, 0, t))  # < 3 * 2**16
    words[_N_AWAY] = away // 3
    height = (int(log2(near + away)) - int(log2(near))) << 1
    return height if height > 0 else 0  # log2 is off by up to 6 / 16384


@micropython.viper
def keep(t, label: int):
    """Take novelty.sample into the memory with its label.

    If the memory is full, it replaces a sample of the largest class; at a tie, of its own class.
    """
    address = ptr32(t)
    words = ptr32(address[_NOVELTY_WORDS])
    codes = ptr8(address[_NOVELTY_CODES])
    sample = ptr8(address[_NOVELTY_SAMPLE])
    labels = ptr8(address[_NOVELTY_LABELS])
    counts = ptr16(address[_NOVELTY_COUNTS])
    features = words[_N_FEATURES]
    window = words[_N_WINDOW]
    place = words[_N_HELD]
    if place < window:
        words[_N_HELD] = place + 1
    else:
        most = label
        for c in range(words[_N_CLASSES]):
            if counts[c] > counts[most]:
                most = c
        place = words[_N_HAND]
        while labels[place] != most:
            place += 1
            if place == window:
                place = 0
        words[_N_HAND] = place + 1 if place + 1 < window else 0
        counts[most] = counts[most] - 1
    first = place * features  # < 1000 * 256
    for f in range(features):
        codes[first + f] = sample[f]
    labels[place] = label
    counts[label] = counts[label] + 1


@micropython.viper
def relabel(t, label: int, to: int):
    """Move the samples of a class in the memory to another class; -1: remove them."""
    address = ptr32(t)
    words = ptr32(address[_NOVELTY_WORDS])
    codes = ptr8(address[_NOVELTY_CODES])
    labels = ptr8(address[_NOVELTY_LABELS])
    counts = ptr16(address[_NOVELTY_COUNTS])
    features = words[_N_FEATURES]
    left = 0
    for place in range(words[_N_HELD]):
        own = labels[place]
        if own == label:
            own = to
        if own >= 0:
            labels[left] = own
            if left < place:
                for f in range(features):
                    codes[left * features + f] = codes[place * features + f]
            left += 1
    words[_N_HELD] = left
    words[_N_HAND] = 0
    moved = counts[label]
    counts[label] = 0
    if to >= 0:
        counts[to] = counts[to] + moved

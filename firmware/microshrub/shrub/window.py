"""The last B samples in a ring, and for each feature their order by value, kept sorted.

Buffers of a window, in this order, "window.shape" and so on:

    shape    'i'  the integers below
    codes    'B'  one or two bytes an entry: codes[f * B + b] is feature f of sample b
    labels   'B'  labels[b]
    order    'B'  one or two bytes an entry: order[f * B + r] is the sample of rank r by feature f;
                  empty when nothing needs the order

A sample's place b in the ring is its index everywhere. One leaving and one entering sample cost
O(features * B) moves (Shrub Ensembles, Algorithm 1, lines 3 to 5).
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_WINDOW_SHAPE = const(5)
_WINDOW_CODES = const(6)
_WINDOW_LABELS = const(7)
_WINDOW_ORDER = const(8)
# (end)

_W_WINDOW = const(0)  # B, 2..1024
_W_FEATURES = const(1)
_W_SIZE = const(2)  # samples held so far, 0..B
_W_HEAD = const(3)  # where the next sample goes
_W_WIDE_CODES = const(4)  # 1: codes have 16 bits, 0: 8 bits
_W_WIDE_ORDER = const(5)  # 1: sample indices have 16 bits, 0: 8 bits
_W_SORTED = const(6)  # 1: the order is kept
_WORDS = const(7)


def window_table(features, window, feature_bits, keep_order):
    """The buffers of a window of that many samples."""
    index_bytes = 2 if window > 256 else 1
    return [
        ("window.shape", "i", _WORDS),
        ("window.codes", "B", features * window * feature_bits // 8),
        ("window.labels", "B", window),
        ("window.order", "B", features * window * index_bytes if keep_order else 0),
    ]


def start_window(b, features, window, feature_bits):
    """Make the window empty; b are the learner's buffers."""
    shape = b[_WINDOW_SHAPE]
    shape[_W_WINDOW] = window
    shape[_W_FEATURES] = features
    shape[_W_WIDE_CODES] = int(feature_bits == 16)
    shape[_W_WIDE_ORDER] = int(window > 256)
    shape[_W_SORTED] = int(len(b[_WINDOW_ORDER]) > 0)


@micropython.viper
def slide(t, rows, at: int, label: int) -> int:
    """Take in the sample whose codes start at rows[at], array('H'); returns its place in the ring.

    A full window drops its oldest sample, whose place the new one takes. In each feature's order
    the place moves from the old rank to the new one, which is found by halving, and the samples in
    between make room.
    """
    address = ptr32(t)
    shape = ptr32(address[_WINDOW_SHAPE])
    codes8 = ptr8(address[_WINDOW_CODES])
    codes16 = ptr16(address[_WINDOW_CODES])
    labels = ptr8(address[_WINDOW_LABELS])
    order8 = ptr8(address[_WINDOW_ORDER])
    order16 = ptr16(address[_WINDOW_ORDER])
    x = ptr16(rows)
    window = shape[_W_WINDOW]
    size = shape[_W_SIZE]
    place = shape[_W_HEAD]
    wide = shape[_W_WIDE_CODES]
    wide_order = shape[_W_WIDE_ORDER]
    full = int(size == window)
    base = 0
    for f in range(shape[_W_FEATURES]):
        code = x[at + f]
        if not wide:
            code = code >> 8
        old = 65536
        if full:
            old = codes16[base + place] if wide else codes8[base + place]
        if code != old and shape[_W_SORTED]:
            if not full:
                if wide_order:
                    order16[base + size] = place
                else:
                    order8[base + size] = place
            limit = code if code < old else code - 1  # of the codes that it goes behind
            r = base
            left = size
            while left:
                half = (left + 1) >> 1
                b = order16[r + half - 1] if wide_order else order8[r + half - 1]
                r += half if (codes16[base + b] if wide else codes8[base + b]) <= limit else 0
                left -= half
            step = 1
            if code > old:  # which is one of them
                step = -1
                r -= 1
            moved = place
            b = -1
            while b != place:
                b = order16[r] if wide_order else order8[r]
                if wide_order:
                    order16[r] = moved
                else:
                    order8[r] = moved
                moved = b
                r += step
        if wide:
            codes16[base + place] = code
        else:
            codes8[base + place] = code
        base += window
    labels[place] = label
    if not full:
        shape[_W_SIZE] = size + 1
    place_after = place + 1
    shape[_W_HEAD] = place_after if place_after < window else 0
    return place

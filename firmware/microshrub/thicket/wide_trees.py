"""Trees of more than 128 leaves, whose nodes and leaves have numbers of 16 bits.

A program whose trees have fewer leaves is built without the functions here and in lookback.py, and
reports an error if it has to make larger trees.
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_GROVE_STATE = const(3)
_GROVE_FEATURE = const(5)
_GROVE_THRESHOLD = const(6)
_GROVE_KIDS = const(7)
_SPROUT_STATE = const(9)
_GROVE_PATH = const(18)
# thicket/trees.py
_G_TREES = const(0)
_S_SLOT = const(0)
_G_USED = const(1)
_G_MOST = const(2)
_G_RECENT = const(7)
# (end)


def start_wide(b):
    """Let trees grow on all samples, until lookback.py decides otherwise."""
    b[_GROVE_STATE][_G_RECENT] = 0


@micropython.viper
def hang(t, k: int, kid: int):
    """Write the upper bits of the kid at place k."""
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    kids = ptr8(address[_GROVE_KIDS])
    kids[2 * (grove[_G_TREES] + 1) * (grove[_G_MOST] - 1) + k] = kid >> 8


@micropython.viper
def descend_far(t, rows, at: int):
    """Find the leaf that the sample at rows[at] reaches in each tree that votes."""
    address = ptr32(t)
    feature = ptr8(address[_GROVE_FEATURE])
    threshold = ptr8(address[_GROVE_THRESHOLD])
    kids = ptr8(address[_GROVE_KIDS])
    path = ptr8(address[_GROVE_PATH])
    grove = ptr32(address[_GROVE_STATE])
    x = ptr16(rows)
    inner = grove[_G_MOST] - 1
    slots = grove[_G_TREES] + 1
    upper = 2 * slots * inner
    first = 0
    for s in range(grove[_G_USED] + 1):
        if s != ptr32(address[_SPROUT_STATE])[_S_SLOT]:
            n = 0
            while n < inner:
                k = first + n
                k += k + int((x[at + feature[k]] >> 8) > threshold[k])
                n = kids[k] + (kids[upper + k] << 8)
            path[s] = (n - inner) & 255
            path[slots + s] = (n - inner) >> 8
        first += inner

"""How a sample goes down the trees of a grove. The buffers are those of grove.py and sprout.py."""

import micropython
from micropython import const

from .wide import descend_far

# From elsewhere, written by `make constants`:
# places of buffers
_GROVE_STATE = const(3)
_GROVE_FEATURE = const(5)
_GROVE_THRESHOLD = const(6)
_GROVE_KIDS = const(7)
_SPROUT_STATE = const(9)
_GROVE_PATH = const(18)
# thicket/trees.py
_S_SLOT = const(0)
_G_USED = const(1)
_G_MOST = const(2)
_NARROW = const(128)
# (end)


# n and k are 0: viper keeps the first arguments in registers.


@micropython.viper
def descend(n: int, k: int, t, rows, at: int):
    """Which leaf the sample at rows[at] reaches in each tree that votes."""
    address = ptr32(t)
    feature = ptr8(address[_GROVE_FEATURE])
    threshold = ptr8(address[_GROVE_THRESHOLD])
    kids = ptr8(address[_GROVE_KIDS])
    path = ptr8(address[_GROVE_PATH])
    x = ptr16(rows)
    inner = ptr32(address[_GROVE_STATE])[_G_MOST] - 1
    if inner >= _NARROW:
        descend_far(t, rows, at)
        return
    growing = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    s = ptr32(address[_GROVE_STATE])[_G_USED] + 1
    first = s * inner
    while s:
        s -= 1
        first -= inner
        if s != growing:
            n = 0
            while n < inner:
                k = first + n
                n = kids[2 * k + int((x[at + feature[k]] >> 8) > threshold[k])]
            path[s] = n - inner

"""Moves the codes and thresholds of a shrub ensemble when the range of a feature grows.

Moved codes are in the same order, so the window's order stays. A threshold that sends all samples
to the left, the largest code, stays, too.
"""

import micropython
from micropython import const

from ..ranges import moved_code

# From elsewhere, written by `make constants`:
# places of buffers
_WINDOW_SHAPE = const(5)
_WINDOW_CODES = const(6)
_SHRUBS_SHAPE = const(9)
_SHRUBS_FEATURE = const(10)
_SHRUBS_THRESHOLD = const(11)
_MEMBERS_SHAPE = const(24)
# shrub/pool.py
_P_INNER = const(2)
_P_WIDE_CODES = const(6)
# shrub/weights.py
_M_MOST = const(1)
# shrub/window.py
_W_WINDOW = const(0)
_W_SIZE = const(2)
_W_WIDE_CODES = const(4)
# (end)


@micropython.viper
def move_shrubs(t, feature: int, bits: int, doublings: int, steps: int):
    """The codes in the window, and the thresholds of all trees."""
    address = ptr32(t)
    window = ptr32(address[_WINDOW_SHAPE])
    codes8 = ptr8(address[_WINDOW_CODES])
    codes16 = ptr16(address[_WINDOW_CODES])
    shape = ptr32(address[_SHRUBS_SHAPE])
    by = ptr8(address[_SHRUBS_FEATURE])
    threshold8 = ptr8(address[_SHRUBS_THRESHOLD])
    threshold16 = ptr16(address[_SHRUBS_THRESHOLD])
    k = feature * window[_W_WINDOW]
    for _ in range(window[_W_SIZE]):
        if window[_W_WIDE_CODES]:
            codes16[k] = int(moved_code(codes16[k], bits, doublings, steps))
        else:
            codes8[k] = int(moved_code((codes8[k] << 8) + 128, bits, doublings, steps)) >> 8
        k += 1
    slots = ptr32(address[_MEMBERS_SHAPE])[_M_MOST] + 1
    for k in range(slots * shape[_P_INNER]):
        if by[k] == feature:
            if shape[_P_WIDE_CODES]:
                if threshold16[k] < 65535:
                    threshold16[k] = int(moved_code(threshold16[k], bits, doublings, steps))
            elif threshold8[k] < 255:
                threshold8[k] = (
                    int(moved_code((threshold8[k] << 8) + 255, bits, doublings, steps)) >> 8
                )

"""Whether the buffers of shrubs for numbers, which were read, can be used: as thicket/check.py."""

from micropython import const

from ..thicket.check import trees_are_sound

# From elsewhere, written by `make constants`:
# places of buffers
_GROVE_STATE = const(3)
_SPROUT_STATE = const(9)
_GROVE_WEIGHT = const(19)
_SHRUBS_STATE = const(22)
# regression/shrubs.py
_V_SAID = const(0)
_V_LAST = const(1)
_V_DEVIATION = const(2)
# thicket/trees.py
_S_SLOT = const(0)
_G_USED = const(1)
# (end)

_MOST_CODE = const(65535)
_MOST_DEVIATION = const(4194303)  # in 1/64
_MOST_WEIGHT = const(65536)


def shrubs_are_sound(b):
    """The shrubs are trees, and their weights are positive and at most one in all."""
    own = b[_SHRUBS_STATE]
    if not trees_are_sound(b) or not 0 <= own[_V_LAST] <= _MOST_CODE:
        return False
    if not 0 <= own[_V_SAID] <= _MOST_CODE or not 0 <= own[_V_DEVIATION] <= _MOST_DEVIATION:
        return False
    used = b[_GROVE_STATE][_G_USED]
    total = 0
    for s in range(used + 1):
        if s != b[_SPROUT_STATE][_S_SLOT]:
            if b[_GROVE_WEIGHT][s] < 1:
                return False
            total += b[_GROVE_WEIGHT][s]
    return total <= _MOST_WEIGHT

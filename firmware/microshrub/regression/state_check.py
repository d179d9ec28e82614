"""Checks the buffers of regressors that came from a file, as thicket/state_check.py."""

from micropython import const

from ..thicket.state_check import are_within, trees_are_sound

# From elsewhere, written by `make constants`:
# places of buffers
_LINEAR_STATE = const(0)
_THICKET_STATE = const(0)
_LINEAR_MEAN = const(2)
_THICKET_ERROR = const(2)
_GROVE_STATE = const(3)
_LINEAR_DEVIATION = const(3)
_LINEAR_WEIGHT = const(5)
_SPROUT_STATE = const(9)
_GROVE_WEIGHT = const(19)
_SHRUBS_STATE = const(22)
_GROVE_OF_REST = const(23)
# regression/linear.py
_L_SEEN = const(3)
_L_CENTRE = const(4)
_L_LEAST = const(5)
_L_GREATEST = const(6)
# regression/shrubs.py
_V_PREDICTED = const(0)
_V_LAST = const(1)
_V_DEVIATION = const(2)
_V_OUTLINE = const(4)
_V_WITH_REST = const(5)
_V_OF_REST = const(6)
# regression/thicket.py
_T_LATE = const(0)
_T_HEAD = const(1)
_T_SEEN = const(2)
# thicket/trees.py
_S_SLOT = const(0)
_G_USED = const(1)
# (end)

_MOST_CODE = const(65535)
_MOST_DEVIATION = const(4194303)  # in 1/64
_MOST_WEIGHT = const(65536)
_MOST_SEEN = const(1024)
_MOST_LOOKED_BACK = const(256)
_MOST_LINEAR = const(16777215)


def shrubs_are_sound(b):
    """Are the shrubs trees, and are their weights positive and at most one in all?"""
    state = b[_SHRUBS_STATE]
    if not trees_are_sound(b) or not 0 <= state[_V_LAST] <= _MOST_CODE:
        return False
    if (
        not 0 <= state[_V_PREDICTED] <= _MOST_CODE
        or not 0 <= state[_V_DEVIATION] <= _MOST_DEVIATION
    ):
        return False
    if (
        not 0 <= state[_V_OUTLINE] <= _MOST_CODE
        or not 0 <= state[_V_OF_REST] <= state[_V_WITH_REST]
    ):
        return False
    if not state[_V_WITH_REST] and max(b[_GROVE_OF_REST]):
        return False
    used = b[_GROVE_STATE][_G_USED]
    total = 0
    for s in range(used + 1):
        if s != b[_SPROUT_STATE][_S_SLOT]:
            if b[_GROVE_WEIGHT][s] < 1:
                return False
            total += b[_GROVE_WEIGHT][s]
    return total <= _MOST_WEIGHT


def linear_is_sound(b):
    """Means, deviations and weights are where they cannot overflow."""
    state = b[_LINEAR_STATE]
    return (
        0 <= state[_L_SEEN] <= _MOST_SEEN
        and 0 <= state[_L_LEAST] <= state[_L_GREATEST] <= _MOST_CODE
        and 0 <= state[_L_CENTRE] <= _MOST_CODE << 8
        and are_within(b[_LINEAR_MEAN], 0, _MOST_CODE << 8)
        and are_within(b[_LINEAR_DEVIATION], 0, _MOST_CODE << 8)
        and are_within(b[_LINEAR_WEIGHT], -_MOST_LINEAR, _MOST_LINEAR)
    )


def thicket_is_sound(b):
    """The ring's end is in the ring, and the errors are where they cannot overflow."""
    state = b[_THICKET_STATE]
    return (
        0 <= state[_T_HEAD] <= state[_T_LATE]
        and 0 <= state[_T_SEEN] <= _MOST_LOOKED_BACK
        and are_within(b[_THICKET_ERROR], 0, _MOST_DEVIATION)
    )

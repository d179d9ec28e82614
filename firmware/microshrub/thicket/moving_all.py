"""Moves what all members of a thicket keep of a feature along with its range, see growing.py."""

import micropython
from micropython import const

from ..shrub.moving import move_shrubs
from .moving import move_bayes, move_grove, move_softmax

# From elsewhere, written by `make constants`:
# places of buffers
_THICKET_STATE = const(0)
_NEIGHBOURS_STATE = const(3)
# thicket/members.py
_GROVE = const(0)
_NEIGHBOURS = const(1)
_SOFTMAX = const(2)
_SHRUBS = const(3)
_OWN = const(4)
_BAYES = const(5)
_T_WITH_SOFTMAX = const(6)
_T_WITH_SHRUBS = const(7)
_T_WITH_BAYES = const(8)
# thicket/neighbours.py
_N_COUNT = const(8)
# (end)


@micropython.viper
def move_thicket(t, feature: int, bits: int, doublings: int, steps: int):
    """Of each member that there is; t is the tuple that the kernels of members.py get."""
    own = ptr32(ptr32(t[_OWN])[_THICKET_STATE])
    move_grove(t[_GROVE], feature, bits, doublings, steps)
    ptr32(ptr32(t[_NEIGHBOURS])[_NEIGHBOURS_STATE])[_N_COUNT] = 0  # what was found was elsewhere
    if own[_T_WITH_SOFTMAX]:
        move_softmax(t[_SOFTMAX], feature, bits, doublings, steps)
    if own[_T_WITH_SHRUBS]:
        move_shrubs(t[_SHRUBS], feature, bits, doublings, steps)
    if own[_T_WITH_BAYES]:
        move_bayes(t[_BAYES], feature, bits, doublings, steps)

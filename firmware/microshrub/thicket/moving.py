"""Moves the codes and thresholds of a thicket's members when the range of a feature changes.

A code of 8 bits stands for the middle of the 16-bit codes with these upper bits, a threshold for
the last of them. Means move as codes do; mean distances halve with each doubling of the range, and
double when it halves, up to their maximum. Where ranges shrink, drift_response.py decides whether
the sensor has another unit.

Calling a kernel takes ten times as long as the few sums that move a code within the range, so
move_trees(), which moves thousands of thresholds, has its own copy; moved_code() moves the tails.
"""

import micropython
from micropython import const

from ..ranges import moved_code
from ..shrub.moving import move_shrubs
from .drift_response import leave_unit

# From elsewhere, written by `make constants`:
# places of buffers
_BAYES_STATE = const(0)
_RING_SHAPE = const(0)
_THICKET_STATE = const(0)
_RING_CODES = const(1)
_SOFTMAX_MEAN = const(2)
_GROVE_STATE = const(3)
_NEIGHBOURS_STATE = const(3)
_SOFTMAX_DEVIATION = const(3)
_BAYES_MEAN = const(4)
_BAYES_VARIANCE = const(5)
_GROVE_FEATURE = const(5)
_BAYES_POOLED = const(6)
_GROVE_THRESHOLD = const(6)
_SPROUT_STATE = const(9)
# ranges.py
_STEP_BITS = const(13)
_BELOW = const(4096)
_CORE_CODES = const(57344)
# thicket/bayes.py
_B_FEATURES = const(0)
_B_CLASSES = const(1)
_B_SEEN = const(2)
# thicket/members.py
_GROVE = const(0)
_NEIGHBOURS = const(1)
_SOFTMAX = const(2)
_SHRUBS = const(3)
_THICKET = const(4)
_BAYES = const(5)
_T_WITH_SOFTMAX = const(6)
_T_WITH_SHRUBS = const(7)
_T_WITH_BAYES = const(8)
# thicket/neighbours.py
_N_COUNT = const(8)
# thicket/sample_ring.py
_R_FEATURES = const(1)
_R_HELD = const(3)
# thicket/trees.py
_G_USED = const(1)
_G_MOST = const(2)
_S_BY = const(9)
_S_AT = const(10)
# (end)

_MOST_MOMENT = const(65535)  # a mean distance, or its square


@micropython.viper
def move_samples(t, feature: int, bits: int, doublings: int, steps: int):
    """Move the samples of a ring or a store."""
    address = ptr32(t)
    shape = ptr32(address[_RING_SHAPE])
    codes = ptr8(address[_RING_CODES])
    known = -1  # the last code, and its new value: many codes are equal
    moved = 0
    k = feature
    for _ in range(shape[_R_HELD]):
        if codes[k] != known:
            known = codes[k]
            moved = int(moved_code((known << 8) + 128, bits, doublings, steps)) >> 8
        codes[k] = moved
        k += shape[_R_FEATURES]


@micropython.viper
def move_grove(t, feature: int, bits: int, doublings: int, steps: int):
    """Move a grove: its samples and its trees."""
    move_samples(t, feature, bits, doublings, steps)
    move_trees(t, feature, bits, doublings, steps)


@micropython.viper
def move_trees(t, feature: int, bits: int, doublings: int, steps: int):
    """Move the thresholds of a grove's trees, and of the growing tree's best split."""
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    by = ptr8(address[_GROVE_FEATURE])
    threshold = ptr8(address[_GROVE_THRESHOLD])
    sprout = ptr32(address[_SPROUT_STATE])
    after = bits + doublings
    lower = 7 * steps << (_STEP_BITS - after) if after < _STEP_BITS else 7 * steps
    up = 0 - doublings if doublings < 0 else 0
    down = doublings + up
    known = -1
    moved = 0
    for k in range((grove[_G_USED] + 1) * (grove[_G_MOST] - 1)):
        if by[k] == feature:
            if threshold[k] != known:
                known = threshold[k]
                code = (known << 8) + 255
                u = code - _BELOW
                c = (u << up >> down) + lower
                if 0 <= u < _CORE_CODES and 0 <= c < _CORE_CODES:
                    moved = (c + _BELOW) >> 8
                else:
                    moved = int(moved_code(code, bits, doublings, steps)) >> 8
            threshold[k] = moved
    if sprout[_S_BY] == feature:
        sprout[_S_AT] = int(moved_code((sprout[_S_AT] << 8) + 255, bits, doublings, steps)) >> 8


@micropython.viper
def move_bayes(t, feature: int, bits: int, doublings: int, steps: int):
    """Move means and variances."""
    address = ptr32(t)
    state = ptr32(address[_BAYES_STATE])
    mean = ptr16(address[_BAYES_MEAN])
    variance = ptr16(address[_BAYES_VARIANCE])
    pooled = ptr32(address[_BAYES_POOLED])
    features = state[_B_FEATURES]
    k = feature
    for _ in range(state[_B_CLASSES]):
        mean[k] = int(moved_code(mean[k], bits, doublings, steps))
        variance[k] = int(rescaled(variance[k], 2 * doublings, 0))
        k += features
    if state[_B_SEEN] > 1:
        pooled[feature] = int(rescaled(pooled[feature], 2 * doublings, 6))


@micropython.viper
def move_softmax(t, feature: int, bits: int, doublings: int, steps: int):
    """Move a mean and a mean distance; the weights stay, as they are for scaled features."""
    address = ptr32(t)
    mean = ptr32(address[_SOFTMAX_MEAN])
    deviation = ptr32(address[_SOFTMAX_DEVIATION])
    mean[feature] = int(moved_code(mean[feature] >> 8, bits, doublings, steps)) << 8
    deviation[feature] = int(rescaled(deviation[feature], doublings, 8))


@micropython.viper
def rescaled(v: int, doublings: int, fraction: int) -> int:
    """Return a mean distance, or its square, after the range of its codes has doubled or halved.

    `fraction` is its bits behind the point, up to 8. (A large number as an argument could not be
    frozen for a Cortex-M0, whose code holds no large numbers.)
    """
    if doublings >= 0:
        return v >> doublings
    halvings = 0 - doublings
    most = _MOST_MOMENT << fraction  # < 2**24
    return v << halvings if v <= most >> halvings else most


@micropython.viper
def move_thicket(t, feature: int, bits: int, doublings: int, steps: int):
    """Move every member; t is the tuple that the kernels of members.py get."""
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    move_grove(t[_GROVE], feature, bits, doublings, steps)
    ptr32(ptr32(t[_NEIGHBOURS])[_NEIGHBOURS_STATE])[_N_COUNT] = 0  # what was found was elsewhere
    if state[_T_WITH_SOFTMAX]:
        move_softmax(t[_SOFTMAX], feature, bits, doublings, steps)
    if state[_T_WITH_SHRUBS]:
        move_shrubs(t[_SHRUBS], feature, bits, doublings, steps)
    if state[_T_WITH_BAYES]:
        move_bayes(t[_BAYES], feature, bits, doublings, steps)
    if doublings < 0:
        leave_unit(t)

"""How shrubs for numbers are mixed: by weights that follow the gradient of the squared error.

The weights are positive and add up to one, so a mixture lies within the shrubs' predictions. With
f the mixture, y the target and h_s the prediction of shrub s, the gradient for the weight of s is
2 * (f - y) * h_s; on the simplex, where only differences count, (f - y) * (h_s - f) does as well.
Exponentiated gradient descent (Kivinen, Warmuth: Exponentiated Gradient versus Gradient Descent
for Linear Predictors, Information and Computation 1997) multiplies each weight by

    exp(-step * (f - y) * (h_s - f) / deviation**2)

and divides them by their sum. The deviation is what |f - y| was lately, so that the step means the
same in any unit. No weight falls far below 1/16 of an equal share: the shrub may be good later.

The buffers are those of shrubs.py.
"""

import micropython
from micropython import const

from ..fixed import exp_decay
from ..thicket.trees import hand_over

# From elsewhere, written by `make constants`:
# places of buffers
_GROVE_STATE = const(3)
_GROVE_MEANS = const(8)
_SPROUT_STATE = const(9)
_GROVE_PATH = const(18)
_GROVE_WEIGHT = const(19)
_GROVE_PREDICTIONS = const(20)
_GROVE_PULL = const(21)
_SHRUBS_STATE = const(22)
_GROVE_OF_REST = const(23)
# regression/shrubs.py
_V_PREDICTED = const(0)
_V_LAST = const(1)
_V_DEVIATION = const(2)
_V_STEP = const(3)
_V_OUTLINE = const(4)
# thicket/trees.py
_S_SLOT = const(0)
_G_USED = const(1)
_G_MOST = const(2)
# (end)

_ONE = const(65536)  # the weights' sum
_FAR = const(1024)  # 4 deviations, in 1/256
_MEMORY = const(6)  # log2 of the samples that the deviation looks back over
_LEAF_RATE = const(5)  # log2 of those that a leaf does


@micropython.viper
def mix(t) -> int:
    """Return the mixture of the shrubs' predictions; before there is a shrub, the last target.

    The weights are cut to 14 bits, so all are counted from what one of them says: then a mixture
    of equals is their equal, and any is within them.
    """
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    state = ptr32(address[_SHRUBS_STATE])
    means = ptr16(address[_GROVE_MEANS])
    path = ptr8(address[_GROVE_PATH])
    of_rest = ptr8(address[_GROVE_OF_REST])
    weight = ptr32(address[_GROVE_WEIGHT])
    predictions = ptr32(address[_GROVE_PREDICTIONS])
    growing = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    used = grove[_G_USED]
    most = grove[_G_MOST]
    if not used:
        state[_V_PREDICTED] = state[_V_LAST]
        return state[_V_PREDICTED]
    base = -1
    total = 0
    for s in range(used + 1):
        if s != growing:
            h = means[s * most + path[s]]  # s * most < 2**8 * 2**7
            if of_rest[s]:  # the rest is (target - outline + 65536) / 2
                h = state[_V_OUTLINE] + 2 * h - 65536
                if h < 0:
                    h = 0
                if h > 65535:
                    h = 65535
            predictions[s] = h
            if base < 0:
                base = h
            total += (weight[s] >> 2) * (h - base)  # the weights < 2**14 in all, so < 2**30
    state[_V_PREDICTED] = base + ((total + 8192) >> 14)
    return state[_V_PREDICTED]


@micropython.viper
def weigh(t, target: int):
    """A step down the gradient for each weight."""
    address = ptr32(t)
    state = ptr32(address[_SHRUBS_STATE])
    weight = ptr32(address[_GROVE_WEIGHT])
    predictions = ptr32(address[_GROVE_PREDICTIONS])
    pull = ptr32(address[_GROVE_PULL])
    growing = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    used = ptr32(address[_GROVE_STATE])[_G_USED]
    f = state[_V_PREDICTED]
    error = f - target
    away = error if error > 0 else 0 - error
    # in 1/64; < 2**22
    state[_V_DEVIATION] = state[_V_DEVIATION] + (((away << 6) - state[_V_DEVIATION]) >> _MEMORY)
    if not used:
        return
    unit = (state[_V_DEVIATION] >> 6) + 1
    error = int(within((error << 8) // unit))  # < 2**24 before it is divided
    least = 1 << 21
    for s in range(used + 1):
        if s != growing:
            pull[s] = error * int(within(((predictions[s] - f) << 8) // unit))  # +-2**20
            if pull[s] < least:
                least = pull[s]
    floor = _ONE // (16 * used)
    for s in range(used + 1):
        if s != growing:
            # 2**21 * the step, at most 2**8, is below 2**30; 2**16 * 2**14 likewise
            x = ((pull[s] - least) * state[_V_STEP]) >> 8
            weight[s] = ((weight[s] * int(exp_decay(x))) >> 14) + floor
    share_out(t)


@micropython.viper
def within(x: int) -> int:
    """x, or the nearer of -4 and 4, in 1/256."""
    if x > _FAR:
        return _FAR
    if x < 0 - _FAR:
        return 0 - _FAR
    return x


@micropython.viper
def share_out(t):
    """Divide the weights by their sum: they add up to 65536 then, or a little less."""
    address = ptr32(t)
    weight = ptr32(address[_GROVE_WEIGHT])
    growing = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    used = ptr32(address[_GROVE_STATE])[_G_USED]
    total = 0
    for s in range(used + 1):
        if s != growing:
            total += weight[s]
    for s in range(used + 1):
        if s != growing:
            weight[s] = (weight[s] << 13) // total << 3  # each < 2**17; at least 16 remains


@micropython.viper
def enter(t):
    """Let the shrub that is grown predict from now on, with an equal share of the weights.

    The next one will replace the lightest of the others.
    """
    address = ptr32(t)
    slot = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    used = ptr32(address[_GROVE_STATE])[_G_USED]
    weight = ptr32(address[_GROVE_WEIGHT])
    weight[slot] = _ONE + 1  # more than any other, so another one is the lightest
    hand_over(t, _GROVE_WEIGHT)
    weight[slot] = _ONE // (used + 1)
    share_out(t)


@micropython.viper
def teach(t, target: int, rest: int):
    """Move the leaf that the sample reached in each shrub towards the target, or rest: by 1/32."""
    address = ptr32(t)
    grove = ptr32(address[_GROVE_STATE])
    means = ptr16(address[_GROVE_MEANS])
    path = ptr8(address[_GROVE_PATH])
    of_rest = ptr8(address[_GROVE_OF_REST])
    growing = ptr32(address[_SPROUT_STATE])[_S_SLOT]
    most = grove[_G_MOST]
    for s in range(grove[_G_USED] + 1):
        if s != growing:
            k = s * most + path[s]
            y = rest if of_rest[s] else target
            means[k] = means[k] + ((y - means[k] + 16) >> _LEAF_RATE)

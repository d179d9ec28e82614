"""Centre and scale features as samples come, for linear models.

Each code is taken relative to its feature's running mean, in units of the running mean absolute
deviation, within +-3. The buffers are softmax.py's; a linear regressor's have the same places.
It is a file of its own as a linear regressor needs nothing else of softmax.py.
"""

import micropython
from micropython import const

# From elsewhere, written by `make constants`:
# places of buffers
_SOFTMAX_STATE = const(0)
_SOFTMAX_MEAN = const(2)
_SOFTMAX_DEVIATION = const(3)
_SOFTMAX_SCALED = const(4)
# thicket/softmax.py
_L_FEATURES = const(0)
_L_SEEN = const(3)
# (end)

_MEMORY = const(1024)  # samples that the running means look back over
_ONE = const(4096)  # 1 in Q12
_MOST_SCALED = const(12288)  # 3 in Q12


@micropython.viper
def scale(t, rows, at: int):
    """Centre and scale the sample at rows[at]; a feature that never changed is ignored."""
    address = ptr32(t)
    mean = ptr32(address[_SOFTMAX_MEAN])
    deviation = ptr32(address[_SOFTMAX_DEVIATION])
    scaled = ptr32(address[_SOFTMAX_SCALED])
    x = ptr16(rows)
    features = ptr32(address[_SOFTMAX_STATE])[_L_FEATURES]
    for f in range(features):
        z = 0
        unit = deviation[f] >> 8
        if unit:
            z = ((x[at + f] - (mean[f] >> 8)) << 12) // unit  # |...| < 2**16 * 2**12
            if z > _MOST_SCALED:
                z = _MOST_SCALED
            if z < 0 - _MOST_SCALED:
                z = 0 - _MOST_SCALED
        scaled[f] = z
    scaled[features] = _ONE


@micropython.viper
def average(t, rows, at: int):
    """Move each mean and deviation towards the sample at rows[at]: by 1/n, at least 1/1024."""
    address = ptr32(t)
    state = ptr32(address[_SOFTMAX_STATE])
    mean = ptr32(address[_SOFTMAX_MEAN])
    deviation = ptr32(address[_SOFTMAX_DEVIATION])
    x = ptr16(rows)
    seen = state[_L_SEEN]
    if seen < _MEMORY:
        seen += 1
        state[_L_SEEN] = seen
    for f in range(state[_L_FEATURES]):
        code = x[at + f] << 8  # < 2**24
        if seen == 1:
            mean[f] = code
        away = code - mean[f]
        mean[f] = mean[f] + away // seen
        if away < 0:
            away = 0 - away
        deviation[f] = deviation[f] + (away - deviation[f]) // seen

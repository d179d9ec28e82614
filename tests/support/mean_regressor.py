"""About the mean of the last targets: a regressor of one's own, in one file.

0  state  'i'  the words below
"""

import micropython
from micropython import const

from microshrub.regressor import Regressor

_STATE = const(0)  # place of the buffer

_MEAN = const(0)  # word of the state: a code, 0..65535
_WORDS = const(1)


@micropython.viper
def predict(t, rows, at: int) -> int:
    """Return the mean so far; the sample does not matter."""
    return ptr32(ptr32(t)[_STATE])[_MEAN]


@micropython.viper
def learn(t, rows, at: int, y: int) -> int:
    """Move the mean by an eighth of the distance; return the mean before."""
    state = ptr32(ptr32(t)[_STATE])
    predicted = state[_MEAN]
    state[_MEAN] = predicted + ((y - predicted) >> 3)  # between both
    return predicted


class MeanRegressor(Regressor):
    """About the mean of the last targets, whatever the features are."""

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    def _table(self):
        return [("state", "i", _WORDS)]

    def _start(self):
        self._flat[_STATE][_MEAN] = 32767

    def _is_sound(self):
        return 0 <= self._flat[_STATE][_MEAN] <= 65535

    def progress(self):
        """Return no figures: users need none."""
        return {}

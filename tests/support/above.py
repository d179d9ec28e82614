"""A toy watcher: counts the samples whose first code is above a threshold."""

from micropython import const

from microshrub.buffers import Buffers
from microshrub.learner import whole

_ABOVE_COUNT = const(0)
_ABOVE_WORDS = const(0)


class Above(Buffers):
    """A watcher; see microshrub/device/watchers.py. `limit` is a code, 0..65535."""

    def __init__(self, features, classes, limit=32768):
        self.limit = whole("limit", limit, 0, 65535)
        self._allocate()

    def configuration(self):
        return "Above limit=" + str(self.limit)

    def _table(self):
        return [("above.words", "i", 1)]

    def _start(self):
        pass

    def _is_sound(self):
        return self._flat[_ABOVE_WORDS][_ABOVE_COUNT] >= 0

    def look(self, x, votes, predicted, label):
        above = int(x[0] > self.limit)
        self._flat[_ABOVE_WORDS][_ABOVE_COUNT] += above
        return above

    def late(self, votes, predicted, label):
        pass

    def tell(self, words):
        words[0] = self._flat[_ABOVE_WORDS][_ABOVE_COUNT]
        return 1

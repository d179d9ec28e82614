"""The most frequent of the last labels: a learner of one's own, in one file.

0  state   'i'  the words below
1  votes   'i'  [classes] the votes for the last sample that was predicted
2  labels  'B'  [window] a ring of the last labels
"""

import micropython
from micropython import const

from microshrub.learner import Learner

_STATE = const(0)  # places of buffers
_VOTES = const(1)
_LABELS = const(2)

_WINDOW = const(0)  # words of the state
_CLASSES = const(1)
_HELD = const(2)  # labels in the ring, 0..window
_NEXT = const(3)  # place of the next label
_WORDS = const(4)

_ALL = const(16711680)  # votes in all: 65536 * 255


@micropython.viper
def predict(t, rows, at: int) -> int:
    """Return the class of the sample at rows[at]; write the votes to the table."""
    address = ptr32(t)
    state = ptr32(address[_STATE])
    votes = ptr32(address[_VOTES])
    labels = ptr8(address[_LABELS])
    for c in range(state[_CLASSES]):
        votes[c] = 0
    held = state[_HELD]
    best = 0
    for i in range(held):
        c = labels[i]
        votes[c] = votes[c] + _ALL // held  # <= _ALL
        if votes[c] > votes[best]:
            best = c
    return best


@micropython.viper
def learn(t, rows, at: int, label: int) -> int:
    """Store the label in the ring; return the class predicted before."""
    address = ptr32(t)
    state = ptr32(address[_STATE])
    labels = ptr8(address[_LABELS])
    predicted = int(predict(t, rows, at))
    place = state[_NEXT]
    labels[place] = label
    state[_NEXT] = place + 1 if place + 1 < state[_WINDOW] else 0
    if state[_HELD] < state[_WINDOW]:
        state[_HELD] = state[_HELD] + 1
    return predicted


class Majority(Learner):
    """The most frequent of the last labels, whatever the features are.

    window  1..255 labels in the ring
    """

    PARAMETERS = "window 8 1..255"

    _predict = staticmethod(predict)
    _learn = staticmethod(learn)

    def _table(self):
        return [
            ("state", "i", _WORDS),
            ("votes", "i", self.classes),
            ("labels", "B", self.window),
        ]

    def _start(self):
        state = self._flat[_STATE]
        state[_WINDOW] = self.window
        state[_CLASSES] = self.classes

    _FIXED = (("state", (_WINDOW, _CLASSES)),)

    def _is_sound(self):
        state, _, labels = self._flat
        return (
            0 <= state[_HELD] <= self.window
            and 0 <= state[_NEXT] < self.window
            and max(labels) < self.classes
        )

    @property
    def votes(self):
        """Votes of the last prediction, array('i'); they add up to about 65536 * 255, or 0."""
        return self._flat[_VOTES]

    def progress(self):
        """Return how many labels are in the ring."""
        return {"labels_held": self._flat[_STATE][_HELD]}

"""Anomaly scores in the program and on the link.

config.json's `anomaly` has the settings of AnomalyScore, and optionally a `pin`, for a button that
says "this is normal", and, with a saved model, `states`: the file of its state.
"""

from micropython import const

from ..anomaly import AnomalyScore
from .frames import HEADER

_ANOMALY = const(12)
_IS_NORMAL = const(2)  # in a request: the next samples are normal


class AnomalyScores:
    """Computes the anomaly score of each sample. A host can request it with each prediction."""

    def __init__(self, app):
        self._app = app
        options = dict(app.configuration.anomaly)
        options.pop("pin", None)
        states = options.pop("states", ())
        self._codes = app._codes
        self._anomaly = app.anomaly = anomaly = AnomalyScore(app.features, **options)
        app.parts += (anomaly,)
        app._states += tuple([(anomaly, name) for name in states])
        app.more[_ANOMALY] = self._answer_host

    def show(self, _, label):
        """Compute the score of the sample that was just predicted."""
        anomaly = self._anomaly
        shows_normal = anomaly.left > 0
        anomaly.update(self._codes)
        if shows_normal:
            self._app.changed()

    def plot(self, plotter, _):
        """Add the score to the sample's line."""
        plotter.put(b"anomaly", self._anomaly.score)

    def _answer_host(self, link, to, body, n):
        words, anomaly = link.words, self._anomaly
        n = 3
        if body[HEADER] == _IS_NORMAL:
            this_is_normal(self._app)
            n = 4
        else:
            link.extra = self if body[HEADER] else None
        words[0] = anomaly.score
        words[1] = anomaly.threshold
        words[2] = anomaly.alarms
        words[3] = anomaly.left
        return link.put_words(to, n)

    def put(self, body, at):
        """Write the score, and 1 if it is above the threshold, else 0; returns where they end."""
        body[at] = self._anomaly.score
        body[at + 1] = self._anomaly.is_anomaly
        return at + 2


def this_is_normal(app):
    """Mark the next samples as normal. Returns a message."""
    app.settle()
    app.anomaly.this_is_normal()
    app.taught()
    left = app.anomaly.left
    return "this is normal: %s" % ("the next %d samples show it" % left if left else "it stays so")


class NormalButton(AnomalyScores):
    """Anomaly scores, and a button that says "this is normal" each time it is pressed."""

    _pin = None  # on a PC there is none
    _pressed = False

    def attach(self, board, button, _):
        """Make the pin; returns the button that gives labels."""
        self._pin = board.button(self._app.configuration.anomaly["pin"])
        return button

    def turn(self, _, passed):
        """Look at the button; returns a message if it is pressed."""
        before = self._pressed
        self._pressed = self._pin is not None and not self._pin.value()
        return this_is_normal(self._app) if self._pressed and not before else None

"""Anomaly scores in the program and on the link; imported when there are any.

config.json's `anomaly` has the settings of AnomalyScore; perhaps a `pin`: a button that says "this
is normal"; with a saved model `states`, the file of its state.
"""

import gc

from micropython import const

from ..anomaly import AnomalyScore
from .frames import HEADER
from .ways import answer_of

_ANOMALY = const(12)
_IS_NORMAL = const(2)  # what the request may say instead


def score_too(app):
    """Have the anomaly score of each sample taken, too."""
    predict, codes = app._predict, app._codes
    options = dict(app.configuration.anomaly)
    pin = options.pop("pin", None)
    states = options.pop("states", ())
    app.anomaly = anomaly = AnomalyScore(app.features, **options)
    app.parts += (anomaly,)
    app._states += tuple([(anomaly, name) for name in states])
    choose = answer_of(ways)
    app.more[_ANOMALY] = lambda link, to, body, n: (
        _tell_normal(link, to) if body[HEADER] == _IS_NORMAL else choose(link, to, body, n)
    )
    if pin is not None:
        before = app.attach

        def attach(board, button, sensor):
            app.tick = NormalButton(app, board.button(pin)).tick
            return before(board, button, sensor) if before else button

        app.attach = attach

    def predict_and_score(label):
        predicted = predict(label)
        anomaly.update(codes)
        return predicted

    app._predict = predict_and_score


def this_is_normal(app):
    """A person says so; it is saved at once, if it can be. Returns what comes of it, in words."""
    if app.saving:
        app.saving.settle()
    app.anomaly.this_is_normal()
    if app.store and app.quantizer.frozen and not app.trial:
        app.store.save()
    gc.collect()
    left = app.anomaly.left
    return "this is normal: %s" % ("the next %d samples show it" % left if left else "it stays so")


def _tell_normal(link, to):
    this_is_normal(link.app)
    words = link.words
    _tell(link.app.anomaly, words)
    words[3] = link.app.anomaly.left
    return link.put_words(to, 4)


class NormalButton:
    """A button that says "this is normal" each time it is pressed."""

    def __init__(self, app, pin):
        self._app = app
        self._pin = pin
        self._tick = app.tick
        self._pressed = False

    def tick(self, milliseconds):
        """In place of the application's own."""
        said = self._tick(milliseconds)
        before = self._pressed
        self._pressed = not self._pin.value()
        return this_is_normal(self._app) if self._pressed and not before else said


def ways(put, app, body):
    """(put, put with a score, tell); put(to, prediction) writes a prediction to body[to :].

    Both return how many bytes they wrote. Behind the score stands 1 if it is above the threshold,
    else 0. tell(words) fills score, threshold and alarms so far; it returns 3.
    """
    anomaly = app.anomaly

    def put_scored(to, prediction):
        size = put(to, prediction)
        body[to + size] = anomaly.score
        body[to + size + 1] = anomaly.is_unlike
        return size + 2

    return put, put_scored, lambda words: _tell(anomaly, words)


def _tell(anomaly, words):
    words[0] = anomaly.score
    words[1] = anomaly.threshold
    words[2] = anomaly.alarms
    return 3

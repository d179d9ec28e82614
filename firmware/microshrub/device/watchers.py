"""What watches each sample, in the program and on the link: anomaly scores, and watchers.

config.json's `anomaly` has the settings of AnomalyScore, and optionally a `pin`, for a button that
says "this is normal", and, with a saved model, `states`: the file of its state.

Its `watchers` is an object: for each watcher's name, [module, class, options], and optionally the
file of its state as the fourth item. The module is one of the library's. The class is called with
(features, classes, **options), and has

    look(x, votes, predicted, label)   a sample was predicted; label is -1 if it is not known
    late(votes, predicted, label)      the label of an earlier sample, which was predicted again
    tell(words)                        fill the words of the link's answer; returns how many
    buffers(), save(), load(), reset() as Buffers has them

and optionally `confidence`, 0..255, which replaces the confidence of the votes. Only buffers() may
allocate. On the link, watchers are numbered in the order of their names.
"""

from micropython import const

from .frames import HEADER

_ANOMALY = const(12)
_WATCHERS = const(16)
_IS_NORMAL = const(2)  # in a request: the next samples are normal


class AnomalyScores:
    """Computes the anomaly score of each sample. A host can request it with each prediction."""

    def __init__(self, app):
        from ..anomaly import AnomalyScore

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


class Watchers:
    """The watchers of an application's configuration, in the order of their names.

    No function has more than eleven words of state, see link.py.
    """

    def __init__(self, app):
        self._app = app
        self._codes = app._codes
        parts = []
        for name in sorted(app.configuration.watchers):
            row = app.configuration.watchers[name]
            parts.append(_made(app, name, *row[:3]))
            if row[3:]:
                app._states += ((parts[-1], row[3]),)
        self.parts = tuple(parts)
        self._sure = tuple([part for part in parts if hasattr(part, "confidence")])
        app.watchers = self.parts
        app.parts += self.parts
        app.more[_WATCHERS] = self.answer

    def look(self, predicted, label):
        """Pass on a prediction."""
        k = 0
        while k < len(self.parts):
            self._look(k, self._codes, predicted, label)
            k += 1
        if self._sure:
            self._confide()

    def _confide(self):
        for part in self._sure:
            self._app.confidence = part.confidence

    def _look(self, k, codes, predicted, label):
        self.parts[k].look(codes, self._app.learner.votes, predicted, label)

    def late(self, predicted, label):
        """Pass on the label of an earlier sample."""
        k = 0
        while k < len(self.parts):
            self._tell(k, predicted, label)
            k += 1

    def _tell(self, k, predicted, label):
        self.parts[k].late(self._app.learner.votes, predicted, label)

    def answer(self, link, to, body, n):
        """Answer the request for the words of one watcher."""
        n = self._fill(body[HEADER], link.words)
        return link.put_words(to, n)

    def _fill(self, k, words):
        if k >= len(self.parts):
            raise ValueError("there are %d watchers" % len(self.parts))
        return self.parts[k].tell(words)


def _made(app, name, module, kind, options):
    package = __name__.partition(".")[0]
    home = __import__("%s.%s" % (package, module), None, None, (kind,))
    try:
        return getattr(home, kind)(app.features, app.classes, **options)
    except TypeError as error:  # an option that it does not have
        raise ValueError("%s: %s" % (name, error)) from None

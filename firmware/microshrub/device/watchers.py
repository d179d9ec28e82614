"""Watchers: companions that look at each sample, in the program and on the link.

config.json's `watchers` is an object: for each watcher's name, [module, class, options], and
optionally the file of its state as the fourth item. The module is one of the library's. The class
is called with (features, classes, **options), and has

    look(x, votes, predicted, label)   a sample was predicted; label is -1 if it is not known
    late(votes, predicted, label)      the label of an earlier sample, which was predicted again
    tell(words)                        fill the words of the link's answer; returns how many
    buffers(), save(), load(), reset() as Buffers has them

and optionally `confidence`, 0..255, which replaces the confidence of the votes. Only buffers() may
allocate. On the link, watchers are numbered in the order of their names.
"""

from micropython import const

from .frames import HEADER

_WATCHERS = const(16)


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

"""What watches samples in the program, and on the link; imported when there is something.

config.json's `beside` is an object: by its name, [module, class, options] of each, and perhaps the
name of the file of its state. The module is one of the library's; the class is made of (features,
classes, **options) and has

    look(x, votes, said, label)   a sample was predicted; label is -1 if it is not known
    told(votes, said, label)      the label of an earlier one, predicted anew
    tell(words)                   fill the words of the link's answer; returns how many
    buffers(), save(), load(), reset()   as Buffers have them

and perhaps `confidence`, 0..255, which takes the place of the votes' own. None of these but the
row of buffers() may allocate. On the link, they have the order of their names.
"""

from micropython import const

from .frames import HEADER

_BESIDE = const(16)


def configure(app):
    """Give an application that has its learner those of its configuration."""
    package = __name__.partition(".")[0]
    found = []
    for name in sorted(app.configuration.beside):
        row = app.configuration.beside[name]
        module, kind, options = row[:3]
        home = __import__("%s.%s" % (package, module), None, None, (kind,))
        try:
            found.append(getattr(home, kind)(app.features, app.classes, **options))
        except TypeError as error:  # an option that it does not have
            raise ValueError("%s: %s" % (name, error)) from None
        if row[3:]:
            app._states += ((found[-1], row[3]),)
    watchers = _Watchers(app, tuple(found))
    app.look = watchers.look
    app.told = watchers.told
    app.beside = watchers.parts
    app.parts += watchers.parts
    app.more[_BESIDE] = watchers.answer


class _Watchers:
    """All of them. No function has more than eleven words of state, see answers.py."""

    def __init__(self, app, parts):
        self.parts = parts
        self._sure = tuple([part for part in parts if hasattr(part, "confidence")])
        self._app = app

    def look(self, codes, said, label):
        """A sample was predicted."""
        k = 0
        while k < len(self.parts):
            self._look(k, codes, said, label)
            k += 1
        if self._sure:
            self._confide()

    def _confide(self):
        for part in self._sure:
            self._app.confidence = part.confidence

    def _look(self, k, codes, said, label):
        self.parts[k].look(codes, self._app.learner.votes, said, label)

    def told(self, said, label):
        """The label of the sample in pending.x has come; it is predicted anew for its votes."""
        self._app.learner.predict_next(self._app.pending.x)
        k = 0
        while k < len(self.parts):
            self._tell(k, said, label)
            k += 1

    def _tell(self, k, said, label):
        self.parts[k].told(self._app.learner.votes, said, label)

    def answer(self, link, to, body, n):
        """Answer the request for what one of them says of itself."""
        n = self._fill(body[HEADER], link.words)
        return link.put_words(to, n)

    def _fill(self, k, words):
        if k >= len(self.parts):
            raise ValueError("there are %d beside the model" % len(self.parts))
        return self.parts[k].tell(words)

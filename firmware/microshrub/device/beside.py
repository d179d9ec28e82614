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
    parts = tuple(found)
    sure = tuple([part for part in parts if hasattr(part, "confidence")])

    def look(codes, said, label):
        for part in parts:
            part.look(codes, app.learner.votes, said, label)
        for part in sure:
            app.confidence = part.confidence

    def told(said, label):
        learner = app.learner
        learner.predict_next(app.pending.x)
        for part in parts:
            part.told(learner.votes, said, label)

    def answer(link, to, body, n):
        k = body[HEADER]
        if k >= len(parts):
            raise ValueError("there are %d beside the model" % len(parts))
        return link.put_words(to, parts[k].tell(link.words))

    app.look = look
    app.told = told
    app.beside = parts
    app.parts += parts
    app.more[_BESIDE] = answer

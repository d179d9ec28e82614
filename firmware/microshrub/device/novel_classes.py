"""Spare classes for novelty detection, in the program and on the link.

config.json's `spare_classes` has the number of spare `classes`, which are the last ones, the
`room` for a name, the settings of NoveltyDetector, and optionally a `pin`: a button that names a
novel class, a `led`: a light that is on while a query waits, label queries included, and, with a
saved model, `states`: the files of the saved states of the names and of the NoveltyDetector.
"""

from micropython import const

from ..spare_classes import SpareClasses
from .frames import HEADER, put_u16

_CLASSES = const(15)

# What request 15 may ask for
_TELL = const(0)
_NAME = const(1)
_RENAME = const(2)
_MERGE = const(3)
_FORGET = const(4)
_DISMISS = const(5)

_BYTES = bytes((2, 0, 0, 3, 2, 1))  # sizes of request 15's payloads; 0: a name ends it
_MOST_NAME = const(48)  # bytes of a name, so that it fits a request


class NovelClasses:
    """Adds the spare classes of a configuration to its application."""

    def __init__(self, app):
        self._app = app
        options = dict(app.configuration.spare_classes)
        options.pop("pin", None)
        self._led = options.pop("led", None)
        states = options.pop("states", None) or (None, None)
        classes = options.pop("classes")
        if options.get("room", 1) > _MOST_NAME:
            raise ValueError("the room for a name is at most %d bytes" % _MOST_NAME)
        known = app.configuration.class_names[: app.classes - classes]
        spare = SpareClasses(app.learner, known, classes, **options)
        app.spare = app.learner = spare
        app.parts += spare.parts[1:]
        app._states = tuple(zip(spare.parts[1:], states))
        app.more[_CLASSES] = answer
        self._light = None  # a light that is on while a query or a novel class waits

    def attach(self, board, button, sensor):
        """Make the light and, if there is a sensor, the button that names classes; return it."""
        if self._led is not None:
            self._light = board.light(self._led)
        if not sensor:
            return button
        return NovelClassButton(self._app, board, button)

    def note(self, x, label):
        """Compare a sample that was predicted or learned; an unlabelled one may be a candidate."""
        self._app.spare.note(x, label, label < 0)
        if self._light:
            self._show()

    def _show(self):
        queries = self._app.queries
        asks = queries and queries.newest > 0
        new = asks or self._app.spare.novelty.is_ready
        self._light.value(bool(new))  # type: ignore[union-attr]

    def plot(self, plotter, _):
        """Add to a sample's line how many samples are waiting for a name."""
        plotter.put(b"unnamed", self._app.spare.novelty.waiting)


def answer(link, to, body, n):
    """Handle request 15, n bytes in a frame; returns the answer's size.

    Raises ValueError for a request that cannot be served.
    """
    what = body[HEADER]
    if what != _TELL or n != _BYTES[_TELL]:
        return _change(link, to, body, n)
    return _tell(link.app.spare, body[HEADER + 1], link.out.body, to)


def _change(link, to, body, n):
    """Handle a change that a person makes, which may allocate."""
    app, out = link.app, link.out
    spare = app.spare
    what = body[HEADER]
    named = what in (_NAME, _RENAME)
    if what >= len(_BYTES) or (n <= what if named else n != _BYTES[what]):
        raise ValueError("there is no such request about classes")
    c = body[HEADER + 1] if n > 1 else 0
    into = body[HEADER + 2] if n > 2 else 0
    app.settle()
    if named:
        text = str(bytes(memoryview(body)[HEADER + what : HEADER + n]), "utf-8")
        c = spare.name(text) if what == _NAME else _rename(spare, c, text)
    elif what == _MERGE:
        spare.merge(c, into)
    elif what == _FORGET:
        spare.forget(c)
    elif what == _DISMISS:
        spare.novelty.dismiss()
    app.taught()
    return _tell(spare, c, out.body, to)


def _rename(spare, c, text):
    spare.names.rename(c, text)
    return c


def _tell(spare, c, body, to):
    """Write the state of a class and of novel samples to body[to :]; returns how many bytes."""
    names = spare.names
    body[to] = c
    body[to + 1] = names.state(c)
    body[to + 2] = names.stands_for(c)
    _tell_new(spare.novelty, body, to)
    put_u16(body, to + 7, names.changes)
    to += 9
    return 9 + names.copy(c, body, to)


def _tell_new(novelty, body, to):
    body[to + 3] = min(novelty.waiting, 255)
    body[to + 4] = novelty.collect
    body[to + 5] = novelty.score
    body[to + 6] = novelty.threshold


class NovelClassButton:
    """A button that names a novel class. Another button may give the labels of known classes.

    When it is pressed and there are enough novel samples, they become a class with a name such as
    new 1. While it stays pressed, the samples are labelled with the class named last. Otherwise
    the other button gives their label, as long as that class has a name.
    """

    def __init__(self, app, board, other):
        self._app = app
        self._spare = app.spare
        self._other = other
        pin = app.configuration.spare_classes.get("pin")
        self._pin = None if pin is None else board.button(pin)
        self._pressed = False

    def label(self):
        """Return the class of a sample taken now, -1 if it is not known."""
        before = self._pressed
        self._pressed = self._pin is not None and not self._pin.value()
        names = self._spare.names
        if self._pressed:
            if not before and self._spare.novelty.is_ready:
                self._name()
            return names.newest
        label = self._other.label() if self._other else -1
        return label if label >= 0 and names.state(names.stands_for(label)) == 1 else -1

    def _name(self):
        """Give the novel samples an unused name; drop them if no spare class is left."""
        names = self._spare.names
        k = 1
        while names.find("new %d" % k) >= 0:
            k += 1
        try:
            self._spare.name("new %d" % k)
        except ValueError:
            self._spare.novelty.dismiss()
            return
        self._app.taught()

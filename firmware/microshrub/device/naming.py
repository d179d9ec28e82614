"""Spare classes in the program, and on the link; imported when there are any.

config.json's `spare` has the number of spare `classes`, which are the last ones, the `room` for a
name, the settings of Newcomers, perhaps a `pin`: a button, see naming_button.py, and a `led`, a
light that is on while there is a question, those of `asking` included; with a saved model,
`states`: the files of the states of the names and of what is new.
"""

import gc

from micropython import const

from ..spare_classes import SpareClasses
from .frames import HEADER
from .outbox import put_u16

_CLASSES = const(15)

# What request 15 may ask for
_TELL = const(0)
_NAME = const(1)
_RENAME = const(2)
_MERGE = const(3)
_FORGET = const(4)
_DISMISS = const(5)

_BYTES = bytes((2, 0, 0, 3, 2, 1))  # of its payload; 0: a name ends it
_MOST_NAME = const(48)  # bytes of a name, so that it fits a request


def configure(app):
    """Give an application that has its learner the spare classes of its configuration."""
    options = dict(app.configuration.spare)
    options.pop("pin", None)
    led = options.pop("led", None)
    states = options.pop("states", None) or (None, None)
    classes = options.pop("classes")
    if options.get("room", 1) > _MOST_NAME:
        raise ValueError("the room for a name is at most %d bytes" % _MOST_NAME)
    known = app.configuration.class_names[: app.classes - classes]
    spare = SpareClasses(app.learner, known, classes, **options)
    app.spare = app.learner = spare
    app.parts += spare.parts[1:]
    app._states = tuple(zip(spare.parts[1:], states))
    predict, sample, late, before = app._predict, app.sample, app.label, app.attach
    questions = app.questions if app.configuration.asking is not None else None
    names = spare.names
    lights = []  # type: list  # one that is on while there is something new, if the board has it
    codes = app._codes

    def predict_and_note(label):
        said = predict(label)
        note(label)
        return said

    def note(label):
        spare.note(codes, label, label < 0)
        if lights:
            show()

    def show():
        asks = questions and questions.newest > 0
        lights[0].value(bool(asks or spare.newcomers.is_asking))

    def sample_of_a_name(label):
        return sample(names.learned_as(label) if label >= 0 else label)

    def label_with_a_name(sample_id, label):  # with four names from outside it would allocate
        label = names.learned_as(label)
        late(sample_id, label)
        note_late(label)

    def note_late(label):
        spare.note(app.pending.x, label, False)

    def attach(board, button, sensor):
        if before:
            button = before(board, button, sensor)
        if led is not None:
            lights.append(board.light(led))
        if app.plotter:
            asks = app.plotter.extra

            def add(plotter):
                if asks:
                    asks(plotter)
                plotter.put(b"unnamed", spare.newcomers.waiting)

            app.plotter.extra = add
        if not sensor:
            return button
        from .naming_button import NamingButton

        return NamingButton(app, board, button, keep)

    app.more[_CLASSES] = answer
    app.keep = keep
    app.attach = attach
    app._predict = predict_and_note
    app.sample = sample_of_a_name
    app.label = label_with_a_name


def keep(app):
    """Save what a person has said at once, if it can be."""
    if app.store and app.quantizer.frozen and not app.trial:
        app.store.save()
    gc.collect()


def answer(link, to, body, n):
    """Do what the n bytes of request 15 in a frame ask for; returns the answer's size.

    Raises ValueError for what cannot be done.
    """
    what = body[HEADER]
    if what != _TELL or n != _BYTES[_TELL]:
        return _change(link, to, body, n)
    return _tell(link.app.spare, body[HEADER + 1], link.out.body, to)


def _change(link, to, body, n):
    """The same for what a person does, which may allocate."""
    app, out = link.app, link.out
    spare = app.spare
    what = body[HEADER]
    named = what in (_NAME, _RENAME)
    if what >= len(_BYTES) or (n <= what if named else n != _BYTES[what]):
        raise ValueError("there is no such request about classes")
    c = body[HEADER + 1] if n > 1 else 0
    into = body[HEADER + 2] if n > 2 else 0
    if app.saving:
        app.saving.settle()
    if named:
        text = str(bytes(memoryview(body)[HEADER + what : HEADER + n]), "utf-8")
        c = spare.name(text) if what == _NAME else _rename(spare, c, text)
    elif what == _MERGE:
        spare.merge(c, into)
    elif what == _FORGET:
        spare.forget(c)
    elif what == _DISMISS:
        spare.newcomers.dismiss()
    keep(app)
    return _tell(spare, c, out.body, to)


def _rename(spare, c, text):
    spare.names.rename(c, text)
    return c


def _tell(spare, c, body, to):
    """Write what is known of a class, and of what is new, to body[to :]; returns how much."""
    names = spare.names
    body[to] = c
    body[to + 1] = names.state(c)
    body[to + 2] = names.stands_for(c)
    _tell_new(spare.newcomers, body, to)
    put_u16(body, to + 7, names.changes)
    to += 9
    return 9 + names.copy(c, body, to)


def _tell_new(newcomers, body, to):
    body[to + 3] = min(newcomers.waiting, 255)
    body[to + 4] = newcomers.collect
    body[to + 5] = newcomers.score
    body[to + 6] = newcomers.threshold

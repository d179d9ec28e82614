"""The person who names the novel classes of a learner with spare classes; see session.py.

This file, too, runs on CPython and on MicroPython. A class of the stream without a name has no
labels yet. As soon as enough novel samples are alike, the person names the class of the last one,
and all of them are learned with this name. Predictions are classes of the stream.
"""

from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any

if MYPY or __name__ != "spare_person":  # the module's name on MicroPython
    from .session_companions import SessionCompanion
else:
    from session_companions import SessionCompanion

NAMED, KNOWN, NO_ROOM = 0, 1, 2  # outcomes: a new class, a class with a name, no class left


class Person(SessionCompanion):
    """Runs a learner over a stream, and answers its queries.

    spare has "names", the names of the stream's classes; "known", the numbers of the classes that
    have a name from the start; and the parameters of a SpareClasses.
    """

    def __init__(self, library: "ModuleType", session: "Any", spare: "Mapping[str, Any]") -> None:
        model = session.model
        settings = dict(spare)
        self._names, known = settings.pop("names"), settings.pop("known")
        session.classes = len(self._names)
        names = [self._names[truth] for truth in known]
        self.spare = session.learner = library.SpareClasses(model, names, **settings)
        session.runner = self
        self._watchers = session.watchers
        self._allow = session.allow  # allows allocations, or forbids them
        self._features = model.features
        self._x = array("H", bytes(2 * model.features))
        self._class = array("i", [-1] * 256)  # the learner's class for each of the stream's
        self._truth = bytearray(256)  # the stream's class for each of the learner's
        for k in range(len(known)):
            self._tie(known[k], k)
        self._aside = bytearray(self.spare.novelty.places)  # classes of the collected samples
        self._samples = 0
        self._last = 0  # the stream's class of the last sample
        self._new = bytearray()  # for each sample of the last block: 1 if it was novel
        self._answers: list[list[int]] = []  # sample, class, novel of it, novel in all, outcome

    def begin(self, rows: int) -> None:
        self._new = bytearray(rows)

    def outputs(self) -> bytearray:
        return self._new

    def buffers(self) -> "list[tuple[str, str, Any]]":
        return list(self.spare.buffers())

    def status(self) -> "dict[str, Any]":
        return {"answers": self._answers}

    def states(self) -> "list[tuple[str, bytes]]":
        spare = self.spare
        return [("names", spare.names.save()), ("novelty", spare.novelty.save())]

    def run(
        self, codes: "array[int]", labels: bytearray, predictions: bytearray, begin: int, end: int
    ) -> None:
        """Predict and learn rows from begin to before end; only an answer may allocate."""
        at = begin
        while at < end:
            at = self._go_on(codes, labels, predictions, at, end)
            self._allow(True)
            self._answer()
            self._allow(False)

    def _go_on(
        self, codes: "array[int]", labels: bytearray, predictions: bytearray, at: int, end: int
    ) -> int:
        """Predict and learn rows until the end, or until a query; return the next row's place."""
        while at < end:
            for f in range(self._features):
                self._x[f] = codes[at * self._features + f]
            truth = labels[at]
            label = self._class[truth]
            spare, asked = self.spare, self.asked
            if asked:
                predicted = asked.predict(self._x, label, at)
                label = -1  # until answered
            else:
                for each in self._watchers:
                    predicted = spare.predict_next(self._x)
                    each.note(at, self._x, spare.votes, predicted, label)
                predicted = spare.learn(self._x, label) if label >= 0 else spare.predict(self._x)
            predictions[at] = self._truth[predicted]
            self._new[at] = self._note(self._x, truth, label, True)
            if asked:
                label = asked.learn()
                if label >= 0:
                    self._note(asked.pending.x, self._truth[label], label, False)
            self._samples += 1
            self._last = truth
            at += 1
            if spare.novelty.is_ready:
                break
        return at

    def _note(self, x: "array[int]", truth: int, label: int, collecting: bool) -> int:
        """Return whether the sample is novel; if it is collected, keep its class."""
        new = int(self.spare.note(x, label, collecting))
        place = self.spare.novelty.place
        if place >= 0:
            self._aside[place] = truth
        return new

    def _answer(self) -> None:
        """Name the class of the last sample, if it is queried."""
        novelty, truth = self.spare.novelty, self._last
        if not novelty.is_ready:
            return
        waiting = novelty.waiting
        asked = novelty.is_asked
        of_it = sum([self._aside[k] == truth and asked(k) for k in range(novelty.places)])
        what = KNOWN if self._class[truth] >= 0 else NAMED
        try:
            self._tie(truth, self.spare.name(self._names[truth]))
        except ValueError:  # no class is left
            what = NO_ROOM
            novelty.dismiss()
        self._answers.append([self._samples, truth, of_it, waiting, what])

    def _tie(self, truth: int, label: int) -> None:
        self._class[truth] = label
        self._truth[label] = truth

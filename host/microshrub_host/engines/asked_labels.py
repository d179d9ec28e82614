"""A learner that learns the labels that it asks for, and when they come; see session.py.

This file, too, runs on CPython and on MicroPython.
"""

from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any

UNANSWERED, ANSWERED = 1, 2  # what became of a question


if MYPY or __name__ != "asked_labels":  # its name on MicroPython
    from .watchers import SessionPart
else:
    from watchers import SessionPart


class AskedLabels(SessionPart):
    """Runs a learner over a stream, and answers its questions.

    asking has `labels` and `samples`, the parameters of an Asking; `delay`, samples between a
    question and its answer; and how many of 32768 questions are `unanswered`, drawn at random.
    """

    def __init__(self, library: "ModuleType", session: "Any", asking: "Mapping[str, int]") -> None:
        model = session.learner
        if isinstance(session.runner, SessionPart):  # a Person, who has it asked
            session.runner.asked = self
        else:
            session.runner = self
        slots = asking["delay"] + 1
        self.asking = library.Asking(model.classes, asking["labels"], asking["samples"])
        self.pending = library.Pending(model.features, model.classes, slots)
        self.follows = (self.pending,)
        self._said = bytearray()  # of the last block: for each sample 0, or what became of it
        self._model, self._watchers = model, session.watchers
        self._now = -1  # the sample of this run that was predicted last
        self._rehearsal = None
        if type(model).__name__ == "Thicket":
            self._rehearsal = library.Rehearsal(model, self.asking)
        self._answers = array("h", [-1] * slots)  # of the last samples, -1: none
        self._newest = 0  # where in it the newest one is
        self._number = 0  # that the last sample waits by
        self._unanswered = asking["unanswered"]
        self._fixed = library.fixed
        dice = array("i", [0] * self._fixed.RNG_WORDS)
        self._fixed.seed_generator(dice, 1)
        self._dice = dice, self._fixed.generator_table(dice)
        self._row = array("H", bytes(2 * model.features))

    def begin(self, rows: int) -> None:
        self._said = bytearray(rows)

    def said(self) -> bytearray:
        return self._said

    def buffers(self) -> "list[tuple[str, str, Any]]":
        return list(self.asking.buffers() + self.pending.buffers())

    def run(
        self, codes: "array[int]", labels: bytearray, predictions: bytearray, begin: int, end: int
    ) -> None:
        """Predict a block's rows from begin to before end, and learn what is answered.

        Allocates nothing.
        """
        row = self._row
        features = len(row)
        for i in range(begin, end):
            for f in range(features):
                row[f] = codes[i * features + f]
            predictions[i] = self.predict(row, labels[i], i)
            self.learn()

    def predict(self, row: "array[int]", label: int, i: int) -> int:
        """Predict sample i of the block, and ask for its label, which is -1 if nobody knows it."""
        said = int(self._model.predict_next(row))
        self._now = i
        for each in self._watchers:
            each.note(i, row, self._model.votes, said, -1)
        self._number = self.pending.add(row, said)
        self._answers[self._newest] = self._answer(i, row, said, label)
        self._newest = (self._newest + 1) % len(self._answers)
        return said

    def learn(self) -> int:
        """Learn the sample whose label comes now; returns the label, -1 if there is none.

        The sample's codes are then pending.x.
        """
        label = self._answers[self._newest]
        if label < 0:
            return -1
        self._answers[self._newest] = -1
        said = self.pending.take((self._number - len(self._answers)) % 65535 + 1)
        if len(self._answers) > 1:  # others were predicted since
            self._model.predict_next(self.pending.x)
        for each in self._watchers:
            each.late(self._now if len(self._answers) == 1 else -1, self._model.votes, said, label)
        self.asking.note(self._model.votes, said != label)
        self._model.learn(self.pending.x, label)
        return label

    def _answer(self, i: int, row: "array[int]", said: int, label: int) -> int:
        """The label of sample i, predicted as `said`, if it is asked for and answered, else -1."""
        if not self.asking.ask(self._model.votes):
            if self._rehearsal:
                self._rehearsal.rehearse(row, said)
            return -1
        answered = self._fixed.below(self._dice[1], 0, 32768) >= self._unanswered and label >= 0
        self._said[i] = ANSWERED if answered else UNANSWERED
        return label if answered else -1

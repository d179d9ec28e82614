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


class AskedLabels:
    """Runs a learner over a stream, and answers its questions.

    asking has `labels` and `samples`, the parameters of an Asking; `delay`, samples between a
    question and its answer; and how many of 32768 questions are `unanswered`, drawn at random.
    """

    def __init__(self, library: "ModuleType", model: "Any", asking: "Mapping[str, int]") -> None:
        slots = asking["delay"] + 1
        self.asking = library.Asking(model.classes, asking["labels"], asking["samples"])
        self.pending = library.Pending(model.features, model.classes, slots)
        self.questions = bytearray()  # of the last block: for each sample 0, or what became of it
        self._model = model
        self._answers = array("h", [-1] * slots)  # of the last samples, -1: none
        self._newest = 0  # where in it the newest one is
        self._unanswered = asking["unanswered"]
        self._fixed = library.fixed
        dice = array("i", [0] * self._fixed.RNG_WORDS)
        self._fixed.seed_generator(dice, 1)
        self._dice = dice, self._fixed.generator_table(dice)
        self._row = array("H", bytes(2 * model.features))

    def run(self, codes: "array[int]", labels: bytearray, predictions: bytearray) -> None:
        """Predict a block, and learn what is answered. Allocates nothing."""
        row = self._row
        features = len(row)
        for i in range(len(labels)):
            for f in range(features):
                row[f] = codes[i * features + f]
            predictions[i] = self._model.predict(row)
            number = self.pending.add(row, predictions[i])
            self._answers[self._newest] = self._answer(i, labels[i])
            self._newest = (self._newest + 1) % len(self._answers)
            self._learn((number - len(self._answers) + 1) % 65536)

    def _answer(self, i: int, label: int) -> int:
        """The label of sample i if it is asked for and will be answered, else -1."""
        if not self.asking.ask(self._model.votes):
            return -1
        answered = self._fixed.below(self._dice[1], 0, 32768) >= self._unanswered
        self.questions[i] = ANSWERED if answered else UNANSWERED
        return label if answered else -1

    def _learn(self, number: int) -> None:
        """Learn the oldest sample, which has that id, if its label comes now."""
        label = self._answers[self._newest]
        if label < 0:
            return
        self._answers[self._newest] = -1
        said = self.pending.take(number)
        if len(self._answers) > 1:  # others were predicted since
            self._model.predict(self.pending.x)
        self.asking.note(self._model.votes, said != label)
        self._model.learn(self.pending.x, label)

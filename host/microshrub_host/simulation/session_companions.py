"""The companions of a session: they see each sample, or query its label; see session.py.

This file, too, runs on CPython and on MicroPython.
"""

from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any


class SessionCompanion:
    """The base of companions in a session: it does nothing."""

    follows: "tuple[Any, ...]" = ()
    asked: "Any" = None  # in a companion that runs rows: the AskedLabels, if only some are learned

    def begin(self, rows: int) -> None:
        """Make room for the outputs of a run of that many rows."""

    def look(
        self, codes: "array[int]", labels: bytearray, predictions: bytearray, begin: int, end: int
    ) -> None:
        """Observe the rows of a run from `begin` to before `end`, after they were learned."""

    def outputs(self) -> "bytes | bytearray":
        """Return the outputs for the rows of the last run."""
        return b""

    def status(self) -> "dict[str, Any]":
        """Return the companion's own status."""
        return {}

    def buffers(self) -> "list[tuple[str, str, Any]]":
        """Return a list of (name, typecode, buffer)."""
        return []

    def states(self) -> "list[tuple[str, bytes]]":
        """Return the saved states, by name."""
        return []


class Watched(SessionCompanion):
    """A companion that watches each sample, see firmware's device/watchers.py.

    Its outputs for each sample are the result of look(), then the result of holds() for the label,
    as 1 or 0, or 2 without a label; then the `confidence`, and the confidence by the votes alone.
    """

    def __init__(
        self, library: "ModuleType", session: "Any", options: "Mapping[str, Any]"
    ) -> None:
        module, class_name, parameters = options["row"]
        home = __import__(library.__name__ + "." + module, None, None, [class_name])
        model = session.learner
        self.part = getattr(home, class_name)(model.features, model.classes, **parameters)
        self._name = options["name"]
        self._holds = getattr(self.part, "holds", None)
        self._outputs = self._held = self._sure = self._votes = bytearray()
        session.watchers.append(self)
        if session.runner is session.model:
            session.runner = _Rows(session)

    def note(
        self, i: int, x: "array[int]", votes: "array[int]", predicted: int, label: int
    ) -> None:
        """Watch sample i of the run after its prediction; label is -1 if it is not known."""
        self._outputs[i] = self.part.look(x, votes, predicted, label)
        self._votes[i] = min(max(votes) >> 16, 255)
        self._sure[i] = getattr(self.part, "confidence", self._votes[i])
        self._held[i] = 2
        if label >= 0 and self._holds:
            self._held[i] = self._holds(label)

    def late(self, i: int, votes: "array[int]", predicted: int, label: int) -> None:
        """Note the late label of an earlier sample; i >= 0 if the sample is of this run."""
        if i >= 0 and self._holds:
            self._held[i] = self._holds(label)
        self.part.late(votes, predicted, label)

    def begin(self, rows: int) -> None:
        self._outputs, self._held = bytearray(rows), bytearray(rows)
        self._sure, self._votes = bytearray(rows), bytearray(rows)

    def outputs(self) -> bytearray:
        return self._outputs + self._held + self._sure + self._votes

    def buffers(self) -> "list[tuple[str, str, Any]]":
        return list(self.part.buffers())

    def states(self) -> "list[tuple[str, bytes]]":
        return [(self._name, self.part.save())]


class _Rows:
    """Runs a learner row by row, so that watchers run between prediction and learning."""

    def __init__(self, session: "Any") -> None:
        self._model, self._watchers = session.model, session.watchers
        self._row = array("H", bytes(2 * session.model.features))

    def run(
        self, codes: "array[int]", labels: bytearray, predictions: bytearray, begin: int, end: int
    ) -> None:
        row, model = self._row, self._model
        features = len(row)
        for i in range(begin, end):
            for f in range(features):
                row[f] = codes[i * features + f]
            predicted = predictions[i] = model.predict_next(row)
            for each in self._watchers:
                each.note(i, row, model.votes, predicted, labels[i])
            model.learn(row, labels[i])


class AnomalyPart(SessionCompanion):
    """An AnomalyScore: all scores of a run, then for each row 1 if it is an anomaly."""

    def __init__(
        self, library: "ModuleType", session: "Any", options: "Mapping[str, int]"
    ) -> None:
        self._anomaly = library.AnomalyScore(session.model.features, **options)
        self._scores = self._anomalous = bytearray()

    def buffers(self) -> "list[tuple[str, str, Any]]":
        return list(self._anomaly.buffers())

    def begin(self, rows: int) -> None:
        self._scores, self._anomalous = bytearray(rows), bytearray(rows)

    def look(
        self, codes: "array[int]", labels: bytearray, predictions: bytearray, begin: int, end: int
    ) -> None:
        self._anomaly.run(codes, self._scores, self._anomalous)

    def outputs(self) -> bytearray:
        return self._scores + self._anomalous

    def status(self) -> "dict[str, int]":
        return {"threshold": self._anomaly.threshold}

    def states(self) -> "list[tuple[str, bytes]]":
        return [("anomaly", self._anomaly.save())]


UNANSWERED, ANSWERED = 1, 2  # outcomes of a query


class AskedLabels(SessionCompanion):
    """Runs a learner over a stream; it learns only the labels that it queries, when they arrive.

    budget has `labels` and `samples`, the parameters of a QueryStrategy; `delay`, samples between
    a query and its answer; and how many of 32768 queries are `unanswered`, drawn at random.
    """

    def __init__(self, library: "ModuleType", session: "Any", budget: "Mapping[str, int]") -> None:
        model = session.learner
        if isinstance(session.runner, SessionCompanion):  # a Person, who calls this object
            session.runner.asked = self
        else:
            session.runner = self
        slots = budget["delay"] + 1
        self.strategy = library.QueryStrategy(model.classes, budget["labels"], budget["samples"])
        self.pending = library.Pending(model.features, model.classes, slots)
        self.follows = (self.pending,)
        self._outputs = bytearray()  # for each sample of the last block: 0 or an outcome
        self._model, self._watchers = model, session.watchers
        self._now = -1  # the last predicted sample of this run
        self._rehearsal = None
        if type(model).__name__ == "Thicket":
            self._rehearsal = library.Rehearsal(model, self.strategy)
        self._answers = array("h", [-1] * slots)  # labels of the last samples, -1: none
        self._newest = 0  # index of the next sample, and of the answer due
        self._number = 0  # the last sample's number in `pending`
        self._unanswered = budget["unanswered"]
        self._fixed = library.fixed
        dice = array("i", [0] * self._fixed.RNG_WORDS)
        self._fixed.seed_generator(dice, 1)
        self._dice = dice, self._fixed.generator_table(dice)
        self._row = array("H", bytes(2 * model.features))

    def begin(self, rows: int) -> None:
        self._outputs = bytearray(rows)

    def outputs(self) -> bytearray:
        return self._outputs

    def buffers(self) -> "list[tuple[str, str, Any]]":
        return list(self.strategy.buffers() + self.pending.buffers())

    def run(
        self, codes: "array[int]", labels: bytearray, predictions: bytearray, begin: int, end: int
    ) -> None:
        """Predict a block's rows from begin to before end, and learn the answers.

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
        """Predict sample i of the block, and query its label, which is -1 if it is unknown."""
        predicted = int(self._model.predict_next(row))
        self._now = i
        for each in self._watchers:
            each.note(i, row, self._model.votes, predicted, -1)
        self._number = self.pending.add(row, predicted)
        self._answers[self._newest] = self._answer(i, row, predicted, label)
        self._newest = (self._newest + 1) % len(self._answers)
        return predicted

    def learn(self) -> int:
        """Learn the sample whose label arrives now; return the label, -1 if there is none.

        The sample's codes are then in pending.x.
        """
        label = self._answers[self._newest]
        if label < 0:
            return -1
        self._answers[self._newest] = -1
        predicted = self.pending.take((self._number - len(self._answers)) % 65535 + 1)
        if len(self._answers) > 1:  # others were predicted since
            self._model.predict_next(self.pending.x)
        for each in self._watchers:
            each.late(
                self._now if len(self._answers) == 1 else -1, self._model.votes, predicted, label
            )
        changed = self.strategy.note(self._model.votes, predicted != label)
        if changed and self._rehearsal:
            self._rehearsal.let_go()
        self._model.learn(self.pending.x, label)
        return label

    def _answer(self, i: int, row: "array[int]", predicted: int, label: int) -> int:
        """Return the label of sample i if it is queried and answered, else -1."""
        if not self.strategy.ask(self._model.votes):
            if self._rehearsal:
                self._rehearsal.rehearse(row, predicted)
            return -1
        answered = self._fixed.below(self._dice[1], 0, 32768) >= self._unanswered and label >= 0
        self._outputs[i] = ANSWERED if answered else UNANSWERED
        return label if answered else -1

"""What looks at each sample beside a learner; see session.py.

This file, too, runs on CPython and on MicroPython.
"""

from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any


class SessionPart:
    """The base of what stands beside a learner: it says and does nothing."""

    follows: "tuple[Any, ...]" = ()
    asked: "Any" = None  # the AskedLabels of one that runs rows, if only some are learned

    def begin(self, rows: int) -> None:
        """Make room for what is said of a run of so many rows."""

    def look(
        self, codes: "array[int]", labels: bytearray, predictions: bytearray, begin: int, end: int
    ) -> None:
        """Rows from begin to before end of the run were predicted and learned."""

    def said(self) -> "bytes | bytearray":
        """What is said of the rows of the last run."""
        return b""

    def told(self) -> "dict[str, Any]":
        """What it says of itself."""
        return {}

    def buffers(self) -> "list[tuple[str, str, Any]]":
        """As (name, typecode, buffer)."""
        return []

    def states(self) -> "list[tuple[str, bytes]]":
        """What save() gives, by names."""
        return []


class Watched(SessionPart):
    """What watches each sample, see firmware's device/beside.py.

    Of each sample, it says what look() says, then 1 if what `holds` its label did so, 0 if not,
    and 2 if the label was not told; then its `confidence`, and that of the votes alone.
    """

    def __init__(
        self, library: "ModuleType", session: "Any", options: "Mapping[str, Any]"
    ) -> None:
        module, kind, parameters = options["row"]
        home = __import__(library.__name__ + "." + module, None, None, [kind])
        model = session.learner
        self.part = getattr(home, kind)(model.features, model.classes, **parameters)
        self._name = options["name"]
        self._holds = getattr(self.part, "holds", None)
        self._said = self._held = self._sure = self._votes = bytearray()
        session.watchers.append(self)
        if session.runner is session.model:
            session.runner = _Rows(session)

    def note(self, i: int, x: "array[int]", votes: "array[int]", said: int, label: int) -> None:
        """Sample i of the run is predicted; label is -1 if it is not known."""
        self._said[i] = self.part.look(x, votes, said, label)
        self._votes[i] = min(max(votes) >> 16, 255)
        self._sure[i] = getattr(self.part, "confidence", self._votes[i])
        self._held[i] = 2
        if label >= 0 and self._holds:
            self._held[i] = self._holds(label)

    def late(self, i: int, votes: "array[int]", said: int, label: int) -> None:
        """The label of a sample that was predicted before; i >= 0 if that is of this run."""
        if i >= 0 and self._holds:
            self._held[i] = self._holds(label)
        self.part.told(votes, said, label)

    def begin(self, rows: int) -> None:
        self._said, self._held = bytearray(rows), bytearray(rows)
        self._sure, self._votes = bytearray(rows), bytearray(rows)

    def said(self) -> bytearray:
        return self._said + self._held + self._sure + self._votes

    def buffers(self) -> "list[tuple[str, str, Any]]":
        return list(self.part.buffers())

    def states(self) -> "list[tuple[str, bytes]]":
        return [(self._name, self.part.save())]


class _Rows:
    """Runs a learner row by row, so that each is watched between prediction and learning."""

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
            said = predictions[i] = model.predict_next(row)
            for each in self._watchers:
                each.note(i, row, model.votes, said, labels[i])
            model.learn(row, labels[i])


class AnomalyPart(SessionPart):
    """An AnomalyScore: all scores of a run, then for each row 1 if it is unlike."""

    def __init__(
        self, library: "ModuleType", session: "Any", options: "Mapping[str, int]"
    ) -> None:
        self._anomaly = library.AnomalyScore(session.model.features, **options)
        self._scores = self._unlike = bytearray()

    def buffers(self) -> "list[tuple[str, str, Any]]":
        return list(self._anomaly.buffers())

    def begin(self, rows: int) -> None:
        self._scores, self._unlike = bytearray(rows), bytearray(rows)

    def look(
        self, codes: "array[int]", labels: bytearray, predictions: bytearray, begin: int, end: int
    ) -> None:
        self._anomaly.run(codes, self._scores, self._unlike)

    def said(self) -> bytearray:
        return self._scores + self._unlike

    def told(self) -> "dict[str, int]":
        return {"threshold": self._anomaly.threshold}

    def states(self) -> "list[tuple[str, bytes]]":
        return [("anomaly", self._anomaly.save())]

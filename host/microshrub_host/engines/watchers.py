"""What looks at each sample beside a learner; see session.py.

This file, too, runs on CPython and on MicroPython.
"""

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from array import array
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

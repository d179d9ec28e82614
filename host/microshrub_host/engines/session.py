"""A learner, its quantizer and its metrics, driven by blocks of rows: one run of one engine.

This file runs on CPython and, over a pipe, on MicroPython. There it is the program: it reads
commands from its standard input and answers on its standard output. A command is a letter, a
little-endian u32 length and that many bytes; the answer is a u32 length and that many bytes.

    C  create: JSON {"kind", "parameters", "anomaly", "target", "spare",
       "asking", "growing", "own"}                                  -> nothing
    O  observe raw rows, i32                                        -> nothing
    F  freeze the quantizer and the target                          -> nothing
    R  run: u32 labels, raw rows as i32, so many labels as u8 (none
       of numbers)                             -> a prediction for each row, u8 or raw as i32
    P  predict raw rows, i32, whose labels nobody tells               -> the classes, u8
    D  do what is left to do while nothing is taught                -> nothing
    A  anomalies in the last run: for each row its score, then for each 1 if it was unlike
    N  new ones in the last run: for each row 1 if it was unlike all that had a name
    K  questions in the last run: for each row 0, or what asked_labels.py says of it
    S  status                                                       -> JSON
    B  buffers                                                      -> all, one after another
    L  learner's saved state                                        -> what save() gives
    Q  quantizer's saved state                                      -> what save() gives
    W  half the width of the interval of each row of the last run   -> i32
    Y  the target's saved state                                     -> what save() gives
    I  that of the interval, if there is one                        -> what save() gives
    M  that of the names of spare classes, if there are some        -> what save() gives
    E  that of what is new, with spare classes                      -> what save() gives
    H  heap                                                         -> u32 bytes in use
"""

import gc
import json
import sys
from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any

_METRICS = (
    "samples",
    "accuracy",
    "accuracy_nochange",
    "accuracy_majority",
    "kappa",
    "kappa_temporal",
)


try:
    import micropython
except ImportError:
    micropython = None


def _allocations(allowed: bool) -> None:
    """On MicroPython, lock the heap while the learner works, so that any allocation fails."""
    if micropython:
        (micropython.heap_unlock if allowed else micropython.heap_lock)()


class Session:
    """One learner of classes. `library` is the device library, loaded for some engine.

    anomaly has the parameters of an AnomalyScore that looks at each sample, or is None; spare is
    what a Person of spare_person.py takes, asking what AskedLabels of asked_labels.py does. If
    ranges are growing, nothing is observed first; there is neither anomaly nor spare then.
    """

    def __init__(
        self,
        library: "ModuleType",
        kind: str,
        parameters: "Mapping[str, Any]",
        anomaly: "Mapping[str, int] | None" = None,
        spare: "Mapping[str, Any] | None" = None,
        asking: "Mapping[str, int] | None" = None,
        growing: bool = False,
    ) -> None:
        self.model = getattr(library, kind)(**parameters)
        self.person = spare and _person(library, self.model, spare)
        learner = self.person.spare if self.person else self.model
        self.asked = asking and _asked(library, learner, asking)
        if self.person:
            self.person.asked = self.asked
        follow = [self.model] + ([self.asked.pending] if self.asked else [])
        if growing:
            self.quantizer = library.GrowingQuantizer(self.model.features, tuple(follow))
        else:
            self.quantizer = library.Quantizer(self.model.features)
        self.metrics = library.Metrics((self.person or self.model).classes)
        self.anomaly = anomaly and library.AnomalyScore(self.model.features, **anomaly)
        self.scores = self.unlike = bytearray()  # of the last run

    def observe(self, raw: "array[int]") -> None:
        """Show the quantizer the first rows."""
        self.quantizer.observe(raw)

    def freeze(self) -> None:
        """Fix the quantizer's ranges."""
        self.quantizer.freeze()

    def run(self, raw: "array[int]", labels: bytearray) -> bytearray:
        """Encode, predict and learn a block; returns the predictions."""
        codes = array("H", bytes(2 * len(raw)))
        predictions = bytearray(len(labels))
        if self.anomaly:
            self.scores, self.unlike = bytearray(len(labels)), bytearray(len(labels))
        if self.person:
            self.person.new = bytearray(len(labels))
        if self.asked:
            self.asked.questions = bytearray(len(labels))
        _allocations(False)
        try:
            at = 0
            while at < len(labels):
                end = self.quantizer.encode_from(raw, codes, at)
                if self.anomaly:
                    self.anomaly.run(codes, self.scores, self.unlike)
                if self.person:
                    self._run_with(self.person, codes, labels, predictions)
                else:
                    (self.asked or self.model).run(codes, labels, predictions, at, end)
                at = end
            self.metrics.update_rows(labels, predictions)
        finally:
            _allocations(True)
        return predictions

    def ask(self, raw: "array[int]") -> bytearray:
        """The classes of rows whose labels nobody tells. They are predicted, not learned."""
        features = self.model.features
        row, codes = array("i", bytes(4 * features)), array("H", bytes(2 * features))
        predictions = bytearray(len(raw) // features)
        _allocations(False)
        try:
            for i in range(len(predictions)):
                for f in range(features):
                    row[f] = raw[i * features + f]
                self.quantizer.code(row, codes)
                predictions[i] = self.model.predict(codes)
        finally:
            _allocations(True)
        return predictions

    def settle(self) -> None:
        """Do what the learner has left to do while nothing is taught."""
        while self.model.idle():
            pass

    @staticmethod
    def _run_with(
        person: "Any", codes: "array[int]", labels: bytearray, predictions: bytearray
    ) -> None:
        """Have a person answer the learner's questions; only an answer may allocate."""
        at = 0
        while at < len(labels):
            at = person.run(codes, labels, predictions, at)
            _allocations(True)
            person.answer()
            _allocations(False)

    def status(self) -> "dict[str, Any]":
        """Counts, ratios in millionths, and the model's hash."""
        status = {name: getattr(self.metrics, name) for name in _METRICS}
        status["clamped"] = self.quantizer.clamped
        status["missing"] = self.quantizer.missing
        status["state_crc32"] = self.model.state_crc32()
        status["progress"] = self.model.progress()
        status["anomaly_threshold"] = self.anomaly.threshold if self.anomaly else 0
        status["answers"] = self.person.answers if self.person else []
        return status

    def buffers(self) -> "list[tuple[str, str, Any]]":
        """All as a list of (name, typecode, buffer), the quantizer's first, then the model's."""
        spare = self.person and self.person.spare
        parts = [self.quantizer, self.model, self.metrics, self.anomaly, spare]
        parts += [self.asked.asking, self.asked.pending] if self.asked else []
        return [row for part in parts if part for row in part.buffers()]

    def more_states(self) -> "tuple[bytes, bytes, bytes, bytes]":
        """There is none of a target and an interval; those of names and of what is new."""
        spare = self.person and self.person.spare
        states = (spare.names.save(), spare.newcomers.save()) if spare else (b"", b"")
        return b"", b"", states[0], states[1]


class NumberSession:
    """One learner of numbers. target has the parameters of its Forecaster, but for the model."""

    def __init__(
        self,
        library: "ModuleType",
        kind: str,
        parameters: "Mapping[str, Any]",
        target: "Mapping[str, Any]",
    ) -> None:
        self.model = getattr(library, kind)(**parameters)
        self.forecaster = library.Forecaster(self.model, **target)
        self.quantizer = self.forecaster.quantizer
        self.halves = array("i")  # of the last run

    def observe(self, raw: "array[int]") -> None:
        """Show it the first rows."""
        columns = self.forecaster.columns
        for at in range(0, len(raw), columns):
            self.forecaster.observe(raw[at : at + columns])

    def freeze(self) -> None:
        """Fix the ranges of the features and of the target."""
        self.forecaster.freeze()

    def run(self, raw: "array[int]", _: bytearray) -> "array[int]":
        """Take a block of rows; returns the predictions, raw."""
        forecaster = self.forecaster
        columns = forecaster.columns
        rows = len(raw) // columns
        said = array("i", bytes(4 * rows))
        self.halves = halves = array("i", bytes(4 * rows))
        _allocations(False)
        try:
            for i in range(rows):
                said[i] = forecaster.take_at(raw, i * columns)
                halves[i] = forecaster.half
        finally:
            _allocations(True)
        return said

    def status(self) -> "dict[str, Any]":
        """Counts, and the model's hash."""
        return {
            "samples": self.forecaster.samples,
            "clamped": self.quantizer.clamped,
            "missing": self.quantizer.missing,
            "state_crc32": self.model.state_crc32(),
            "progress": self.model.progress(),
        }

    def buffers(self) -> "list[tuple[str, str, Any]]":
        """All buffers, as a list of (name, typecode, buffer): quantizer, model, target, ..."""
        return [row for part in self.forecaster.parts for row in part.buffers()]

    def more_states(self) -> "tuple[bytes, bytes, bytes, bytes]":
        """The saved states of the target's range and the interval, if there is one; no others."""
        interval = self.forecaster.interval
        return self.forecaster.target.save(), interval.save() if interval else b"", b"", b""


def open_session(
    library: "ModuleType",
    kind: str,
    parameters: "Mapping[str, Any]",
    anomaly: "Mapping[str, Any] | None" = None,
    target: "Mapping[str, Any] | None" = None,
    spare: "Mapping[str, Any] | None" = None,
    asking: "Mapping[str, Any] | None" = None,
    growing: bool = False,
) -> "Any":
    """A session of the learner of that name, which predicts numbers if it has a target."""
    if target:
        return NumberSession(library, kind, parameters, target)
    return Session(library, kind, parameters, anomaly, spare, asking, growing)


def _person(library: "ModuleType", model: "Any", spare: "Mapping[str, Any]") -> "Any":
    if micropython:
        from spare_person import Person  # type: ignore[import-not-found]
    else:
        from .spare_person import Person
    return Person(library, model, spare)


def _asked(library: "ModuleType", model: "Any", asking: "Mapping[str, int]") -> "Any":
    if micropython:
        from asked_labels import AskedLabels  # type: ignore[import-not-found]
    else:
        from .asked_labels import AskedLabels
    return AskedLabels(library, model, asking)


def _serve(read: "Callable[[int], bytes]", write: "Callable[[bytes], Any]") -> None:
    session: Any = None
    while True:
        head = read(5)
        if len(head) < 5:
            return
        command = head[:1]
        body = read(int.from_bytes(head[1:], "little"))
        answer = b""
        if command == b"C":
            session = _create(json.loads(str(body, "utf-8")))
        elif command == b"O":
            session.observe(array("i", body))
        elif command == b"F":
            session.freeze()
        elif command == b"R":
            split = len(body) - int.from_bytes(body[:4], "little")
            answer = bytes(session.run(array("i", body[4:split]), bytearray(body[split:])))
        elif command == b"P":
            answer = bytes(session.ask(array("i", body)))
        elif command == b"D":
            session.settle()
        elif command == b"A":
            answer = bytes(session.scores + session.unlike)
        elif command == b"N":
            answer = bytes(session.person.new)
        elif command == b"K":
            answer = bytes(session.asked.questions)
        elif command == b"S":
            answer = json.dumps(session.status()).encode()
        elif command == b"B":
            answer = b"".join([bytes(buffer) for _, _, buffer in session.buffers()])
        elif command == b"L":
            answer = session.model.save()
        elif command == b"Q":
            answer = session.quantizer.save()
        elif command in (b"Y", b"I", b"M", b"E"):
            answer = session.more_states()[b"YIME".find(command)]
        elif command == b"W":
            answer = bytes(session.halves)
        elif command == b"H":
            gc.collect()
            answer = gc.mem_alloc().to_bytes(4, "little")  # type: ignore[attr-defined]
        write(len(answer).to_bytes(4, "little"))
        write(answer)


def _create(config: "dict[str, Any]") -> "Any":
    import microshrub
    from microshrub.learners import register

    for name, module in config["own"]:
        register(name, module)  # type: ignore[no-untyped-call]
    names = ("kind", "parameters", "anomaly", "target", "spare", "asking", "growing")
    return open_session(microshrub, *[config[name] for name in names])


def serve(library: str) -> None:
    """Answer commands until there are no more; `library` is the device library's folder."""
    sys.path.insert(0, library)
    _serve(sys.stdin.buffer.read, sys.stdout.buffer.write)


if __name__ == "__main__":
    serve(sys.argv[1])

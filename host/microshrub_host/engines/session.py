"""A learner, its quantizer and its metrics, driven by blocks of rows: one run of one engine.

This file runs on CPython and, over a pipe, on MicroPython. There it is the program: it reads
commands from its standard input and answers on its standard output. A command is a letter, a
little-endian u32 length and that many bytes; the answer is a u32 length and that many bytes.

    C  create: JSON {"kind", "parameters", "anomaly", "late", "ends", "own"}    -> nothing
    O  observe raw rows, i32                                        -> nothing
    T  observe raw targets, i32                                     -> nothing
    F  freeze the quantizer and the target                          -> nothing
    R  run: u32 rows, raw rows as i32, labels as u8 or raw targets
       as i32                                                       -> as many predictions
    A  anomalies in the last run: for each row its score, then for each 1 if it was unlike
    S  status                                                       -> JSON
    B  buffers                                                      -> all, one after another
    L  learner's saved state                                        -> what save() gives
    Q  quantizer's saved state                                      -> what save() gives
    Y  the target's saved state, if there is one                    -> what save() gives
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

    anomaly has the parameters of an AnomalyScore that looks at each sample, or is None.
    """

    def __init__(
        self,
        library: "ModuleType",
        kind: str,
        parameters: "Mapping[str, Any]",
        anomaly: "Mapping[str, int] | None" = None,
    ) -> None:
        self.model = getattr(library, kind)(**parameters)
        self.quantizer = library.Quantizer(self.model.features)
        self.metrics = library.Metrics(self.model.classes)
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
        _allocations(False)
        try:
            self.quantizer.encode(raw, codes)
            if self.anomaly:
                self.anomaly.run(codes, self.scores, self.unlike)
            self.model.run(codes, labels, predictions)
            self.metrics.update_rows(labels, predictions)
        finally:
            _allocations(True)
        return predictions

    def status(self) -> "dict[str, Any]":
        """Counts, ratios in millionths, and the model's hash."""
        status = {name: getattr(self.metrics, name) for name in _METRICS}
        status["clamped"] = self.quantizer.clamped
        status["missing"] = self.quantizer.missing
        status["state_crc32"] = self.model.state_crc32()
        status["progress"] = self.model.progress()
        status["anomaly_threshold"] = self.anomaly.threshold if self.anomaly else 0
        return status

    def buffers(self) -> "list[tuple[str, str, Any]]":
        """All as a list of (name, typecode, buffer): quantizer, model, metrics, anomaly."""
        parts = (self.quantizer, self.model, self.metrics, self.anomaly)
        return [row for part in parts if part for row in part.buffers()]


class NumberSession:
    """One learner of numbers, of which each is known `late` samples after its own.

    ends is the raw range of the targets, if it is given.
    """

    def __init__(
        self,
        library: "ModuleType",
        kind: str,
        parameters: "Mapping[str, Any]",
        late: int = 0,
        ends: "Any" = None,
    ) -> None:
        self.model = getattr(library, kind)(**parameters)
        self.quantizer = library.Quantizer(self.model.features)
        self.target = library.Target(ends)
        self._samples = 0
        self._waiting = array("H", bytes(2 * late * self.model.features))
        self._targets = array("i", bytes(4 * late))

    def observe(self, raw: "array[int]") -> None:
        """Show the quantizer the first rows."""
        self.quantizer.observe(raw)

    def observe_targets(self, raw: "array[int]") -> None:
        """Show the first targets, unless their range was given."""
        for value in () if self.target.frozen else raw:
            self.target.observe(value)

    def freeze(self) -> None:
        """Fix the quantizer's ranges, and that of the targets."""
        self.quantizer.freeze()
        self.target.freeze()

    def run(self, raw: "array[int]", targets: "array[int]") -> "array[int]":
        """Encode, predict and learn a block; returns the predictions, raw."""
        codes = array("H", bytes(2 * len(raw)))
        predictions = array("i", bytes(4 * len(targets)))
        _allocations(False)
        try:
            self.quantizer.encode(raw, codes)
            for i in range(len(targets)):
                if len(self._targets):
                    predictions[i] = self._late(codes, i, targets[i])
                else:
                    predictions[i] = self._now(codes, i, targets[i])
        finally:
            _allocations(True)
        return predictions

    def _now(self, codes: "array[int]", i: int, target: int) -> int:
        """Predict a sample and learn it; a prediction is within the targets of before."""
        model = self.model
        code = model._learn(model._addresses, codes, i * model.features, self.target.code(target))
        predicted: int = self.target.value(code)
        self.target.learn(target)
        self._samples += 1
        return predicted

    def _late(self, codes: "array[int]", i: int, target: int) -> int:
        """Predict a sample, and learn the one whose target has become known."""
        model, waiting = self.model, self._waiting
        features = model.features
        code = model._predict(model._addresses, codes, i * features)
        predicted: int = self.target.value(code)
        place = self._samples % len(self._targets)
        at = place * features
        if self._samples >= len(self._targets):
            known = self.target.learn(self._targets[place])
            model._learn(model._addresses, waiting, at, known)
        for f in range(features):
            waiting[at + f] = codes[i * features + f]
        self._targets[place] = target
        self._samples += 1
        return predicted

    def status(self) -> "dict[str, Any]":
        """Counts, and the model's hash."""
        return {
            "samples": self._samples,
            "clamped": self.quantizer.clamped,
            "missing": self.quantizer.missing,
            "state_crc32": self.model.state_crc32(),
            "progress": self.model.progress(),
        }

    def buffers(self) -> "list[tuple[str, str, Any]]":
        """All buffers, as a list of (name, typecode, buffer): quantizer, model, target."""
        parts = (self.quantizer, self.model, self.target)
        return [row for part in parts for row in part.buffers()]


def open_session(
    library: "ModuleType",
    kind: str,
    parameters: "Mapping[str, Any]",
    anomaly: "Mapping[str, Any] | None" = None,
    late: int = 0,
    ends: "Any" = None,
) -> "Any":
    """A session of the learner of that name: of numbers if it predicts these, else of classes."""
    from_registry = __import__(library.__name__ + ".learners", None, None, ("is_regressor",))
    if from_registry.is_regressor(kind):
        return NumberSession(library, kind, parameters, late, ends)
    return Session(library, kind, parameters, anomaly)


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
        elif command == b"T":
            session.observe_targets(array("i", body))
        elif command == b"F":
            session.freeze()
        elif command == b"R":
            wide = 1 if isinstance(session, Session) else 4
            split = len(body) - wide * int.from_bytes(body[:4], "little")
            known = bytearray(body[split:]) if wide == 1 else array("i", body[split:])
            answer = bytes(session.run(array("i", body[4:split]), known))
        elif command == b"A":
            answer = bytes(session.scores + session.unlike)
        elif command == b"S":
            answer = json.dumps(session.status()).encode()
        elif command == b"B":
            answer = b"".join([bytes(buffer) for _, _, buffer in session.buffers()])
        elif command == b"L":
            answer = session.model.save()
        elif command == b"Q":
            answer = session.quantizer.save()
        elif command == b"Y":
            answer = b"" if isinstance(session, Session) else session.target.save()
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
    parts = [config[name] for name in ("kind", "parameters", "anomaly", "late", "ends")]
    return open_session(microshrub, *parts)


def serve(library: str) -> None:
    """Answer commands until there are no more; `library` is the device library's folder."""
    sys.path.insert(0, library)
    _serve(sys.stdin.buffer.read, sys.stdout.buffer.write)


if __name__ == "__main__":
    serve(sys.argv[1])

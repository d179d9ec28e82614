"""A learner, its quantizer and its metrics, driven by blocks of rows: one run of one engine.

This file runs on CPython and, over a pipe, on MicroPython. There it is the program: it reads
commands from its standard input and answers on its standard output. A command is a letter, a
little-endian u32 length and that many bytes; the answer is a u32 length and that many bytes.

    C  create: JSON {"kind", "parameters", "beside", "growing", "own"}  -> nothing
    O  observe raw rows, i32                                        -> nothing
    F  freeze the quantizer and the target                          -> nothing
    R  run: u32 labels, raw rows as i32, so many labels as u8 (none
       of numbers)                             -> a prediction for each row, u8 or raw as i32
    P  predict raw rows, i32, whose labels nobody tells               -> the classes, u8
    D  do what is left to do while nothing is taught                -> nothing
    X  what a part beside the learner, u8, says of the last run     -> bytes, see its class
    S  status                                                       -> JSON
    B  buffers                                                      -> all, one after another
    L  saved states                          -> of each u8, its name, u32, what save() gives
    H  heap                                                         -> u32 bytes in use

`beside` is a list of [module, class, options] for what stands beside the learner. The class is
made of (library, session, options) and has

    model       what is learned from then on instead of the learner, or None
    run         what predicts and learns rows then, or None: as Learner.run()
    follows     what else holds codes that move when ranges grow
    begin(n)    room for what is said of a run of n rows; said() gives it
    look(...)   the rows of a run are predicted and learned now; unless there is a run
    told()      what it says of itself, for the status
    buffers(), states()   its own, by their names
"""

import gc
import json
import sys
from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType
    from typing import Any

    from .interface import Plan

FORECASTER = "Forecaster"  # the class of a plan beside a regressor
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


class _Model:
    """A learner with its quantizer."""

    model: "Any"
    quantizer: "Any"

    def settle(self) -> None:
        """Do what the learner has left to do while nothing is taught."""
        while self.model.idle():
            pass

    def counts(self) -> "dict[str, Any]":
        """Of every status: counts, and the model's hash."""
        return {
            "clamped": self.quantizer.clamped,
            "missing": self.quantizer.missing,
            "state_crc32": self.model.state_crc32(),
            "progress": self.model.progress(),
        }

    def saved(self) -> "list[tuple[str, bytes]]":
        """What save() gives of learner and quantizer, by their names."""
        return [("learner", self.model.save()), ("quantizer", self.quantizer.save())]


class Session(_Model):
    """One classifier. `library` is the device library, loaded for some engine.

    If ranges are growing, nothing is observed first.
    """

    def __init__(
        self,
        library: "ModuleType",
        kind: str,
        parameters: "Mapping[str, Any]",
        beside: "Sequence[Plan]" = (),
        growing: bool = False,
    ) -> None:
        self.allow = _allocations
        self.model = self.learner = getattr(library, kind)(**parameters)
        self.classes = self.model.classes  # of the labels
        self.runner = self.model  # what predicts and learns rows
        self.parts: list[Any] = []
        self.watchers: list[Any] = []  # those that watch each sample
        for module, name, options in beside:
            self.parts.append(_named(module, name)(library, self, options))
        if growing:
            follow = [self.model] + [each for part in self.parts for each in part.follows]
            self.quantizer = library.GrowingQuantizer(self.model.features, tuple(follow))
        else:
            self.quantizer = library.Quantizer(self.model.features)
        self.metrics = library.Metrics(max(self.classes, 2))

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
        for part in self.parts:
            part.begin(len(labels))
        _allocations(False)
        try:
            at = 0
            while at < len(labels):
                end = self.quantizer.encode_from(raw, codes, at)
                self.runner.run(codes, labels, predictions, at, end)
                for part in self.parts:
                    part.look(codes, labels, predictions, at, end)
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

    def status(self) -> "dict[str, Any]":
        """Counts, ratios in millionths, and the model's hash."""
        status = self.counts()
        status.update({name: getattr(self.metrics, name) for name in _METRICS})
        status["beside"] = [part.told() for part in self.parts]
        return status

    def buffers(self) -> "list[tuple[str, str, Any]]":
        """All as a list of (name, typecode, buffer), the quantizer's first, then the model's."""
        parts = [self.quantizer, self.model, self.metrics] + self.parts  # noqa: RUF005  (MicroPython)
        return [row for part in parts for row in part.buffers()]

    def states(self) -> "list[tuple[str, bytes]]":
        """What save() gives of learner and quantizer, and of the parts beside them, by names."""
        return self.saved() + [state for part in self.parts for state in part.states()]

    def said(self, part: int) -> bytes:
        """What a part beside the learner says of the last run."""
        return bytes(self.parts[part].said())


class NumberSession(_Model):
    """One regressor. target has the parameters of its Forecaster, but for the model."""

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
        self._runs = _module(library.__name__ + ".forecast_runs").ForecastRuns(self.forecaster)
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
        rows = len(raw) // self.forecaster.columns
        said = array("i", bytes(4 * rows))
        self.halves = array("i", bytes(4 * rows))
        _allocations(False)
        try:
            self._runs.take(raw, rows, said, self.halves)
        finally:
            _allocations(True)
        return said

    def status(self) -> "dict[str, Any]":
        """Counts, and the model's hash."""
        status = self.counts()
        status.update({"samples": self.forecaster.samples, "beside": [{}]})
        if self.forecaster.outlook:
            status["progress"] = dict(status["progress"], season=self.forecaster.outlook.period)
        return status

    def buffers(self) -> "list[tuple[str, str, Any]]":
        """All buffers, as a list of (name, typecode, buffer): quantizer, model, target, ..."""
        return [row for part in self.forecaster.parts for row in part.buffers()]

    def states(self) -> "list[tuple[str, bytes]]":
        """Those of learner, quantizer, target, interval, outlook; b"" for what there is not."""
        found = self.saved()
        for name in ("target", "interval", "outlook"):
            part = getattr(self.forecaster, name)
            found.append((name, part.save() if part else b""))
        return found

    def said(self, _: int) -> bytes:
        """Half the width of the interval of each row of the last run, i32."""
        return bytes(self.halves)


def open_session(
    library: "ModuleType",
    kind: str,
    parameters: "Mapping[str, Any]",
    beside: "Sequence[Plan]" = (),
    growing: bool = False,
) -> "Any":
    """A session of the learner of that name, which predicts numbers beside a Forecaster."""
    if beside and beside[0][1] == FORECASTER:
        return NumberSession(library, kind, parameters, beside[0][2])
    return Session(library, kind, parameters, beside, growing)


def _named(module: str, name: str) -> "Any":
    """The class of that name in a module of this folder."""
    package = "" if micropython else __name__.rpartition(".")[0] + "."
    return getattr(_module(package + module), name)


def _module(name: str) -> "Any":
    """The module of that name, in a package or not."""
    return __import__(name, None, None, ["*"])


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
        elif command == b"X":
            answer = session.said(body[0])
        elif command == b"S":
            answer = json.dumps(session.status()).encode()
        elif command == b"B":
            answer = b"".join([bytes(buffer) for _, _, buffer in session.buffers()])
        elif command == b"L":
            for name, state in session.states():
                head = bytes([len(name)]) + name.encode() + len(state).to_bytes(4, "little")
                answer += head + state
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
    names = ("kind", "parameters", "beside", "growing")
    return open_session(microshrub, *[config[name] for name in names])


def serve(library: str) -> None:
    """Answer commands until there are no more; `library` is the device library's folder."""
    sys.path.insert(0, library)
    _serve(sys.stdin.buffer.read, sys.stdout.buffer.write)


if __name__ == "__main__":
    serve(sys.argv[1])

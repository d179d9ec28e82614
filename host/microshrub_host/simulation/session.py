"""A learner, its quantizer and its metrics, driven by blocks of rows: one run of one engine.

It runs on CPython and on MicroPython, where piped_session.py serves it. A companion is given as
[module, class, options]. The class is called with (library, session, options); it may replace
session.learner, the object that learns, and session.runner, whose run() predicts and learns rows
as Learner.run() does. It has

    follows     other objects with codes that move when ranges grow
    begin(n)    makes room for the outputs of a run of n rows, which outputs() returns
    look(...)   called after rows of a run were predicted and learned
    status()    its own status
    buffers(), states()   its own, by name
"""

from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Any

    from .engine_interface import Plan

FORECASTER = "Forecaster"  # the class of a regressor's companion
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
        """Let the learner finish the work that it postpones while it learns."""
        while self.model.idle():
            pass

    def counts(self) -> "dict[str, Any]":
        """Return the part common to all statuses: counts, and the model's hash."""
        return {
            "clamped": self.quantizer.clamped,
            "missing": self.quantizer.missing,
            "state_crc32": self.model.state_crc32(),
            "progress": self.model.progress(),
        }

    def saved(self) -> "list[tuple[str, bytes]]":
        """Return the saved states of learner and quantizer, by name."""
        return [("learner", self.model.save()), ("quantizer", self.quantizer.save())]


class Session(_Model):
    """One classifier. `library` is the device library, loaded for an engine.

    If ranges are growing, observe() is not called.
    """

    def __init__(
        self,
        library: "ModuleType",
        learner: str,
        parameters: "Mapping[str, Any]",
        companions: "Sequence[Plan]" = (),
        growing: bool = False,
    ) -> None:
        self.allow = _allocations
        self.model = self.learner = getattr(library, learner)(**parameters)
        self.classes = self.model.classes  # number of classes of the labels
        self.runner = self.model  # the object that predicts and learns rows
        self.companions: list[Any] = []
        self.watchers: list[Any] = []  # companions that watch each sample
        for module, name, options in companions:
            self.companions.append(_named(module, name)(library, self, options))
        if growing:
            follow = [self.model] + [each for one in self.companions for each in one.follows]
            self.quantizer = library.GrowingQuantizer(self.model.features, tuple(follow))
        else:
            self.quantizer = library.Quantizer(self.model.features)
        self.metrics = library.Metrics(max(self.classes, 2))

    def observe(self, raw: "array[int]") -> None:
        """Fit the quantizer on the first rows."""
        self.quantizer.observe(raw)

    def freeze(self) -> None:
        """Fix the quantizer's ranges."""
        self.quantizer.freeze()

    def run(self, raw: "array[int]", labels: bytearray) -> bytearray:
        """Encode, predict and learn a block; returns the predictions."""
        codes = array("H", bytes(2 * len(raw)))
        predictions = bytearray(len(labels))
        for part in self.companions:
            part.begin(len(labels))
        _allocations(False)
        try:
            at = 0
            while at < len(labels):
                end = self.quantizer.encode_from(raw, codes, at)
                self.runner.run(codes, labels, predictions, at, end)
                for part in self.companions:
                    part.look(codes, labels, predictions, at, end)
                at = end
            self.metrics.update_rows(labels, predictions)
        finally:
            _allocations(True)
        return predictions

    def ask(self, raw: "array[int]") -> bytearray:
        """Return the classes of rows, which are predicted but not learned."""
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

    def load(self, learner: bytes, quantizer: bytes) -> None:
        """Load the saved states of learner and quantizer."""
        self.model.load(learner)
        self.quantizer.load(quantizer)

    def status(self) -> "dict[str, Any]":
        """Return counts, ratios in millionths, and the model's hash."""
        status = self.counts()
        status.update({name: getattr(self.metrics, name) for name in _METRICS})
        status["companions"] = [each.status() for each in self.companions]
        return status

    def buffers(self) -> "list[tuple[str, str, Any]]":
        """Return a list of (name, typecode, buffer), the quantizer's first, then the model's."""
        parts = [self.quantizer, self.model, self.metrics] + self.companions  # noqa: RUF005  (MicroPython)
        return [row for part in parts for row in part.buffers()]

    def states(self) -> "list[tuple[str, bytes]]":
        """Return the saved states of learner, quantizer and companions, by name."""
        return self.saved() + [state for each in self.companions for state in each.states()]

    def outputs(self, part: int) -> bytes:
        """Return the outputs of a companion for the last run."""
        return bytes(self.companions[part].outputs())


class NumberSession(_Model):
    """One regressor. target has the parameters of its Forecaster, except the model."""

    def __init__(
        self,
        library: "ModuleType",
        learner: str,
        parameters: "Mapping[str, Any]",
        target: "Mapping[str, Any]",
    ) -> None:
        self.model = getattr(library, learner)(**parameters)
        self.forecaster = library.Forecaster(self.model, **target)
        self.quantizer = self.forecaster.quantizer
        self._runs = _module(library.__name__ + ".forecast_runs").ForecastRuns(self.forecaster)
        self.halves = array("i")  # for the last run

    def observe(self, raw: "array[int]") -> None:
        """Fit the ranges on the first rows."""
        columns = self.forecaster.columns
        for at in range(0, len(raw), columns):
            self.forecaster.observe(raw[at : at + columns])

    def freeze(self) -> None:
        """Fix the ranges of the features and of the target."""
        self.forecaster.freeze()

    def run(self, raw: "array[int]", _: bytearray) -> "array[int]":
        """Take a block of rows; return the predictions, raw."""
        rows = len(raw) // self.forecaster.columns
        predictions = array("i", bytes(4 * rows))
        self.halves = array("i", bytes(4 * rows))
        _allocations(False)
        try:
            self._runs.take(raw, rows, predictions, self.halves)
        finally:
            _allocations(True)
        return predictions

    def status(self) -> "dict[str, Any]":
        """Return counts, and the model's hash."""
        status = self.counts()
        status.update({"samples": self.forecaster.samples, "companions": [{}]})
        if self.forecaster.naive:
            status["progress"] = dict(status["progress"], season=self.forecaster.naive.period)
        return status

    def buffers(self) -> "list[tuple[str, str, Any]]":
        """Return a list of (name, typecode, buffer): quantizer, model, target, ..."""
        return [row for part in self.forecaster.parts for row in part.buffers()]

    def states(self) -> "list[tuple[str, bytes]]":
        """Return the saved states by name, b"" for parts that the Forecaster lacks."""
        saved = self.saved()
        for name in ("target", "interval", "naive"):
            part = getattr(self.forecaster, name)
            saved.append((name, part.save() if part else b""))
        return saved

    def outputs(self, _: int) -> bytes:
        """Return half the width of the interval of each row of the last run, i32."""
        return bytes(self.halves)


def open_session(
    library: "ModuleType",
    learner: str,
    parameters: "Mapping[str, Any]",
    companions: "Sequence[Plan]" = (),
    growing: bool = False,
) -> "Any":
    """Open a session of the learner with that name: a NumberSession with a Forecaster."""
    if companions and companions[0][1] == FORECASTER:
        return NumberSession(library, learner, parameters, companions[0][2])
    return Session(library, learner, parameters, companions, growing)


def _named(module: str, name: str) -> "Any":
    """Return the class with that name in a module of this folder."""
    package = "" if micropython else __name__.rpartition(".")[0] + "."
    return getattr(_module(package + module), name)


def _module(name: str) -> "Any":
    """Return the module with that name, in a package or not."""
    return __import__(name, None, None, ["*"])

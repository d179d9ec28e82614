"""The engines behind one interface: `python`, `llvm`, `c` and `micropython`."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..streams.units import Raw
from . import loader, session
from .interface import NO_LABELS, Anomalies, Engine, Labels, Parameters, Said, States
from .micropython_engine import MicroPythonEngine
from .status import Status

NAMES = ("python", "llvm", "c", "micropython")
NATIVE = "native"


class LocalEngine:
    """`python`, `llvm` or `c`, in this process."""

    def __init__(
        self,
        engine: str,
        kind: str,
        parameters: Parameters,
        anomaly: Parameters | None = None,
        target: Parameters | None = None,
        spare: Parameters | None = None,
        asking: Parameters | None = None,
        growing: bool = False,
    ) -> None:
        library = loader.load(engine)
        beside = anomaly, target, spare, asking, growing
        self._session = session.open_session(library, kind, parameters, *beside)
        self._said = np.int32 if target else np.uint8

    def observe(self, raw: Raw) -> None:
        self._session.observe(ints(raw))

    def freeze(self) -> None:
        self._session.freeze()

    def run(self, raw: Raw, labels: Labels = NO_LABELS) -> Said:
        said = self._session.run(ints(raw), bytearray(labels.tobytes()))
        return np.frombuffer(said, dtype=self._said)

    def ask(self, raw: Raw) -> Said:
        return np.frombuffer(self._session.ask(ints(raw)), dtype=self._said)

    def settle(self) -> None:
        self._session.settle()

    def halves(self) -> Said:
        return np.array(self._session.halves, dtype=np.int32)

    def anomalies(self) -> Anomalies:
        return Anomalies.of(bytes(self._session.scores + self._session.unlike))

    def newcomers(self) -> NDArray[np.bool_]:
        return np.frombuffer(bytes(self._session.person.new), dtype=np.bool_)

    def questions(self) -> NDArray[np.uint8]:
        return np.frombuffer(bytes(self._session.asked.questions), dtype=np.uint8)

    def status(self) -> Status:
        return Status.of(self._session.status())

    def buffers(self) -> list[tuple[str, str, bytes]]:
        return [(name, code, bytes(memoryview(b))) for name, code, b in self._session.buffers()]

    def saved(self) -> States:
        states = self._session.model.save(), self._session.quantizer.save()
        return States(*states, *self._session.more_states())

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def ints(raw: NDArray[Any]) -> array[int]:
    """Raw integers as the device library takes them, one row after the other."""
    values = array("i")
    values.frombytes(np.ascontiguousarray(raw, dtype=np.int32).tobytes())
    return values


def available() -> tuple[str, ...]:
    """The engines of this machine; a real MicroPython, which can be fetched, is always one."""
    from . import c_kernels

    return NAMES if c_kernels.works() else tuple(name for name in NAMES if name != "c")


def start(
    engine: str,
    kind: str,
    parameters: Parameters,
    anomaly: Parameters | None = None,
    target: Parameters | None = None,
    spare: Parameters | None = None,
    asking: Parameters | None = None,
    growing: bool = False,
) -> Engine:
    """A fresh learner on the engine of that name, to be used in a with statement.

    anomaly has the parameters of an anomaly score beside it, but for the features; None: without.
    target has those of a learner of numbers' Forecaster, but for the model. spare is what a Person
    of spare_person.py takes, for a learner with spare classes; asking what AskedLabels of
    asked_labels.py does, for one that learns only the labels that it asks for. If ranges are
    growing, they begin with the first sample, and nothing is to be observed.

    Raises ValueError for parameters that the learner refuses, EngineError when the engine cannot
    run, and NoMicroPython when a real one is wanted and cannot be had. NATIVE is a real one with
    the kernels in a native module; NoNativeTools is raised where none can be made.
    """
    if engine in ("micropython", NATIVE):
        native = engine == NATIVE
        return MicroPythonEngine(
            kind,
            parameters,
            native=native,
            anomaly=anomaly,
            target=target,
            spare=spare,
            asking=asking,
            growing=growing,
        )
    return LocalEngine(engine, kind, parameters, anomaly, target, spare, asking, growing)

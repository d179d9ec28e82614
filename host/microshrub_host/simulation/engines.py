"""The engines behind one interface: `python`, `llvm`, `c` and `micropython`."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..library import loader
from ..streams.units import Raw
from . import session
from .engine_interface import (
    NO_LABELS,
    Engine,
    HasPlan,
    Labels,
    Parameters,
    Predictions,
    States,
    Status,
    prediction_type,
)
from .micropython_engine import MicroPythonEngine

NAMES = ("python", "llvm", "c", "micropython")
CHECKED = "checked"  # `python`, with checks of every index and every sum
NATIVE = "native"


class LocalEngine:
    """The engine `python`, `checked`, `llvm` or `c`, in this process."""

    def __init__(
        self,
        engine: str,
        learner: str,
        parameters: Parameters,
        companions: Sequence[HasPlan] = (),
        growing: bool = False,
    ) -> None:
        plans = [each.plan() for each in companions]
        self._session = session.open_session(
            loader.load(engine), learner, parameters, plans, growing
        )
        self._dtype = prediction_type(self._session)

    def observe(self, raw: Raw) -> None:
        self._session.observe(ints(raw))

    def freeze(self) -> None:
        self._session.freeze()

    def run(self, raw: Raw, labels: Labels = NO_LABELS) -> Predictions:
        predictions = self._session.run(ints(raw), bytearray(labels.tobytes()))
        return np.frombuffer(predictions, dtype=self._dtype)

    def ask(self, raw: Raw) -> Predictions:
        return np.frombuffer(self._session.ask(ints(raw)), dtype=self._dtype)

    def load(self, states: States) -> None:
        """Load the saved states of a learner and its quantizer."""
        self._session.load(states.learner, states.quantizer)

    def settle(self) -> None:
        self._session.settle()

    def outputs(self, part: int = 0) -> bytes:
        outputs: bytes = self._session.outputs(part)
        return outputs

    def status(self) -> Status:
        return Status.of(self._session.status())

    def buffers(self) -> list[tuple[str, str, bytes]]:
        return [(name, code, bytes(memoryview(b))) for name, code, b in self._session.buffers()]

    def saved(self) -> States:
        return States.of(self._session.states())

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def ints(raw: NDArray[Any]) -> array[int]:
    """Return raw integers as the device library takes them, one row after the other."""
    return array("i", np.asarray(raw, dtype=np.int32).tobytes())


def available() -> tuple[str, ...]:
    """Return the engines of this machine; always with `micropython`, which can be downloaded."""
    from ..library import c_kernels

    lacking = {"c": not c_kernels.works(), "llvm": not loader.has_llvm()}
    return tuple(name for name in NAMES if not lacking.get(name))


def start(
    engine: str,
    learner: str,
    parameters: Parameters,
    companions: Sequence[HasPlan] = (),
    growing: bool = False,
) -> Engine:
    """Start a new learner on the engine with that name, for use in a with statement.

    companions are a classifier's companions, or a regressor's Forecast. If `growing`, the ranges
    start with the first sample, and observe() is not to be called. Raises ValueError for
    parameters that the learner refuses, EngineError if the engine cannot run, and NoMicroPython if
    a real MicroPython is required but not available. NATIVE is a real MicroPython with the kernels
    in a native module; it raises NoNativeTools if no native module can be made.
    """
    if engine in ("micropython", NATIVE):
        native = engine == NATIVE
        return MicroPythonEngine(learner, parameters, companions, growing, native=native)
    return LocalEngine(engine, learner, parameters, companions, growing)

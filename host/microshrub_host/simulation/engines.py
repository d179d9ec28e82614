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
CHECKED = "checked"  # `python`, and every index and every sum is looked at
NATIVE = "native"


class LocalEngine:
    """`python`, `checked`, `llvm` or `c`, in this process."""

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
        """Take the saved states of a learner and its quantizer."""
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
    """Raw integers as the device library takes them, one row after the other."""
    return array("i", np.asarray(raw, dtype=np.int32).tobytes())


def available() -> tuple[str, ...]:
    """The engines of this machine; a real MicroPython, which can be fetched, is always one."""
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
    """A fresh learner on the engine of that name, to be used in a with statement.

    companions are those of a classifier, or the Forecast of a regressor. If ranges are
    growing, they begin with the first sample, and nothing is to be observed.

    Raises ValueError for parameters that the learner refuses, EngineError when the engine cannot
    run, and NoMicroPython when a real one is wanted and cannot be had. NATIVE is a real one with
    the kernels in a native module; NoNativeTools is raised where none can be made.
    """
    if engine in ("micropython", NATIVE):
        native = engine == NATIVE
        return MicroPythonEngine(learner, parameters, companions, growing, native=native)
    return LocalEngine(engine, learner, parameters, companions, growing)

"""The time of a sample, counted in emulation, for models that the board's file lacks.

The model learns the first samples of the user's stream on an emulated processor like the board's;
the board's file has the time of an instruction.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.debian_packages import Progress
from ..library import loader
from ..library.learners import MODELS
from ..simulation.engines import ints
from ..streams.stream import Stream
from . import emulated_boards, ram_budget
from .board_files import Board
from .counted_models import CountedModel
from .instruction_counts import Counter

_EMULATED = {
    "armv6m": "cortex-m0",
    "armv7emsp": "cortex-m3",
    "rv32imc": "rv32",
}  # by the boards' arch
_FEW = 60  # samples of a first estimate; half of them are counted
_MANY = 1300  # no window is longer than 1,024
_COUNTED = 200  # the last of the samples
_NEUTRAL = ("seed", "step")  # parameters that change results, not the amount of work


class Clock:
    """`with Clock(board, stream, warmup) as clock: clock.milliseconds("shrub", {...}, most=5)`.

    The emulated board starts when it is first needed. A stream that is too short is repeated.
    """

    def __init__(
        self,
        board: Board,
        stream: Stream,
        warmup: int,
        progress: Progress | None = None,
        native: bool = False,
    ) -> None:
        """Prepare the count; with native, models have their kernels in a native module.

        Raises NoEmulator, with advice, if the emulated board is not built yet.
        """
        self._name = _EMULATED[board.arch]
        emulated_boards.find(self._name)
        cycles, uncached = (board.cost.cycles, board.cost.uncached_us) if board.cost else (1, 0)
        self._per_instruction = 1000 * cycles / board.clock_hz  # milliseconds
        self._more = uncached / 1000  # milliseconds of a call
        self._codes = _codes(stream, warmup)
        self._labels = np.resize(stream.labels, _MANY)
        self._progress = progress
        self._native = native
        self._counter: Counter | None = None
        self._modules: tuple[str, ...] = ()  # of the native module on the board
        self._known: dict[str, float] = {}

    def milliseconds(self, model: str, parameters: Mapping[str, Any], most: float) -> float:
        """Return the time of a predict plus a learn, 99th percentiles; an estimate beyond `most`.

        model is a name from the command line, parameters are all arguments of the constructor.
        """
        key = _key(model, parameters)
        if key not in self._known:
            count = self._count(0, model, parameters)
            if count <= most:
                count = self._count(1, model, parameters)
            self._known[key] = count
        return self._known[key]

    def remember(self, model: str, parameters: Mapping[str, Any], milliseconds: float) -> None:
        """Remember a model's time, so that the model is not counted again."""
        self._known[_key(model, parameters)] = milliseconds

    def _count(self, which: int, model: str, parameters: Mapping[str, Any]) -> float:
        cost = self._open(model, parameters).count(which, MODELS[model], parameters)
        calls = [np.percentile(counts, 99) for counts in (cost.predict, cost.learn)]
        return float(sum(calls) * self._per_instruction + len(calls) * self._more)

    def _open(self, model: str, parameters: Mapping[str, Any]) -> Counter:
        """Return the counter; start a new board for another learner, if the kernels are native."""
        learner, given = (MODELS[model], parameters) if self._native else ("", {})
        modules = ram_budget.modules_of(learner, given) if self._native else ()
        if self._counter is None or modules != self._modules:
            self.__exit__()
            codes, labels = self._codes, self._labels
            streams = [
                CountedModel("", learner, given, codes[:many], labels[:many])
                for many in (_FEW, _MANY)
            ]
            warmups = (_FEW // 2, _MANY - _COUNTED)
            counter = Counter(
                self._name,
                streams,
                warmup=warmups,
                progress=self._progress,
                native=self._native,
            )
            self._counter, self._modules = counter.__enter__(), modules
        return self._counter

    def __enter__(self) -> Clock:
        return self

    def __exit__(self, *_: object) -> None:
        if self._counter is not None:
            self._counter.__exit__()
            self._counter = None


def can_count(board: Board) -> bool:
    """Return whether an emulated board can count the times of this board.

    This is not possible for a board with its heap in PSRAM, whose file has no cost.
    """
    return board.arch in _EMULATED and bool(board.cost)


def _codes(stream: Stream, warmup: int) -> NDArray[np.uint16]:
    """Return the quantizer's codes of the first samples, as in a simulation; (_MANY, features)."""
    rows = stream.raw_rows()
    quantizer = loader.load(loader.fastest()).Quantizer(rows.shape[1])
    quantizer.observe(ints(rows[:warmup]))
    quantizer.freeze()
    raw = ints(np.resize(rows[:_MANY], (_MANY, rows.shape[1])))
    codes = array("H", bytes(2 * len(raw)))
    quantizer.encode(raw, codes)
    return np.array(codes, dtype=np.uint16).reshape(_MANY, -1)


def _key(model: str, parameters: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in parameters.items() if name not in _NEUTRAL}
    return json.dumps([model, rest], sort_keys=True)

"""A configuration to try, and what it takes on a board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..beside.companion import Beside
from ..boards import sample_time
from ..boards.board_files import Board
from ..boards.program import Names
from ..boards.scarce_machine_code import USUAL
from ..boards.usual_budget import usual_budget
from ..emulation.latency import Clock
from ..library.learners import kind_of, learner, options_text
from .search_space import changed


@dataclass(frozen=True)
class Candidate:
    """A model: its name on the command line, and all parameters except the stream's."""

    number: int  # of its trial
    model: str
    settings: Mapping[str, Any]
    features: str = ""  # the set, as the words behind --features; "": those of the stream

    @property
    def options(self) -> str:
        """The model as a user would type it, with the parameters that differ from the defaults."""
        words = options_text(changed(self.model, self.settings))
        words += f" --features {self.features}" * bool(self.features)
        return f"--model {self.model} {words.strip()}".rstrip()


@dataclass(frozen=True)
class Limits:
    """What a model may take: bytes of its buffers, milliseconds of a sample (None: any time).

    Without a clock only the board's file says how long one takes. With native, a model's kernels
    are in a native module, of which the board's file knows no times.
    """

    board: Board
    budget: int
    max_latency: float | None = None
    clock: Clock | None = None
    native: bool = False


@dataclass(frozen=True)
class Size:
    """What a model takes: bytes of its buffers, of RAM, and milliseconds of a predict and a learn.

    The time is the 99th percentile, None if it is not known for such a model.
    """

    model_bytes: int
    ram_bytes: int
    latency: float | None


def size_within(
    model: str,
    wanted: Mapping[str, Any],
    limits: Limits,
    around: Beside = (),
    frozen: bool = False,
    names: Names = ((), ()),
) -> Size | None:
    """What a model of these parameters takes, with all that stands around it on a board.

    frozen and names are those of usual_budget(). None if that is more than the limits, also with
    so many kernels as bytecode that a sample takes USUAL times as long, or if the
    learner refuses the parameters as too large.
    """
    try:
        if learner(model).nbytes(**wanted) > limits.budget:
            return None
    except ValueError:
        return None
    kind, native = kind_of(model), limits.native
    budget = usual_budget(
        wanted, limits.board, kind, around, native, frozen=frozen, names=names, slowest=USUAL
    )
    time = None if limits.native else sample_time.sample_time(limits.board, model, wanted)
    time = time and time.with_kernels(budget.kernels)
    latency = None if time is None else (time.predict[1] + time.learn[1]) / 1000
    if not budget.fits:
        return None
    most = limits.max_latency
    if most is not None:
        if latency is None and limits.clock:
            latency = limits.clock.milliseconds(model, wanted, most)
        if latency is not None and latency > most:
            return None
    return Size(budget.model_bytes, budget.ram_bytes, latency)

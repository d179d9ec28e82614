"""A configuration to try, what it takes on a board, and those that are asked for ahead.

Ahead of the outcomes that are known, so that several can run at a time.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..base.cluster import Outcome
from ..base.errors import UserError
from ..boards import sample_time
from ..boards.board_files import Board
from ..boards.deployment import Deployment
from ..boards.emits import NATIVE
from ..boards.latency import Clock
from ..boards.scarce_machine_code import USUAL
from ..boards.usual_budget import usual_budget
from ..library.learners import learner, learner_name, options_text
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

    Without a clock only the board's file says how long one takes. emit is what its
    kernels become, one of EMITS.
    """

    board: Board
    budget: int
    max_latency: float | None = None
    clock: Clock | None = None
    emit: str = NATIVE

    def deployment(self, model: str, wanted: Mapping[str, Any], **more: Any) -> Deployment:
        """A model on the board, with more fields of the Deployment."""
        return Deployment(wanted, self.board, learner_name(model), emit=self.emit, **more)


@dataclass(frozen=True)
class Size:
    """What a model takes: bytes of its buffers, of RAM, and milliseconds of a predict and a learn.

    The time is the 99th percentile, None if it is not known for such a model.
    """

    model_bytes: int
    ram_bytes: int
    latency: float | None


def bytes_of(model: str, wanted: Mapping[str, Any]) -> float:
    """What its buffers take; infinity if the learner refuses the parameters as too large."""
    try:
        return float(learner(model).nbytes(**wanted))
    except ValueError:
        return math.inf


def size_within(model: str, asked: Deployment, limits: Limits) -> Size | None:
    """What a model takes, with all that stands around it on a board; None if that is more than the
    limits.

    That is also with so many kernels as bytecode that a sample takes USUAL times as long, or if
    the learner refuses the parameters as too large.
    """
    wanted = asked.parameters
    if bytes_of(model, wanted) > limits.budget:
        return None
    budget, emit = usual_budget(asked, USUAL), limits.emit
    time = sample_time.sample_time(limits.board, model, wanted, emit)
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


AHEAD = 8  # trials


class AskedAhead:
    """What to try, asked for AHEAD trials before the last outcome that is known.

    Outcomes are told in the order in which their trials were asked for. So what is asked for
    depends on them alone, not on how many run at a time. Only if `elastic`, more are asked for
    where there is room for more; then it also depends on which of them are done first.
    """

    def __init__(self, missing: int, ask: Callable[[], Candidate], *, elastic: bool) -> None:
        """So many are missing that do not fail; ask raises UserError if there is no other one."""
        self._missing = missing
        self._ask = ask
        self._elastic = elastic
        self._asked: deque[Candidate] = deque()  # their outcomes are not told yet
        self._ready: deque[Candidate] = deque()  # of these, those that nobody has begun
        self._done: dict[int, Outcome] = {}  # by the numbers of their trials
        self._refused: UserError | None = None

    def tasks(self) -> Iterator[Candidate | None]:
        """Each one to try, or None for later; until nothing is missing.

        Raises what ask raised, once all the others are told.
        """
        self._fill(AHEAD)
        while self._missing:
            if self._elastic and not self._ready:
                self._fill(len(self._asked) + 1)
            if self._refused and not self._asked:
                raise self._refused
            yield self._ready.popleft() if self._ready else None

    def in_order(self, outcome: Outcome) -> Iterator[Outcome]:
        """Those that can be told now that this one is there."""
        self._done[outcome.task.number] = outcome
        while self._asked and self._asked[0].number in self._done:
            first = self._done.pop(self._asked.popleft().number)
            yield first
            self._missing -= not first.failure
            self._fill(AHEAD)

    def left(self) -> list[Outcome]:
        """Those that are there, but were not told, as one before them is not done."""
        return [self._done[number] for number in sorted(self._done)]

    def _fill(self, room: int) -> None:
        while not self._refused and len(self._asked) < min(room, self._missing):
            try:
                task = self._ask()
            except UserError as error:
                self._refused = error
            else:
                self._asked.append(task)
                self._ready.append(task)

"""Candidate configurations, their size on a board, and a queue of candidates chosen ahead.

Candidates are chosen before the outcomes of earlier ones are known, so that several run at a time.
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
    """A candidate: a model's name on the command line, and all parameters except the stream's."""

    number: int  # number of its trial
    model: str
    settings: Mapping[str, Any]
    features: str = ""  # set of features, as the value of --features; "" for the stream's own

    @property
    def options(self) -> str:
        """The model as a user would type it, with the parameters that differ from the defaults."""
        words = options_text(changed(self.model, self.settings))
        words += f" --features {self.features}" * bool(self.features)
        return f"--model {self.model} {words.strip()}".rstrip()


@dataclass(frozen=True)
class Limits:
    """The limits of a model: bytes of its buffers, milliseconds per sample (None: no limit).

    Without a clock, latencies come only from the board's file. emit is the form of the kernels on
    the board, one of EMITS.
    """

    board: Board
    budget: int
    max_latency: float | None = None
    clock: Clock | None = None
    emit: str = NATIVE

    def deployment(self, model: str, wanted: Mapping[str, Any], **more: Any) -> Deployment:
        """Return the Deployment of a model on the board; `more` has further fields."""
        return Deployment(wanted, self.board, learner_name(model), emit=self.emit, **more)


@dataclass(frozen=True)
class Size:
    """A model's size: bytes of its buffers, bytes of RAM, milliseconds of a predict and a learn.

    The latency is the 99th percentile, None if unknown for such a model.
    """

    model_bytes: int
    ram_bytes: int
    latency: float | None


def bytes_of(model: str, wanted: Mapping[str, Any]) -> float:
    """Return the bytes of a model's buffers; infinity if the learner refuses the parameters."""
    try:
        return float(learner(model).nbytes(**wanted))
    except ValueError:
        return math.inf


def size_within(model: str, asked: Deployment, limits: Limits) -> Size | None:
    """Return the size of a model with all its companions on a board; None if above the limits.

    The size is also above the limits if so many kernels would have to stay bytecode that a sample
    takes more than USUAL times as long, or if the learner refuses the parameters as too large.
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


AHEAD = 8  # candidates chosen before their outcomes are reported, at most


class AskedAhead:
    """A queue of candidates to try: up to AHEAD are chosen before their outcomes are reported.

    Outcomes are reported in the order in which their trials were chosen. So the choice depends on
    the outcomes alone, not on how many trials run at a time. Only if `elastic`, more candidates
    are chosen whenever a worker is idle; then the choice also depends on which trials finish
    first.
    """

    def __init__(self, missing: int, ask: Callable[[], Candidate], *, elastic: bool) -> None:
        """Set up for `missing` successful trials; ask raises UserError if no candidate is left."""
        self._missing = missing
        self._ask = ask
        self._elastic = elastic
        self._asked: deque[Candidate] = deque()  # outcomes not reported yet
        self._ready: deque[Candidate] = deque()  # of these, the ones not started yet
        self._done: dict[int, Outcome] = {}  # by the numbers of their trials
        self._refused: UserError | None = None

    def tasks(self) -> Iterator[Candidate | None]:
        """Yield each candidate to try, or None if one has to finish first, until none is missing.

        Raises the error that ask raised, after all other outcomes were reported.
        """
        self._fill(AHEAD)
        while self._missing:
            if self._elastic and not self._ready:
                self._fill(len(self._asked) + 1)
            if self._refused and not self._asked:
                raise self._refused
            yield self._ready.popleft() if self._ready else None

    def in_order(self, outcome: Outcome) -> Iterator[Outcome]:
        """Yield the outcomes that can be reported now that this one is known."""
        self._done[outcome.task.number] = outcome
        while self._asked and self._asked[0].number in self._done:
            first = self._done.pop(self._asked.popleft().number)
            yield first
            self._missing -= not first.failure
            self._fill(AHEAD)

    def left(self) -> list[Outcome]:
        """Return the outcomes not reported yet because an earlier trial has not finished."""
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

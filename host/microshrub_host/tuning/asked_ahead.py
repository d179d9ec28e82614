"""Trials asked for ahead of the outcomes that are known, so that several can run at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from ..base.cluster import Outcome
from ..base.errors import UserError
from .trials import Candidate

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

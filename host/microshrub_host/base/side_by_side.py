"""Tasks in parallel, each in its own process, with the results in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from .errors import UserError
from .worker_process import Apart, Ended, Send, wait_for_any

T = TypeVar("T")
R = TypeVar("R")
Progress = Callable[[int, int, str], None]  # arguments: done, total, note
Work = Callable[[T, Progress], R]

_WHOLE = 1000  # parts per task, to count progress
_LIMIT = 14 * 86_400  # seconds; long enough never to matter


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def side_by_side(
    work: Work[T, R], tasks: Sequence[T], *, jobs: int, progress: Progress
) -> Iterator[R]:
    """Yield work(task, progress) for each task, in the order of the tasks.

    At most `jobs` tasks run at a time, each in a new process; with one job, or one task, the work
    runs in this process. The work is a module's function, or a functools.partial of one; work,
    tasks and results are pickled. progress is called with the progress of all tasks together.
    Closing the iterator, and Ctrl-C, end the processes. Raises UserError as the work does, and
    RuntimeError for a crash.
    """
    whole = _WHOLE * len(tasks)
    if jobs == 1 or len(tasks) == 1:
        for at, task in enumerate(tasks):
            base = _WHOLE * at

            def tell(done: int, total: int, note: str, base: int = base) -> None:
                progress(base + _part(done, total), whole, note)

            yield work(task, tell)
        return
    waiting = deque(tasks)
    running: list[_Running[R]] = []  # in the order of the tasks; a done one may wait for others
    given = 0
    try:
        while waiting or running:
            while waiting and sum(not each.done for each in running) < jobs:
                running.append(_Running(work, waiting.popleft()))
            wait_for_any([each.apart for each in running if not each.done])
            for each in running:
                note = each.look()
                if note is not None:
                    parts = sum(other.part for other in running)
                    progress(_WHOLE * given + parts, whole, note)
            while running and running[0].done:
                given += 1
                yield running.pop(0).result
    finally:
        for each in running:
            if not each.done:
                each.apart.close()


class _Running(Generic[R]):
    """A task in its process."""

    def __init__(self, work: Work[Any, R], task: object) -> None:
        self.apart = Apart(_run, work, task, limit=_LIMIT)
        self.part, self.done = 0, False
        self.result: R

    def look(self) -> str | None:
        """Receive the process's messages; return the last note, None without a message."""
        note = None
        while not self.done:
            try:
                sent = self.apart.receive()
            except Ended as ended:
                raise RuntimeError(str(ended)) from None
            if sent is None:
                break
            kind, value = sent
            if kind == "refused":
                raise UserError(value)
            if kind == "result":
                self.result, self.part, self.done = value, _WHOLE, True
                self.apart.close()
                note = note or ""
            else:
                self.part, note = value
        return note


def _part(done: int, total: int) -> int:
    return _WHOLE * done // max(total, 1)


def _run(send: Send, work: Work[Any, Any], task: object) -> None:
    """Run the work in the new process, and send progress and result."""

    def tell(done: int, total: int, note: str) -> None:
        send(("part", (_part(done, total), note)))

    try:
        result = work(task, tell)
    except UserError as error:
        send(("refused", str(error)))
        return
    send(("result", result))

"""Learners of all systems on the same samples in the same order, each in its own process.

Every learner predicts a sample and then learns it. Its predictions are counted here, in the same
way for all, by the library's own Metrics. Its time is for predicting and learning alone. Its bytes
are measured at the end and, if wanted, along the way.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.worker_process import Apart, Ended, Send, TimeLimit, wait_for_any
from ..engines import loader
from ..engines.status import percent
from ..models.tree_shape import Shape
from ..streams.stream import Stream
from . import catalogue
from .contender import NO_ANSWER, Contender, ContenderRun

_BLOCK = 1000
_BLOCKS = 200  # at least this many, to see how far a slow learner has got
_MOST_CLASSES = 256
_POINTS = 200  # of a curve
STOPPED = "stopped"  # the failure of a run that Ctrl-C ended

Curve = Sequence[tuple[int, float]]
Progress = Callable[[int, int, str], None]
Start = Callable[[Contender, Stream, int], ContenderRun]


@dataclass(frozen=True)
class Cell:
    """What became of one learner on one stream; accuracy and kappas in percent.

    They, and all other measurements, are None unless the whole stream was learned; but seconds and
    samples_per_second are there, of the samples that it saw, if it was stopped or ran out of time.
    A failure after the whole stream means that the bytes could not be measured.
    """

    stream: str
    name: str
    system: str
    learner: str
    settings: Mapping[str, Any]
    failure: str  # what went wrong, in words; "" if nothing did
    samples: int  # that it saw
    accuracy: float | None = None
    kappa: float | None = None
    kappa_temporal: float | None = None
    model_bytes: int | None = None
    model_bytes_by: str | None = None  # whose measure that is
    seconds: float | None = None
    samples_per_second: float | None = None
    running_average_accuracy: float | None = None  # the mean over time of the running accuracy
    # (samples, accuracy over all of them) at about 200 places, of what it saw
    curve: Curve = ()
    sizes: Curve = ()  # bytes after so many samples, from 0 on if they were asked for
    shapes: Sequence[tuple[int, Shape]] = ()  # of a tree, likewise
    timed_out: bool = False  # the failure: it reached its time limit

    def record(self) -> dict[str, Any]:
        """The cell as JSON holds it."""
        return asdict(self)


def compare(
    contenders: Sequence[Contender],
    stream: Stream,
    *,
    warmup: int = 256,
    limit: float = 600,
    jobs: int = 1,
    sizes: int = 0,
    progress: Progress | None = None,
    start: Start = catalogue.start,
) -> Iterator[Cell]:
    """Run them over the stream, `jobs` at a time; yields each cell when it is done.

    One that crashes, or takes more than `limit` seconds, only costs its own cell. Ctrl-C stops
    those that run: their cells come before the KeyboardInterrupt. The bytes are
    measured before the first sample and about `sizes` times along the way, or, if it is 0, only at
    the end; this does not count as a learner's time, but counts towards its limit. The same goes
    for the shapes of trees.
    """
    waiting = deque(contenders)
    samples = len(stream.labels)
    over = 0
    running: list[_Run] = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                contender = waiting.popleft()
                work = Apart(learn, start, contender, stream, warmup, sizes, limit=limit)
                running.append(_Run(work, contender, stream))
            wait_for_any([run.work for run in running])
            for run in list(running):
                cell = run.advance()
                if progress:
                    seen = over + sum(r.samples for r in running)
                    progress(seen, samples * len(contenders), run.contender.name)
                if cell:
                    run.work.close()
                    running.remove(run)
                    over += samples
                    yield cell
    except KeyboardInterrupt:
        yield from [run.stopped() for run in running]
        raise
    finally:
        for run in running:
            run.work.close()


def compare_here(
    contender: Contender, stream: Stream, *, warmup: int = 256, limit: float = 600, sizes: int = 0
) -> Cell:
    """The cell of one of ours, run in this process, where compiled code stays loaded.

    A new process takes seconds to load it. The limit is checked between blocks.
    """
    run = _Run(_Here(limit, catalogue.start, contender, stream, warmup, sizes), contender, stream)
    cell = run.advance()
    assert cell is not None
    return cell


def learn(
    send: Send, start: Start, contender: Contender, stream: Stream, warmup: int, sizes: int = 0
) -> None:
    """In a process of its own: send (predictions, seconds) of every block, and the bytes."""
    learner = start(contender, stream, warmup)
    total = len(stream.labels)
    block = max(1, min(_BLOCK, total // _BLOCKS))
    between = max(block, total // sizes) if sizes else total
    for at in range(0, total, block):
        if sizes and at % between < block:
            _send_size(send, learner)
            _send_shape(send, learner)
        samples = learner.prepare(slice(at, at + block))
        begin = time.perf_counter()
        said = learner.run(samples)
        send((said, time.perf_counter() - begin))
    _send_size(send, learner)
    if sizes:
        _send_shape(send, learner)


def _send_size(send: Send, learner: ContenderRun) -> None:
    size = learner.nbytes()
    if size is not None:
        send(size)


def _send_shape(send: Send, learner: ContenderRun) -> None:
    shape = learner.shape()
    if shape is not None:
        send(dict(shape))


class _Here:
    """What learn() sends: all of it at once, but received one by one, as from another process."""

    def __init__(self, limit: float, *arguments: Any) -> None:
        self._sent: deque[Any] = deque()
        self._limit = limit
        self._deadline = time.monotonic() + limit
        self._end = Ended()
        try:
            learn(self._send, *arguments)
        except Ended as ended:
            self._end = ended

    def _send(self, message: object) -> None:
        self._sent.append(message)
        if time.monotonic() > self._deadline:
            raise TimeLimit(self._limit)

    def receive(self) -> Any:
        """The next message; raises Ended after the last one."""
        if not self._sent:
            raise self._end
        return self._sent.popleft()


class _Run:
    """One pair that is being run, and the count of what it said."""

    def __init__(self, work: Any, contender: Contender, stream: Stream) -> None:
        self.work = work
        self.contender = contender
        self.stream = stream
        self.samples = 0
        self._seconds = 0.0
        self._sizes: list[tuple[int, float]] = []
        self._shapes: list[tuple[int, Shape]] = []
        self._right = 0
        self._running = 0.0  # sum of the running accuracies after each sample, percent
        self._curve: list[tuple[int, float]] = []
        classes = len(stream.class_names)
        # One class more than there are: no answer, which is never right.
        self._metrics = loader.load(loader.fastest()).Metrics(min(classes + 1, _MOST_CLASSES))
        self._no_answer = min(classes, _MOST_CLASSES - 1)

    def advance(self) -> Cell | None:
        """Take what has come; returns the cell once nothing more is to come."""
        try:
            message = self.work.receive()
            while message is not None:
                if isinstance(message, int):
                    self._sizes.append((self.samples, message))
                elif isinstance(message, dict):
                    self._shapes.append((self.samples, message))
                else:
                    self._count(*message)
                message = self.work.receive()
        except Ended as ended:
            cell = self._cell(str(ended))
            late = isinstance(ended, TimeLimit)
            return replace(self._timed(cell) if late else cell, timed_out=late)
        return None

    def stopped(self) -> Cell:
        """The cell of a run that nobody waits for any more."""
        return self._timed(self._cell(STOPPED))

    def _timed(self, cell: Cell) -> Cell:
        """With the time of the samples that it saw; not of a baseline, whose loop is ours."""
        if self.contender.system == "baseline" or not self.samples:
            return cell
        return replace(
            cell,
            seconds=round(self._seconds, 3),
            samples_per_second=round(self.samples / max(self._seconds, 1e-9), 1),
        )

    def _count(self, said: Sequence[int], seconds: float) -> None:
        labels = self.stream.labels[self.samples : self.samples + len(said)]
        answers = np.array(said)
        answers[answers == NO_ANSWER] = self._no_answer
        self._metrics.update_rows(
            bytearray(labels.tobytes()), bytearray(answers.astype(np.uint8).tobytes())
        )
        self._add_running(answers == labels)
        self.samples += len(said)
        self._seconds += seconds
        total = len(self.stream.labels)
        if self.samples * _POINTS // total > len(self._curve) or self.samples == total:
            self._curve.append((self.samples, percent(self._metrics.accuracy)))

    def _add_running(self, right: NDArray[np.bool_]) -> None:
        seen = np.arange(self.samples + 1, self.samples + len(right) + 1)
        running = (self._right + np.cumsum(right)) / seen * 100
        self._running += float(running.sum())
        self._right += int(right.sum())

    def _cell(self, failure: str) -> Cell:
        contender = self.contender
        cell = Cell(
            stream=self.stream.name,
            name=contender.name,
            system=contender.system,
            learner=contender.learner,
            settings=dict(contender.settings),
            failure=failure,
            samples=self.samples,
            curve=tuple(self._curve),
        )
        if self.samples < len(self.stream.labels):
            return replace(cell, failure=failure or "ended too early")
        size = int(self._sizes[-1][1]) if self._sizes else None
        return replace(
            self._timed(cell),
            accuracy=percent(self._metrics.accuracy),
            kappa=percent(self._metrics.kappa),
            kappa_temporal=percent(self._metrics.kappa_temporal),
            running_average_accuracy=self._running / self.samples,
            model_bytes=size,
            model_bytes_by=None if size is None else catalogue.MEASURES[contender.system],
            sizes=tuple(self._sizes),
            shapes=tuple(self._shapes),
        )

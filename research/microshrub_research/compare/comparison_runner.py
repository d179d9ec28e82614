"""Learners of all systems on the same samples in the same order, each in its own process.

Every learner predicts a sample and then learns it. This module counts the predictions of all
learners with the library's own Metrics. A learner's time is for predicting and learning alone. Its
bytes are measured at the end and, on request, along the way.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from microshrub_host.base.worker_process import Apart, Ended, Send, TimeLimit, wait_for_any
from microshrub_host.library import loader
from microshrub_host.simulation.engine_interface import percent
from microshrub_host.simulation.label_budget import LabelBudget
from microshrub_host.streams.stream import Stream

from . import catalogue
from .contender import NO_ANSWER, Contender, ContenderRun
from .label_budgets import UNKNOWN, given_labels
from .outcome import AnyCell, AnyStream, Asked, Contest

_BLOCK = 1000
_BLOCKS = 200  # at least this many, to measure the progress of a slow learner
_MOST_CLASSES = 256

S = TypeVar("S", bound=AnyStream)
C = TypeVar("C", bound=AnyCell)
Progress = Callable[[int, int, str], None]
Start = Callable[[Contender, S, int | None], ContenderRun]


@dataclass(frozen=True)
class Cell(AnyCell):
    """The result of one learner on one stream of classes; accuracy and kappas in percent.

    They are None unless the whole stream was learned.
    """

    accuracy: float | None = None
    kappa: float | None = None
    kappa_temporal: float | None = None
    running_average_accuracy: float | None = None  # the mean over time of the running accuracy


def compare(
    contenders: Sequence[Contender],
    stream: Stream,
    *,
    warmup: int | None = None,
    limit: float = 600,
    jobs: int = 1,
    sizes: int = 0,
    progress: Progress | None = None,
    start: Start[Stream] = catalogue.start,
    label_budget: LabelBudget | None = None,
) -> Iterator[Cell]:
    """Run the contenders over a stream of classes, as run_apart() does.

    With `label_budget`, ours learn only the labels that they query, and the others as few of them.
    """
    return run_apart(
        contenders,
        stream,
        partial(ClassContest, label_budget=label_budget),
        partial(catalogue.start, label_budget=label_budget) if label_budget else start,
        warmup=warmup,
        limit=limit,
        jobs=jobs,
        sizes=sizes,
        progress=progress,
    )


def run_apart(
    contenders: Sequence[Contender],
    stream: S,
    of: Callable[[Any, Contender, S], Contest[C]],
    start: Start[S],
    *,
    warmup: int | None,
    limit: float,
    jobs: int = 1,
    sizes: int = 0,
    progress: Progress | None = None,
) -> Iterator[C]:
    """Run the contenders over the stream, `jobs` at a time; yield each result when it is ready.

    `of` scores a contender's predictions. A contender that crashes, or takes more than `limit`
    seconds, only costs its own cell. Ctrl-C stops the running ones: their cells come before the
    KeyboardInterrupt. The bytes are measured before the first sample and about `sizes` times along
    the way, or, if `sizes` is 0, only at the end; the measurement does not count as a learner's
    time, but counts towards its limit. The same holds for the shapes of trees.
    """
    waiting = deque(contenders)
    samples = stream.samples
    over = 0
    running: list[Contest[C]] = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                contender = waiting.popleft()
                work = Apart(learn, start, contender, stream, warmup, sizes, limit=limit)
                running.append(of(work, contender, stream))
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
    contender: Contender,
    stream: Stream,
    *,
    warmup: int | None = None,
    limit: float = 600,
    sizes: int = 0,
) -> Cell:
    """Return the cell of one of ours, run in this process, where compiled code stays loaded.

    A new process takes seconds to load the code. The limit is checked between blocks.
    """
    here = _Here(limit, catalogue.start, contender, stream, warmup, sizes)
    cell = ClassContest(here, contender, stream).advance()
    assert cell is not None
    return cell


def learn(
    send: Send,
    start: Start[S],
    contender: Contender,
    stream: S,
    warmup: int | None,
    sizes: int = 0,
) -> None:
    """Send (predictions, seconds) of every block, and the bytes; runs in a process of its own."""
    learner = start(contender, stream, warmup)
    total = stream.samples
    block = max(1, min(_BLOCK, total // _BLOCKS))
    between = max(block, total // sizes) if sizes else total
    for at in range(0, total, block):
        if sizes and at % between < block:
            _send_size(send, learner)
            _send_shape(send, learner)
        samples = learner.prepare(slice(at, at + block))
        begin = time.perf_counter()
        predicted = learner.run(samples)
        send((predicted, time.perf_counter() - begin))
    asked = getattr(learner, "asked", None)
    if asked is not None:
        send(Asked(asked))
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
    """The messages of learn(): all sent at once, but received one by one,
    as from another process.
    """

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
        """Return the next message; raises Ended after the last one."""
        if not self._sent:
            raise self._end
        return self._sent.popleft()


class ClassContest(Contest[Cell]):
    """A classifier, and the count of its predictions."""

    def __init__(
        self,
        work: Any,
        contender: Contender,
        stream: Stream,
        label_budget: LabelBudget | None = None,
    ) -> None:
        super().__init__(work, contender, stream)
        self.labels = stream.labels
        if label_budget:
            self.asked = int(np.sum(given_labels(stream, label_budget) != UNKNOWN))
        self._right = 0
        self._running = 0.0  # sum of the running accuracies after each sample, percent
        classes = len(stream.class_names)
        # One more class for "no answer", which is never right.
        self._metrics = loader.load(loader.fastest()).Metrics(min(classes + 1, _MOST_CLASSES))
        self._no_answer = min(classes, _MOST_CLASSES - 1)

    def count(self, predicted: Sequence[Any]) -> None:
        labels = self.labels[self.samples : self.samples + len(predicted)]
        answers = np.array(predicted)
        answers[answers == NO_ANSWER] = self._no_answer
        self._metrics.update_rows(
            bytearray(labels.tobytes()), bytearray(answers.astype(np.uint8).tobytes())
        )
        self._add_running(answers == labels)

    def so_far(self) -> float:
        """Return the accuracy."""
        return percent(self._metrics.accuracy)

    def _add_running(self, right: NDArray[np.bool_]) -> None:
        seen = np.arange(self.samples + 1, self.samples + len(right) + 1)
        running = (self._right + np.cumsum(right)) / seen * 100
        self._running += float(running.sum())
        self._right += int(right.sum())

    def cell(self, **common: Any) -> Cell:
        return Cell(**common)

    def scored(self, cell: Cell) -> Cell:
        return replace(
            cell,
            accuracy=percent(self._metrics.accuracy),
            kappa=percent(self._metrics.kappa),
            kappa_temporal=percent(self._metrics.kappa_temporal),
            running_average_accuracy=self._running / self.samples,
            labels=self.asked,
        )

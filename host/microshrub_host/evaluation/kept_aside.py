"""Keeps every fifth sample of a stream aside, and asks about it once the last label has come.

A prequential accuracy tells each label right after its prediction, and so rewards whoever repeats
the last one. On the shelf there is no label. Here a learner learns four of every five samples, in
their order, and is then asked about the others, in theirs.

Of samples made of windows, these are whole stretches of time: windows that share readings are
nearly the same, and so are two of the same moment of the world.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..beside.companion import Beside, freezes
from ..engines import engines
from ..library import loader
from ..library.learners import MODELS, warmup_of
from ..streams.stream import Stream
from ..streams.units import Raw
from . import prequential
from .by_class import ByClass
from .classes import WithoutLabels

EVERY = 5  # one of so many samples is kept aside; of windows, one of so many stretches of a class
MOST = 20_000  # samples at the end of a stream that are looked at
_LEAST = 2 * EVERY
_BLOCK = 2048

Marks = NDArray[np.bool_]


def measure(
    stream: Stream,
    model: str,
    parameters: Mapping[str, Any],
    *,
    warmup: int | None = None,
    beside: Beside = (),
) -> WithoutLabels | None:
    """Learn four of every five of the stream's last samples, 20,000 at most; ask about the others.

    Of windows, learn those that share no reading with the stretches of time that are kept aside.

    None if there are too few, or it makes no sense beside a companion. It runs on the fastest
    engine, as all come to the same bits. For warmup see warmup_of().
    """
    begin = max(len(stream.labels) - MOST, 0)
    samples = len(stream.labels) - begin
    if samples < _LEAST or not all(each.asked_alone for each in beside):
        return None
    rows = stream.scale.apply(np.asarray(stream.values[begin:]))
    labels = np.asarray(stream.labels[begin:])
    aside = np.arange(samples) % EVERY == EVERY - 1
    aside, learned = whole_stretches(stream, begin) or (aside, ~aside)
    warmup = warmup_of(model, warmup, frozen=freezes(beside))
    said = answers(
        model,
        parameters,
        rows[learned],
        labels[learned],
        rows[aside],
        warmup=warmup,
        beside=beside,
    )
    by_class = ByClass.none_yet(tuple(stream.class_names))
    by_class.add(labels[aside], said)
    right = 100 * float(np.mean(said == labels[aside]))
    parts = int(aside.sum()), int(learned.sum())
    return WithoutLabels(*parts, right, by_class, windows=stream.ends is not None)


def answers(
    model: str,
    parameters: Mapping[str, Any],
    rows: Raw,
    labels: NDArray[np.uint8],
    asked: Raw,
    *,
    warmup: int | None = None,
    beside: Beside = (),
) -> NDArray[np.uint8]:
    """What a fresh model says of the rows `asked` once it has learned these rows and labels."""
    warmup = warmup_of(model, warmup, frozen=freezes(beside))
    engine = loader.fastest()
    prequential.compile_kernels(model, parameters, engine)
    with engines.start(engine, MODELS[model], parameters, beside, growing=not warmup) as run:
        prequential.fit(run, rows[:warmup], warmup)
        for part in _blocks(len(labels)):
            run.run(rows[part], labels[part])
        run.settle()
        said = [run.ask(asked[part]) for part in _blocks(len(asked))]
    return np.concatenate(said) if said else np.zeros(0, dtype=np.uint8)


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(at, at + _BLOCK) for at in range(0, rows, _BLOCK))


def whole_stretches(stream: Stream, begin: int) -> tuple[Marks, Marks] | None:
    """Which of the samples from `begin` on are kept aside, and which are learned.

    Whole runs of one label are, and no window is learned that shares a reading with one of them.
    None if the samples were not made of windows.
    """
    if stream.ends is None or stream.extraction is None:
        return None
    ends = stream.ends[begin:]
    order = np.argsort(ends, kind="stable")
    window = int(stream.extraction.options["window"])
    aside = np.zeros(len(ends), np.bool_)
    aside[order] = _runs_aside(ends[order], stream.labels[begin:][order], window)
    kept = np.sort(ends[aside])
    after = np.searchsorted(kept, ends)  # the first kept one that is not before each
    far = np.full(len(ends), np.iinfo(np.intp).max)
    for near in (after - 1, after):
        known = (near >= 0) & (near < len(kept))
        apart = np.abs(ends[known] - kept[near[known]])
        far[known] = np.minimum(far[known], apart)
    return aside, far >= window


def _runs_aside(ends: NDArray[np.intp], labels: NDArray[np.uint8], window: int) -> Marks:
    """Those of samples in the order of time: every fifth stretch of each class."""
    starts = [0]
    for row in np.flatnonzero(np.diff(labels)) + 1:
        if ends[row] - ends[starts[-1]] >= window:  # what is shorter goes with what follows
            starts.append(int(row))
    found = np.zeros(len(ends), np.bool_)
    stretches = list(zip(starts, [*starts[1:], len(ends)], strict=True))
    most = [int(np.bincount(labels[a:b]).argmax()) for a, b in stretches]
    for c in sorted(set(most)):
        own = [stretch for stretch, k in zip(stretches, most, strict=True) if k == c]
        if len(own) == 1:
            (a, b), own = own[0], []
            found[b - max((b - a) // EVERY, 1) : b] = True
        for a, b in own[EVERY - 1 :: EVERY] or own[-1:]:
            found[a:b] = True
    return found

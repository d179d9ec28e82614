"""Keeps every fifth sample of a stream aside, and asks about it once the last label has come.

Of samples made of windows, these are whole stretches of time (stretches.py).
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
from . import prequential, stretches
from .by_class import ByClass
from .without_labels import WithoutLabels

EVERY = 5  # one of so many samples is kept aside
MOST = 20_000  # samples at the end of a stream that are looked at
_LEAST = 2 * EVERY
_BLOCK = 2048


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
    aside, learned = stretches.split(stream, begin) or (aside, ~aside)
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

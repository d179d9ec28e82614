"""Helpers that several test files use."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from microshrub_host.evaluation.classes import Result
from microshrub_host.evaluation.prequential import evaluate
from microshrub_host.library.learners import DEFAULT, WARMUP, defaults, stream_parameters
from microshrub_host.simulation.companion import Companion, with_companions
from microshrub_host.simulation.companion_registry import in_order
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("MICROSHRUB_DATA") or ROOT.parent / "shared" / "data")


def recording(name: str) -> str:
    """Return the path of a recorded stream; skips the test where there are no recordings."""
    path = DATA / f"{name}.csv.gz"
    if not path.is_file():
        pytest.skip("set MICROSHRUB_DATA to the folder of the recorded streams")
    return str(path)


@cache
def stream_of(source: str, limit: int | None = None) -> Stream:
    """Return a generated stream, synth:NAME, or a recorded one by its name."""
    return open_stream(source if ":" in source else recording(source), limit=limit)


def learned_once(
    stream: Stream,
    model: str = DEFAULT,
    *,
    warmup: int | None = None,
    companions: Sequence[Companion] = (),
    **parameters: Any,
) -> Result:
    """Return the result of simulate(), without learning the stream again for the unseen data."""
    ready = [each.on_stream(stream, warmup or WARMUP) for each in in_order(companions)]
    shape = stream_parameters(model, stream, warmup) | defaults(model) | parameters
    wanted = with_companions(shape, ready)
    return evaluate(stream, model, wanted, warmup=warmup, companions=ready)


def make_blobs(samples: int, seed: int = 3) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return two overlapping clouds of raw values: rows of 2 features, labels of 2 classes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, samples).astype(np.uint8)
    rows = rng.normal(labels[:, None] * 150, 100, (samples, 2)).astype(np.int32)
    return rows, labels

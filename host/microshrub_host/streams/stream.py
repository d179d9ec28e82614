"""Labelled streams: one sample after another, in the order in which a board would see them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .extraction import Extraction
from .units import Scale

MAX_FEATURES = 256
MAX_CLASSES = 256  # a label is one byte
MAX_SAMPLES = (1 << 31) - 1

# Called now and then with the work done and the whole work: bytes of a file, rows of the others.
Progress = Callable[[int, int], None]


def source_name(source: object) -> str:
    """The name of a source that somebody gave. Raises TypeError for what is none, as an array."""
    if isinstance(source, (str, os.PathLike)):
        return os.fsdecode(source)
    raise TypeError(
        f"a file or the name of a stream is needed, not {type(source).__name__}. Of arrays, make "
        "a stream, Stream(name, values, labels, feature_names, class_names), or fit an estimator "
        "of microshrub_host.adapters.sklearn_adapter"
    )


@dataclass(frozen=True)
class Stream:
    """Samples with their labels, in stream order. Missing values are NaN, never imputed."""

    name: str  # "elec.csv.gz", "synth:agrawal_a"
    values: NDArray[np.float64]  # (samples, features)
    labels: NDArray[np.uint8]  # (samples,), indices into class_names
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    notes: tuple[str, ...] = ()  # what the reader guessed or could not keep, a sentence each
    known_scale: Scale | None = None  # where the reader has looked for it already
    extraction: Extraction | None = None  # of features that were made of a recording's readings
    label_name: str = ""  # the column of the class; "": the source has no name for it
    ends: NDArray[np.intp] | None = None  # of samples made of windows: the last reading of each

    @property
    def samples(self) -> int:
        """How many there are."""
        return len(self.labels)

    @functools.cached_property
    def scale(self) -> Scale:
        """The units of the columns."""
        return self.known_scale or Scale.fit(self.values)


def stream_order(samples: int, limit: int | None, shuffle: int | None) -> NDArray[np.intp]:
    """Indices of the samples to keep, in stream order: shuffled first, then cut."""
    if shuffle is None:
        return np.arange(samples, dtype=np.intp)[:limit]
    return np.random.default_rng(shuffle).permutation(samples)[:limit].astype(np.intp)

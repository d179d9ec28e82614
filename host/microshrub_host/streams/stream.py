"""Labelled streams: one sample after another, in the order in which a board would see them.

Where samples are made of a sensor's readings, an Extraction says how, as a board is told it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import DataError
from .units import Scale

_REAL = "fiub"  # the kinds of numpy's types that are real numbers
_FORM = 6  # the first of the statistics that are in outline.py


def modules_by_need(options: Mapping[str, Any] | None) -> dict[str, bool]:
    """The library's modules for extractions, and which a program with this one imports."""
    found = options or {"filters": (), "bands": (), "statistics": ()}
    return {
        "device.extractor": options is not None,
        "device.filters": bool(found["filters"]),
        "device.spectrum": bool(found["bands"]),
        "device.outline": max(found["statistics"], default=0) >= _FORM,
    }


@dataclass(frozen=True)
class Extraction:
    """The parameters of firmware's FeatureExtractor, and what they are for."""

    channels: tuple[str, ...]  # names of a reading's values
    rate: float | None  # readings a second; None where nothing depends on it
    options: dict[str, Any]  # all whole numbers, as config.json has them

    @property
    def words(self) -> str:
        """What samples are made of, in words."""
        window, hop = self.options["window"], self.options["hop"]
        rate = f", {self.rate:g} a second" if self.rate else ""
        return f"made of windows of {window:,} readings{rate}, one after every {hop:,}"

    def saved(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"channels": list(self.channels), "rate": self.rate, "options": self.options}


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
    """Samples with their labels, in stream order. Missing values are NaN, never imputed.

    Raises DataError for arrays that do not fit together, or are of another type or shape.
    """

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

    def __post_init__(self) -> None:
        values, labels = self.values, self.labels
        if (
            not isinstance(values, np.ndarray)
            or values.ndim != 2
            or values.dtype.kind not in _REAL
        ):
            raise self._refused("values has to be an array of numbers, shape (samples, features)")
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or labels.dtype != np.uint8:
            raise self._refused(
                "labels has to be an array of uint8, places in class_names. For y as it is: "
                "class_names, labels = np.unique(y, return_inverse=True), "
                "and then labels.astype(np.uint8)"
            )
        if len(values) != len(labels):
            raise self._refused(f"there are {len(values)} rows of values and {len(labels)} labels")
        named = len(self.feature_names)
        if named != values.shape[1]:
            raise self._refused(f"{values.shape[1]} columns of values have {named} feature_names")

    def _refused(self, why: str) -> DataError:
        return DataError(f"the stream {self.name!r}: {why}")

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

"""Labelled streams: one sample after another, in the order in which a board would see them.

If samples are made from a sensor's readings, an Extraction has the parameters, as on a board.
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
from .units import Raw, Scale

_REAL = "fiub"  # kinds of numpy's types of real numbers
_FORM = 6  # first statistic of a signal's shape, see firmware's features.py


def modules_by_need(options: Mapping[str, Any] | None) -> dict[str, bool]:
    """Return the library's modules for extractions, and whether a program needs each of them."""
    bands = bool(options and options["bands"])
    return {"device.feature_extractor": options is not None, "device.spectrum": bands}


def methods_by_need(options: Mapping[str, Any] | None) -> dict[str, bool]:
    """Return the FeatureExtractor's optional methods, and whether this extraction needs each."""
    result = options or {"filters": (), "statistics": ()}
    needed = {
        "filters": bool(result["filters"]),
        "outline": max(result["statistics"], default=0) >= _FORM,
        "turns": bool(result.get("turns")),
    }
    return {f"device.feature_extractor:_set_up_{name}": needed[name] for name in needed}


@dataclass(frozen=True)
class Extraction:
    """The parameters of firmware's FeatureExtractor, and their context."""

    channels: tuple[str, ...]  # names of a reading's values
    rate: float | None  # readings a second; None if not needed
    options: dict[str, Any]  # whole numbers only, as in config.json
    scale: tuple[float, ...] = ()  # factors of the values; empty: 1
    scale_chosen: bool = False  # whether the factors were chosen automatically

    @property
    def multiplied(self) -> str:
        """The channels that were multiplied, with their factors, as text; "" if none was."""
        factors = zip(self.channels, self.scale, strict=False)
        return ", ".join(f"{name} by {factor:.7g}" for name, factor in factors if factor != 1)

    @property
    def words(self) -> str:
        """A description of the windows, for texts."""
        window, hop = self.options["window"], self.options["hop"]
        rate = f", {self.rate:g} a second" if self.rate else ""
        return f"made of windows of {window:,} readings{rate}, one after every {hop:,}"

    def saved(self) -> dict[str, Any]:
        """Return the extraction as JSON can hold it."""
        result: dict[str, Any] = {
            "channels": list(self.channels),
            "rate": self.rate,
            "options": self.options,
        }
        if self.scale:
            result |= {"scale": list(self.scale), "scale_chosen": self.scale_chosen}
        return result


MAX_FEATURES = 256
MAX_CLASSES = 256  # a label is one byte
MAX_SAMPLES = (1 << 31) - 1

# Called at intervals with the work done and the whole work: bytes of a file, or rows.
Progress = Callable[[int, int], None]


def source_names(source: object) -> tuple[str, ...]:
    """Return the names of one source, or of several files. Raises TypeError for anything else."""
    if isinstance(source, (list, tuple)) and source:
        return tuple(map(source_name, source))
    return (source_name(source),)


def source_name(source: object) -> str:
    """Return the name of a given source. Raises TypeError for anything else, such as an array."""
    if isinstance(source, (str, os.PathLike)):
        return os.fsdecode(source)
    raise TypeError(
        f"a file or the name of a stream is needed, not {type(source).__name__}. Of arrays, make "
        "a stream, Stream(name, values, labels, feature_names, class_names), or fit an estimator "
        "of microshrub_host.api.sklearn_adapter"
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
    notes: tuple[str, ...] = ()  # sentences on guesses and losses while reading
    known_scale: Scale | None = None  # if the reader has determined it
    extraction: Extraction | None = None  # for features extracted from a recording's readings
    clocks: tuple[str, ...] = ()  # columns left out, with the time of each row
    label_name: str = ""  # column of the class; "": the source has no name for it
    # The place in the recording of each sample, or of its last reading, if samples were shuffled
    # or are windows
    times: NDArray[np.intp] | None = None
    groups: NDArray[np.intp] | None = None  # group of each sample, by a column or recording
    group_name: str = ""  # name of the group column, or "file" or "recording"
    rate: float | None = None  # rows a second, by the recording's clock
    starts: tuple[int, ...] = ()  # rows after a gap in time: no window spans it
    readings: int = 0  # rows of each recording in a wide file

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
        """The number of samples."""
        return len(self.labels)

    @functools.cached_property
    def scale(self) -> Scale:
        """The units of the columns."""
        return self.known_scale or Scale.fit(self.values)

    def raw_rows(self) -> Raw:
        """The values as raw integers, shape (samples, features)."""
        return self.scale.apply(self.values)


def stream_order(samples: int, limit: int | None, shuffle: int | None) -> NDArray[np.intp]:
    """Return the indices of the samples to keep, in stream order: shuffled first, then cut."""
    if shuffle is None:
        return np.arange(samples, dtype=np.intp)[:limit]
    return np.random.default_rng(shuffle).permutation(samples)[:limit].astype(np.intp)

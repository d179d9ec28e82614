"""Features of readings on the PC, made by the board's own code.

What firmware's FeatureExtractor makes of a recording is, bit by bit, what the board would have.
"""

from __future__ import annotations

import dataclasses
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..streams.extraction import Extraction
from ..streams.stream import Stream, stream_order
from ..streams.units import MISSING, Raw, Scale
from . import loader
from .feature_options import FeatureOptions

_LIMIT = 1 << 15


class Extractor:
    """Takes readings one by one; makes a sample of them now and then, as the board does."""

    def __init__(self, extraction: Extraction, engine: str | None = None) -> None:
        library = loader.load(engine or loader.fastest())
        channels = len(extraction.channels)
        self._extractor: Any = library.device.extractor.FeatureExtractor(
            channels, **extraction.options
        )
        self._readings = array("i", [0] * channels)
        self.features: int = self._extractor.features
        self._values = array("i", [0] * self.features)

    def take(self, readings: Sequence[int | None]) -> list[int] | None:
        """The sample that this reading completes, if it does; None stands for what is absent."""
        for channel, value in enumerate(readings):
            self._readings[channel] = MISSING if value is None else value
        if self._extractor.take(self._readings, self._values):
            return self._values.tolist()
        return None


def extraction_of(saved: Any) -> Extraction:
    """What Extraction.saved() gave. Raises ValueError if it cannot be."""
    try:
        rate = saved["rate"]
        found = Extraction(tuple(map(str, saved["channels"])), rate, dict(saved["options"]))
        Extractor(found, "python")
    except (TypeError, KeyError, OverflowError):
        raise ValueError("config.json has no valid extraction") from None
    return found


def extracted(stream: Stream, options: FeatureOptions, shuffle: int | None = None) -> Stream:
    """The stream of samples that a board would make of a recording of readings.

    A sample has the label of its last reading. shuffle is the seed of a permutation of the
    samples. Raises UserError if a board could not have given these readings.
    """
    extraction = options.extraction(stream.feature_names)
    _check_readings(stream, extraction)
    if len(stream.values) < options.window:
        raise UserError(
            f"{stream.name} has {len(stream.values):,} readings, and the window of --features is "
            f"of {options.window:,}"
        )
    extractor = Extractor(extraction)
    samples, labels = [], []
    for row, label in zip(raw_readings(stream).tolist(), stream.labels.tolist(), strict=True):
        sample = extractor.take(row)
        if sample is not None:
            samples.append(sample)
            labels.append(label)
    features = len(samples[0])
    order = stream_order(len(samples), None, shuffle)
    return dataclasses.replace(
        stream,
        values=np.array(samples, dtype=np.float64)[order],
        labels=np.array(labels, dtype=np.uint8)[order],
        feature_names=options.names(stream.feature_names),
        known_scale=Scale(np.zeros(features), np.zeros(features, dtype=np.int64)),
        extraction=extraction,
    )


def raw_readings(stream: Stream) -> Raw:
    """The readings of a recording as a sensor gives them; MISSING for what is absent."""
    return np.where(np.isnan(stream.values), MISSING, stream.values).astype(np.int32)


def _check_readings(stream: Stream, extraction: Extraction) -> None:
    """Raise UserError for what is not a whole number of 16 bits around its zero."""
    plain, zero = extraction.options["plain"], extraction.options["zero"]
    for place, name in enumerate(stream.feature_names):
        column: NDArray[np.float64] = stream.values[:, place]
        known = column[~np.isnan(column)]
        broken = np.flatnonzero(known != np.rint(known))
        if len(broken):
            raise UserError(
                f"{stream.name}: {name} has {known[broken[0]]:g}, and --features takes readings "
                "as a sensor on the board gives them, whole numbers"
            )
        limit = _LIMIT if place not in plain else 1 << 29
        far = np.flatnonzero(np.abs(known - zero[place] + 0.5) > limit)
        if len(far):
            raise UserError(
                f"{stream.name}: {name} has {known[far[0]]:g}, and --features takes readings "
                f"within {zero[place] - limit:,}..{zero[place] + limit - 1:,}. For analog pins, "
                "whose readings are 0..65535, add zero=32768"
            )

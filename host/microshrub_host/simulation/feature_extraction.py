"""Features of readings on the PC, extracted by the board's own code.

The samples that firmware's FeatureExtractor makes of a recording have the same bits as on a board.
"""

from __future__ import annotations

import dataclasses
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..base.text import did_you_mean
from ..library import loader
from ..streams.regression_streams import NOT_SCORED, NumberStream
from ..streams.stream import Extraction, Stream, stream_order
from ..streams.units import MISSING, Raw, Scale
from .feature_options import FeatureOptions
from .reading_scale import MOST, MOST_PLAIN, fitting, scaled, with_scale


class Extractor:
    """Takes readings one by one, and completes a sample at intervals, as the board does."""

    def __init__(self, extraction: Extraction, engine: str | None = None) -> None:
        library = loader.load(engine or loader.fastest())
        channels = len(extraction.channels)
        self._extractor: Any = library.device.feature_extractor.FeatureExtractor(
            channels, **extraction.options
        )
        self._readings = array("i", [0] * channels)
        self.features: int = self._extractor.features
        self._values = array("i", [0] * self.features)

    def take(self, readings: Sequence[int | None]) -> list[int] | None:
        """Return the sample that this reading completes, or None; absent values are None."""
        for channel, value in enumerate(readings):
            self._readings[channel] = MISSING if value is None else value
        if self._extractor.take(self._readings, self._values):
            return self._values.tolist()
        return None


def extraction_of(saved: Any) -> Extraction:
    """Return the Extraction that Extraction.saved() saved. Raises ValueError if it is invalid."""
    try:
        rate = saved["rate"]
        extraction = Extraction(
            tuple(map(str, saved["channels"])),
            rate,
            dict(saved["options"]),
            tuple(map(float, saved.get("scale", ()))),
            bool(saved.get("scale_chosen", False)),
        )
        if extraction.scale and len(extraction.scale) != len(extraction.channels):
            raise KeyError("scale")
        Extractor(extraction, "python")
    except (TypeError, KeyError, OverflowError):
        raise ValueError("config.json has no valid extraction") from None
    return extraction


def extracted(stream: Stream, options: FeatureOptions, shuffle: int | None = None) -> Stream:
    """Return the stream of samples that a board would make of a recording of readings.

    A sample has the label of its last reading. shuffle is the seed of a permutation of the
    samples. Raises UserError if a board could not have given these readings.
    """
    extraction = with_scale(options.extraction(stream.feature_names), stream.values, options)
    return extracted_as(stream, extraction, options.names(stream.feature_names), shuffle)


def extracted_as(
    stream: Stream, extraction: Extraction, names: tuple[str, ...], shuffle: int | None = None
) -> Stream:
    """Return the stream of samples by an extraction for the stream's columns.

    names are the features' names; otherwise see extracted().
    """
    made = _made(stream.name, stream.values, extraction, names, stream.starts)
    order = stream_order(len(made.samples), None, shuffle)
    return dataclasses.replace(
        stream,
        values=made.samples[order],
        labels=stream.labels[made.last][order],
        feature_names=made.names,
        known_scale=made.scale,
        extraction=made.extraction,
        times=made.last[order],
        starts=(),
        groups=None if stream.groups is None else stream.groups[made.last][order],
    )


def extracted_numbers(
    readings: NumberStream, options: FeatureOptions, target: str | None = None
) -> NumberStream:
    """Return the regression stream of a recording's features, as a board would make them.

    The target is one of the features, by default the last. Raises UserError as extracted() does,
    and if there is no such feature.
    """
    channels = readings.column_names
    extraction = with_scale(options.extraction(channels), readings.columns, options)
    made = _made(readings.name, readings.columns, extraction, options.names(channels))
    target = made.names[-1] if target is None else target
    if target not in made.names:
        plain = f"With plain={target} it is one. " * (target in readings.column_names)
        raise UserError(
            f"--target {target} is none of the features. {plain}{did_you_mean(target, made.names)}"
        )
    return NumberStream(
        readings.name,
        made.samples,
        made.names,
        made.names.index(target),
        horizon=0,
        lags=0,
        notes=tuple(note for note in readings.notes if not note.endswith(NOT_SCORED)),
        known_scale=made.scale,
        extraction=made.extraction,
    )


@dataclasses.dataclass(frozen=True)
class _Made:
    """The samples made of a recording's readings."""

    extraction: Extraction
    names: tuple[str, ...]  # names of the features
    samples: NDArray[np.float64]  # (samples, features)
    last: NDArray[np.intp]  # the last reading of each sample

    @property
    def scale(self) -> Scale:
        """The scale of features, which are whole numbers."""
        features = len(self.names)
        return Scale(np.zeros(features), np.zeros(features, dtype=np.int64))


def _made(
    name: str,
    recording: NDArray[np.float64],
    extraction: Extraction,
    names: tuple[str, ...],
    starts: tuple[int, ...] = (),
) -> _Made:
    """Return the samples; windows start over at `starts`, the rows after a gap in time."""
    readings = scaled(recording, extraction)
    check_readings(name, readings, extraction)
    window = extraction.options["window"]
    edges = [0, *starts, len(readings)]
    longest = int(np.diff(edges).max())
    if longest < window:
        of = "" if longest == len(readings) else " without a gap"
        raise UserError(
            f"{name} has {longest:,} readings{of}, and the window of --features is of {window:,}"
        )
    begins = {*edges[:-1]}
    samples, last = [], []
    for place, row in enumerate(raw_readings(readings).tolist()):
        if place in begins:
            extractor = Extractor(extraction)
        sample = extractor.take(row)
        if sample is not None:
            samples.append(sample)
            last.append(place)
    result = np.array(samples, dtype=np.float64)
    return _Made(extraction, names, result, np.array(last, dtype=np.intp))


def raw_readings(values: NDArray[np.float64]) -> Raw:
    """Return a recording's readings as a sensor gives them; MISSING for absent values."""
    return np.where(np.isnan(values), MISSING, values).astype(np.int32)


def check_readings(source: str, readings: NDArray[np.float64], extraction: Extraction) -> None:
    """Raise UserError for a reading that is not a whole number of 16 bits around its zero.

    Plain channels have 30 bits.
    """
    plain, zero = extraction.options["plain"], extraction.options["zero"]
    for place, name in enumerate(extraction.channels):
        column = readings[:, place]
        known = column[~np.isnan(column)]
        broken = np.flatnonzero(known != np.rint(known))
        if len(broken):
            raise UserError(
                f"{source}: {name} has {known[broken[0]]:g}, and --features takes readings "
                "as a sensor on the board gives them, whole numbers. Record them with "
                "`microshrub record`, or multiply them: scale=1000"
            )
        limit = MOST if place not in plain else MOST_PLAIN
        far = np.flatnonzero(np.abs(known - zero[place] + 0.5) > limit)
        factor = extraction.scale[place] if extraction.scale else 1.0
        if len(far) and factor != 1:
            value = known[far[0]] / factor
            raise UserError(
                f"{source}: {name} has {value:g}, and with the factor {factor:g} of --features "
                f"readings are within {-limit / factor:g}..{limit / factor:g}. A smaller factor "
                f"has room for it: scale={fitting(value, limit):g}"
            )
        if len(far):
            raise UserError(
                f"{source}: {name} has {known[far[0]]:g}, and --features takes readings "
                f"within {zero[place] - limit:,}..{zero[place] + limit - 1:,}. For analog pins, "
                "whose readings are 0..65535, add zero=32768"
            )

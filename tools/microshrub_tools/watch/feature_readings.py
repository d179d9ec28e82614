"""Makes samples of a board's readings for a file, as the board itself would."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from microshrub_host.base.errors import UserError
from microshrub_host.simulation.feature_choice import Place
from microshrub_host.simulation.feature_extraction import Extractor, check_readings
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.simulation.reading_scale import ROOM_AT_FIRST, scaled, with_scale
from microshrub_host.streams.stream import Extraction

from .line_samples import Reading


class FeatureReadings:
    """Takes readings, and returns a sample of their features whenever one is complete.

    Decimals are multiplied, by factors from the first window of readings unless the user gives
    factors; `note` then has the factors, and the features without room. If samples are added to a
    file, the factors of the file's samples are unknown, so the user has to give factors.
    """

    def __init__(self, words: Sequence[str], *, appends: bool = False) -> None:
        """Check the words of --features. Raises UserError."""
        FeatureOptions.of(words)  # check the words before the first reading
        self._words = words
        self._appends = appends
        self._channels: tuple[str, ...] = ()
        self._options: FeatureOptions
        self._first: list[Reading] = []  # until the factors are known
        self._extraction: Extraction | None = None
        self._extractor: Extractor | None = None
        self.note = ""

    def take(self, reading: Reading) -> Reading | None:
        """Return the sample that this reading completes, with its label. No sample spans a gap.

        Raises UserError.
        """
        if reading.names != self._channels:
            self._channels = reading.names
            self._options = FeatureOptions.of(self._words, Place(channels=reading.names))
            self._first, self._extraction = [], None
        if self._extraction is not None:
            return self._sample(reading, self._extraction)
        self._first.append(reading)
        if len(self._first) < self._options.window and not self._options.scale:
            return None
        extraction = self._extraction = self._chosen_extraction()
        self._extractor = Extractor(extraction)
        return [self._sample(each, extraction) for each in self._first][-1]

    def _chosen_extraction(self) -> Extraction:
        options, plain = self._options, self._options.extraction(self._channels)
        values = np.array([_numbers(each) for each in self._first])
        result = with_scale(plain, values, options, ROOM_AT_FIRST)
        fewer = options.fewer_lags(self._channels)
        notes = [f"Note: --features: {fewer}"] * bool(fewer)
        if result.scale_chosen:
            words = "scale=" + ",".join(f"{factor:.9g}" for factor in result.scale)
            if self._appends:
                raise UserError(
                    "the board sends decimals, which --features multiplies. With --append, say "
                    f"by what the samples in the file were multiplied, such as {words}"
                )
            notes.append(
                f"Note: --features takes whole numbers, so decimals are multiplied: "
                f"{result.multiplied}. Say {words} when you record again, so that the files agree."
            )
        self.note = "\n".join(notes)
        return result

    def _sample(self, reading: Reading, extraction: Extraction) -> Reading | None:
        if self._extractor is None or reading.gap:
            self._extractor = Extractor(extraction)
        row = scaled(np.array([_numbers(reading)]), extraction)
        check_readings("the board", row, extraction)
        values = self._extractor.take([None if math.isnan(v) else int(v) for v in row[0].tolist()])
        if values is None:
            return None
        names = self._options.names(self._channels)
        return dataclasses.replace(reading, names=names, values=tuple(values))


def _numbers(reading: Reading) -> list[float]:
    return [math.nan if value is None else float(value) for value in reading.values]

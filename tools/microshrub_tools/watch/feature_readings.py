"""Samples made of a board's readings on their way to a file, as the board itself would."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import cast

from microshrub_host.base.errors import UserError
from microshrub_host.features.feature_choice import Place
from microshrub_host.features.feature_extraction import Extractor
from microshrub_host.features.feature_options import FeatureOptions

from .line_samples import Reading


class FeatureReadings:
    """Takes readings, and gives a sample of their features where one is complete."""

    def __init__(self, words: Sequence[str]) -> None:
        """words are those of --features. Raises UserError."""
        FeatureOptions.of(words)  # before there is a reading
        self._words = words
        self._channels: tuple[str, ...] = ()
        self._names: tuple[str, ...] = ()
        self._extractor: Extractor | None = None

    def take(self, reading: Reading) -> Reading | None:
        """The sample that this reading completes, with its label. None is made across a gap.

        Raises UserError.
        """
        if self._extractor is None or reading.gap or reading.names != self._channels:
            self._channels = reading.names
            options = FeatureOptions.of(self._words, Place(channels=len(reading.names)))
            self._names = options.names(reading.names)
            self._extractor = Extractor(options.extraction(reading.names))
        for name, value in zip(reading.names, reading.values, strict=True):
            if isinstance(value, str):
                raise UserError(
                    f"{name} is {value}, and --features takes readings as a sensor on the board "
                    "gives them, whole numbers"
                )
        values = self._extractor.take(cast("tuple[int | None, ...]", reading.values))
        if values is None:
            return None
        return dataclasses.replace(reading, names=self._names, values=tuple(values))

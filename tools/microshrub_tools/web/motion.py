"""Windows over a sensor's readings inside the page, as a board makes them.

This file runs in the page, in MicroPython, with learning.py; it runs on CPython as well.
"""

import json
from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from typing import Any


class Windows:
    """The last readings of some axes, and their features every `hop` readings.

    turns, lags: as JSON, the pairs of axes whose sense of rotation is a feature, and the lags.
    """

    def __init__(self, axes: int, window: int, hop: int, turns: str, lags: str) -> None:
        from microshrub.device import feature_extractor, sensors

        extractor_class: Any = feature_extractor.FeatureExtractor
        statistics = range(6)  # as in windows.ts
        pairs = {"turns": json.loads(turns), "lags": json.loads(lags)}
        self._extractor = extractor_class(
            axes, window, hop, [0] * axes, [], statistics, [], [], **pairs
        )
        self._unpack: Any = sensors.unpack
        self._reading = array("i", [0] * axes)
        self._sample = array("i", [0] * self._extractor.features)

    def restart(self) -> None:
        """Restart after missing readings: no sample includes earlier readings."""
        self._extractor.restart()

    def take(self, readings: str, samples: str) -> int:
        """Take the readings in a file, big-endian values of 16 bits, axis after axis.

        Writes the resulting samples to the other file, 32 bits a feature; returns how many.
        """
        axes = len(self._reading)
        with open(readings, "rb") as file:
            data = file.read()
        count = 0
        with open(samples, "wb") as file:
            for at in range(0, len(data), 2 * axes):
                self._unpack(data, at, self._reading, axes, 0)
                if self._extractor.take(self._reading, self._sample):
                    file.write(self._sample)
                    count += 1
        return count

"""Windows over a sensor's readings inside the page, as a board with an MPU-6050 makes them.

This file runs in the page, in MicroPython, beside learning.py; it runs on CPython as well.
"""

from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from typing import Any


class Windows:
    """The last readings of some axes, and their features every `hop` readings."""

    def __init__(self, axes: int, window: int, hop: int) -> None:
        from microshrub.device import features

        self._kernels: Any = features
        self._axes = axes
        self._window = window
        self._hop = hop
        self._ring = array("H", bytes(2 * axes * window))
        self._row = 0  # of the ring that is written next
        self._wait = window  # readings until the next sample

    def take(self, readings: str, samples: str) -> int:
        """Take the readings in a file, big-endian values of 16 bits, axis after axis.

        Writes the samples that came of them to the other file, 32 bits a feature; gives how many.
        """
        with open(readings, "rb") as file:
            data = file.read()
        count = 0
        with open(samples, "wb") as file:
            for at in range(0, len(data), 2 * self._axes):
                self._kernels.put_row(data, at, self._ring, self._row, self._axes, 0)
                self._row = (self._row + 1) % self._window
                self._wait -= 1
                if not self._wait:
                    self._wait = self._hop
                    file.write(self._sample())
                    count += 1
        return count

    def _sample(self) -> "array[int]":
        per_axis = self._kernels.PER_AXIS
        values = array("i", [0] * (per_axis * self._axes))
        for axis in range(self._axes):
            to = per_axis * axis
            ring, rows = self._ring, self._window
            self._kernels.summarize(ring, rows, self._row, self._axes, axis, values, to)
        return values

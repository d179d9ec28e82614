"""Whether the classes of a recording are recognised better in windows or in single readings.

The estimate is quick, and serves to suggest a command: Gaussian naive Bayes learns every other run
of each class and predicts the others, for rows and for simple features of windows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..streams.stream import Stream

_MOST = 100_000  # rows
LEAST = 3  # learned windows of a class, at least

Floats = NDArray[np.float64]
Run = tuple[int, int, int]  # first row, the row after the last, class


@dataclass(frozen=True)
class WindowGain:
    """Mean recalls of the classes, for rows and for windows."""

    rows: float
    windows: float
    asked: int  # windows predicted

    @property
    def is_plain(self) -> bool:
        """Whether windows are clearly better than rows."""
        return self.windows - self.rows >= self._chance

    @property
    def is_loss(self) -> bool:
        """Whether rows are clearly better than windows."""
        return self.rows - self.windows >= self._chance

    @property
    def _chance(self) -> float:
        """The difference that may be due to chance with so few windows."""
        return max(0.05, 1 / math.sqrt(self.asked))


def runs_of(stream: Stream) -> list[Run]:
    """Return the runs of the classes, split at files and gaps."""
    labels = np.asarray(stream.labels[:_MOST])
    edges = {0, len(labels), *(np.flatnonzero(np.diff(labels)) + 1).tolist()}
    edges |= {start for start in stream.starts if start < len(labels)}
    places = sorted(edges)
    return [(at, to, int(labels[at])) for at, to in zip(places, places[1:], strict=False)]  # noqa: RUF007


def window_gain(stream: Stream, window: int) -> WindowGain | None:
    """Return the mean recalls for rows and for windows of that length; None if too few."""
    runs = runs_of(stream)
    values = np.nan_to_num(np.asarray(stream.values[:_MOST]), nan=0.0)
    rows, (learned, asked) = _score(*_halves(values, runs, 1)), _halves(values, runs, window)
    windows = _score(learned, asked)
    if rows is None or windows is None:
        return None
    return WindowGain(rows, windows, sum(len(part) for each in asked.values() for part in each))


Samples = dict[int, list[Floats]]  # by class


def _halves(values: Floats, runs: Sequence[Run], window: int) -> tuple[Samples, Samples]:
    """Divide each class's runs alternately into learned and tested; a single run in halves."""
    learned: Samples = {}
    asked: Samples = {}
    times, seen = Counter(label for _, _, label in runs), Counter[int]()
    for begin, end, label in runs:
        middle = (begin + end) // 2
        if times[label] == 1:
            parts = [(learned, begin, middle), (asked, middle, end)]
        else:
            parts = [((learned, asked)[seen[label] % 2], begin, end)]
        seen[label] += 1
        for into, first, last in parts:
            into.setdefault(label, []).append(_features(values[first:last], window))
    return learned, asked


def _features(readings: Floats, window: int) -> Floats:
    """Return rows unchanged; for windows, each column's mean, deviation and mean step."""
    if window == 1:
        return readings
    count = len(readings) // window
    cut = readings[: count * window].reshape(count, window, readings.shape[1])
    steps = np.abs(np.diff(cut, axis=1)).mean(axis=1)
    return np.concatenate([cut.mean(axis=1), cut.std(axis=1), steps], axis=1)


def _score(known: Samples, others: Samples) -> float | None:
    learned, asked = ({label: np.concatenate(each) for label, each in half.items()}
                      for half in (known, others))  # fmt: skip
    able = [label for label, each in learned.items() if len(each) >= LEAST]
    able = [label for label in able if len(asked.get(label, ()))]
    if len(able) < 2:
        return None
    whole = np.concatenate([learned[label] for label in able])
    least = 1e-6 * whole.var(axis=0) + 1e-12
    means = [learned[label].mean(axis=0) for label in able]
    spreads = [learned[label].var(axis=0) + least for label in able]
    right = []
    for place, label in enumerate(able):
        each = asked[label]
        likely = [
            -(((each - mean) ** 2 / spread) + np.log(spread)).sum(axis=1)
            for mean, spread in zip(means, spreads, strict=True)
        ]
        right.append(float((np.argmax(likely, axis=0) == place).mean()))
    return sum(right) / len(right)

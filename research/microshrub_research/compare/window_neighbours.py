"""The nearest neighbours among the newest 1,000 samples: a strong baseline, of a PC's size.

Ten neighbours vote, as with MOA's lazy.kNN, and each feature is scaled by its range in the window.
The window stores raw samples: 1,000 samples of 10 features are 48 KB in single precision.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .contender import NO_ANSWER
from .label_budgets import UNKNOWN, GivenLabels

WINDOW = 1000
NEIGHBOURS = 10


class WindowNeighbours:
    """Predicts the most frequent label of the nearest; among equals, the class of lowest index."""

    def __init__(self, values: NDArray[np.float64], labels: GivenLabels, classes: int) -> None:
        self._values, self._labels, self._classes = values, labels, classes
        self._rows = np.empty((WINDOW, values.shape[1]))
        self._known = np.zeros(WINDOW, np.intp)
        self._seen = 0

    def prepare(self, part: slice) -> list[tuple[NDArray[np.float64], int]]:
        """Return (features, class) of every sample."""
        return list(zip(self._values[part], self._labels[part].tolist(), strict=True))

    def run(self, samples: list[tuple[NDArray[np.float64], int]]) -> list[int]:
        predicted = []
        for x, label in samples:
            predicted.append(self._predict(x))
            if label != UNKNOWN:
                self._rows[self._seen % WINDOW] = x
                self._known[self._seen % WINDOW] = label
                self._seen += 1
        return predicted

    def _predict(self, x: NDArray[np.float64]) -> int:
        held = min(self._seen, WINDOW)
        if not held:
            return NO_ANSWER
        rows = self._rows[:held]
        low, high = rows.min(axis=0), rows.max(axis=0)
        wide = np.where(high > low, high - low, 1.0)
        away = (((rows - x) / wide) ** 2).sum(axis=1)
        most = min(NEIGHBOURS, held)
        near = np.argpartition(away, most - 1)[:most]
        votes = np.bincount(self._known[near], minlength=self._classes)
        return int(votes.argmax())

    def nbytes(self) -> int:
        """Return the bytes of the window in single precision, with a byte for each label."""
        return WINDOW * (4 * self._rows.shape[1] + 1)

    def shape(self) -> None:
        """Return None: the learner is not a tree."""

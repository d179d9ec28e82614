"""How far predictions of numbers are off, and how intervals hold; in parts, as they come."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..streams.number_streams import Values
from ..streams.units import Raw


@dataclass(frozen=True)
class Errors:
    """How far predictions are from the targets, in the targets' unit."""

    mae: float  # mean absolute error
    rmse: float  # root of the mean squared error
    r2: float  # part of the targets' variance that is explained; below 0: worse than their mean


@dataclass(frozen=True)
class IntervalResult:
    """How the intervals around the predictions have held."""

    share: float  # percent of the targets that were to be inside
    inside: float  # percent that were
    mean_width: float  # in the targets' unit


class ErrorSums:
    """The sums of what Errors has the means of."""

    def __init__(self) -> None:
        self.count = 0
        self._away = self._squares = 0.0
        self._mean = self._spread = 0.0  # of the targets

    def add(self, predictions: Values, targets: Values) -> None:
        """Some more predictions, both of shape (samples,), none of them missing."""
        new = len(targets)
        if not new:
            return
        away = predictions - targets
        self._away += float(np.sum(np.abs(away)))
        self._squares += float(np.sum(away**2))
        mean = float(np.mean(targets))
        apart, whole = mean - self._mean, self.count + new
        # The spreads of two parts around their means, and that of the means around the whole's
        self._spread += float(np.sum((targets - mean) ** 2))
        self._spread += apart**2 * self.count * new / whole
        self._mean += apart * new / whole
        self.count = whole

    @property
    def mae(self) -> float:
        """The mean absolute error; NaN without a prediction."""
        return self._away / self.count if self.count else math.nan

    def errors(self) -> Errors:
        """Of all that were added."""
        rmse = math.sqrt(self._squares / self.count) if self.count else math.nan
        return Errors(self.mae, rmse, 1 - self._squares / self._spread if self._spread else 0.0)


def errors_of(predictions: Values, targets: Values) -> Errors:
    """The errors of predictions, both of shape (samples,)."""
    sums = ErrorSums()
    sums.add(predictions, targets)
    return sums.errors()


class IntervalSums:
    """How many raw targets are inside of intervals around raw predictions, and how wide these are.

    unit is what a raw integer stands for.
    """

    def __init__(self, unit: float) -> None:
        self._unit = unit
        self._count = self._inside = self._halves = 0

    def add(self, said: Raw, halves: Raw, targets: Raw) -> None:
        """Some more, all of shape (samples,), of targets that are known."""
        self._count += len(targets)
        self._inside += int(np.sum(np.abs(said.astype(np.int64) - targets) <= halves))
        self._halves += int(np.sum(halves, dtype=np.int64))

    def result(self, share: float) -> IntervalResult:
        """Of intervals that were to hold that share, in percent."""
        count = max(self._count, 1)
        return IntervalResult(
            share, 100 * self._inside / count, 2 * self._halves / count * self._unit
        )

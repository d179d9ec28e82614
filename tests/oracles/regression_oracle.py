"""Slow parts of regressors in floating point: splits, means and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 16


def squared_error(targets: NDArray[Any]) -> float:
    """Return the sum of the squared distances from the mean."""
    return float(np.sum((targets - targets.mean()) ** 2)) if len(targets) else 0.0


def borders(codes: NDArray[Any]) -> list[int]:
    """Return the candidate thresholds: the ends of at most 16 bins,
    whose width is a power of two.
    """
    low, high = int(codes.min()), int(codes.max())
    width = 0
    while (high - low) >> width >= BINS:
        width += 1
    ends = [low + (k << width) - 1 for k in range(1, ((high - low) >> width) + 1)]
    return [end for end in ends if low <= end < high]


def gain(codes: NDArray[Any], targets: NDArray[Any], threshold: int) -> float:
    """Return by how much a split lowers the squared error."""
    left = codes <= threshold
    parts = squared_error(targets[left]) + squared_error(targets[~left])
    return squared_error(targets) - parts


def best_gain(rows: NDArray[Any], targets: NDArray[Any]) -> float:
    """Return by how much the best split of all features lowers it; rows is (samples, features)."""
    gains = [
        gain(column, targets, threshold) for column in rows.T for threshold in borders(column)
    ]
    return max(gains, default=0.0)


class NormalisedLeastMeanSquares:
    """A linear model on features scaled by their running means and deviations."""

    def __init__(self, features: int, rate: float) -> None:
        self.rate = rate
        self.weights = np.zeros(features + 1)
        self.mean = np.zeros(features)
        self.deviation = np.zeros(features)
        self.centre = 32767.0
        self.seen = 0

    def learn(self, x: NDArray[Any], target: float) -> float:
        """Learn a sample; return the prediction before learning."""
        z = np.zeros(len(x) + 1)
        known = self.deviation >= 1
        z[:-1][known] = ((x - self.mean)[known] / self.deviation[known]).clip(-3, 3)
        z[-1] = 1
        predicted = self.centre + float(self.weights @ z)
        self.weights += self.rate * (target - predicted) * z / (z @ z)
        self.seen = min(self.seen + 1, 1024)
        if self.seen == 1:
            self.mean, self.centre = x.astype(float), float(target)
        away = x - self.mean
        self.mean = self.mean + away / self.seen
        self.deviation = self.deviation + (np.abs(away) - self.deviation) / self.seen
        self.centre += (target - self.centre) / self.seen
        return predicted


class ExponentiatedGradient:
    """Weights on the simplex that follow the gradient of the squared error."""

    def __init__(self, step: float, members: int) -> None:
        self.step = step
        self.weights = np.full(members, 1 / members)
        self.deviation = 0.0

    def mixed(self, predictions: NDArray[Any]) -> float:
        """Return the mixture of the members' predictions."""
        return float(self.weights @ predictions)

    def learn(self, predictions: NDArray[Any], target: float) -> None:
        """Take one step with the predictions of the members."""
        mixture = self.mixed(predictions)
        self.deviation += (abs(mixture - target) - self.deviation) / 64
        unit = self.deviation + 1
        error = np.clip((mixture - target) / unit, -4, 4)
        pull = error * np.clip((predictions - mixture) / unit, -4, 4)
        grown = self.weights * np.exp(-self.step * (pull - pull.min())) + 1 / (
            16 * len(predictions)
        )
        self.weights = grown / grown.sum()

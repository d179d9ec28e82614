"""Recordings with injected anomalies: spikes, a stuck sensor, two swapped features.

One sample in a hundred, of any class, is altered. Features with at most two values stay unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Marks = NDArray[np.bool_]

SHARE = 0.01  # share of altered samples
SPIKE = 4  # standard deviations
STUCK = 20  # samples in a row
SEED = 7


def spikes(values: Values, at: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Shift one feature by four standard deviations, up or down."""
    deviations = values.std(axis=0)
    features = _numbers(values)
    for row in at:
        feature = rng.choice(features)
        values[row, feature] += rng.choice([-1, 1]) * SPIKE * deviations[feature]


def stuck(values: Values, at: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Repeat the previous value of one feature."""
    features = _numbers(values)
    for rows in at.reshape(-1, STUCK):
        feature = rng.choice(features)
        values[rows, feature] = values[rows[0] - 1, feature]


def swapped(values: Values, at: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Swap the values of two features."""
    features = _numbers(values)
    for row in at:
        one, other = rng.choice(features, 2, replace=False)
        values[row, [one, other]] = values[row, [other, one]]


Injection = Callable[[Values, NDArray[np.int64], np.random.Generator], None]
INJECTIONS: Mapping[str, Injection] = {
    "spikes": spikes,
    "a stuck sensor": stuck,
    "swapped columns": swapped,
}


def injected(values: Values, name: str, seed: int = SEED) -> tuple[Values, Marks]:
    """Return a copy of the values, shape (samples, features), with anomalies,
    and which rows have one.
    """
    rng = np.random.default_rng(seed)
    altered = np.array(values, dtype=np.float64)
    total = len(altered)
    if name == "a stuck sensor":
        runs = rng.choice(total // STUCK - 1, max(1, round(SHARE * total / STUCK)), replace=False)
        at = ((runs + 1)[:, None] * STUCK + np.arange(STUCK)).ravel()
    else:
        at = rng.choice(total, max(1, round(SHARE * total)), replace=False)
    INJECTIONS[name](altered, at, rng)
    marks = np.zeros(total, dtype=np.bool_)
    marks[at] = True
    return altered, marks


def _numbers(values: Values) -> list[int]:
    """Return the features with more than two values."""
    return [f for f in range(values.shape[1]) if len(np.unique(values[:, f])) > 2]

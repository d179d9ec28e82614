"""The linear model of numbers, beside the same in floating point."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from regression_oracle import NormalisedLeastMeanSquares

from microshrub_host.engines import loader

LIBRARY = loader.load(loader.fastest())


@pytest.mark.parametrize("rate", [0.02, 0.25])
@pytest.mark.parametrize("spread", [20000, 60])
def test_it_is_the_normalised_least_mean_squares_rule(rate: float, spread: int) -> None:
    """Targets over the whole range of codes, and over a small part of it."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 65536, (3000, 4))
    noise = rng.normal(0, 0.1, 3000)
    shape = codes[:, 0] / 65536 - 0.7 * codes[:, 1] / 65536 + noise
    targets = np.clip(32000 + spread * shape, 0, 65535).astype(int)
    model = LIBRARY.LinearRegressor(4, rate=rate)
    oracle = NormalisedLeastMeanSquares(4, round(rate * 256) / 256)
    apart = []
    for x, y in zip(codes, targets, strict=True):
        said = model.learn(array("H", x.tolist()), int(y))
        apart.append(abs(said - oracle.learn(x, float(y))))
    assert np.mean(apart[100:]) < 0.02 * spread + 2


def test_it_finds_a_linear_function() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 65536, (5000, 3))
    targets = (codes[:, 0] // 2 + codes[:, 2] // 3 + 5000).astype(int)
    said = array("H", bytes(10000))
    model = LIBRARY.LinearRegressor(3)
    model.run(array("H", codes.ravel().tolist()), array("H", targets.tolist()), said)
    away = np.abs(np.array(said).astype(int) - targets)
    assert away[2000:].mean() < 0.02 * np.abs(targets - targets.mean()).mean()


def test_predictions_are_within_the_targets_seen() -> None:
    rng = np.random.default_rng(7)
    model = LIBRARY.LinearRegressor(2, rate=0.25)
    targets = rng.integers(30000, 30100, 400)
    codes = rng.choice([0, 65535], (400, 2))
    for x, y, low, high in zip(
        codes[1:],
        targets[1:],
        np.minimum.accumulate(targets),
        np.maximum.accumulate(targets),
        strict=False,
    ):
        if model.buffers()[0][2][3] == 0:
            model.learn(array("H", codes[0].tolist()), int(targets[0]))
        assert low <= model.learn(array("H", x.tolist()), int(y)) <= high

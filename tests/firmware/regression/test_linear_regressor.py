"""The linear regressor, compared with the same model in floating point."""

from __future__ import annotations

import sys
from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples
from regression_oracle import NormalisedLeastMeanSquares

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())
CHECKED = loader.load("checked")
KERNELS = sys.modules[f"{CHECKED.__name__}.regression.linear"]
TWO_HEADS = sys.modules[f"{CHECKED.__name__}.regression.thicket"].TwoLinear


@pytest.mark.parametrize("rate", [0.02, 0.25])
@pytest.mark.parametrize("spread", [20000, 60])
def test_it_is_the_normalised_least_mean_squares_rule(rate: float, spread: int) -> None:
    """This holds for targets over the whole range of codes, and over a small part of it."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 65536, (3000, 4))
    noise = rng.normal(0, 0.1, 3000)
    shape = codes[:, 0] / 65536 - 0.7 * codes[:, 1] / 65536 + noise
    targets = np.clip(32000 + spread * shape, 0, 65535).astype(int)
    model = LIBRARY.LinearRegressor(4, rate=rate)
    oracle = NormalisedLeastMeanSquares(4, round(rate * 256) / 256)
    apart = []
    for x, y in zip(codes, targets, strict=True):
        predicted = model.learn(array("H", x.tolist()), int(y))
        apart.append(abs(predicted - oracle.learn(x, float(y))))
    assert np.mean(apart[100:]) < 0.02 * spread + 2


def test_it_learns_a_linear_function() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 65536, (5000, 3))
    targets = (codes[:, 0] // 2 + codes[:, 2] // 3 + 5000).astype(int)
    values = array("H", bytes(10000))
    model = LIBRARY.LinearRegressor(3)
    model.run(array("H", codes.ravel().tolist()), array("H", targets.tolist()), values)
    away = np.abs(np.array(values).astype(int) - targets)
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


@settings(max_examples=examples(60))
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from((3, 40, 900, 20000, 65535)),
    st.sampled_from((0.02, 0.25)),
    st.sampled_from((0, 1)),
)
def test_small_steps_are_as_exact_as_large_ones_which_do_not_overflow(
    seed: int, away: int, rate: float, head: int
) -> None:
    """One step is rate * error * z / sum(z**2), for any sample and any error."""
    model = TWO_HEADS(3, rate=rate)
    buffers = {name: buffer for name, _, buffer in model.buffers()}
    rng = np.random.default_rng(seed)
    scaled = [*rng.integers(-12288, 12289, 3).tolist(), 4096]
    for f, value in enumerate(scaled):
        buffers["linear.scaled"][f] = value
    error = away if rng.random() < 0.5 else -away
    buffers["linear.predictions"][head] = 32767 - error // 2
    KERNELS.step(model._addresses, head, 32767 - error // 2 + error)
    z = np.array(scaled) / 4096
    expected = round(rate * 256) / 256 * error * z / (z @ z)
    weights = np.array(buffers["linear.weight"]).reshape(2, 4)[head] / 256
    assert np.abs(weights - expected).max() <= 5 / 256 + 0.05 * np.abs(expected).max()

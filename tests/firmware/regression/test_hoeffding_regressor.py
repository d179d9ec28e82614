"""The Hoeffding tree for regression, compared with one in floating point, and its node pool."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from float_regression_tree import FloatRegressionTree
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples
from regression_support import held, learn

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())


def drawn(seed: int, samples: int, spread: int = 20000) -> tuple[Any, Any]:
    """Draw codes of three features with different ranges, and targets that depend on two."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 65536, (samples, 3))
    codes[:, 1] = 30000 + codes[:, 1] // 200
    steps = spread * (codes[:, 0] > 20000) + spread * (codes[:, 1] - 30000) // 400
    noise = rng.integers(-spread // 20, spread // 20 + 1, samples)
    return codes, 5000 + steps + noise


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("spread", [20000, 300])
@pytest.mark.parametrize("parameters", [{}, {"tie_threshold": 0.1, "bins": 16, "memory": 100}])
def test_it_matches_the_tree_in_floating_point(
    seed: int, spread: int, parameters: dict[str, Any]
) -> None:
    """With room for all nodes, splits come after the same samples, and the means are the same."""
    codes, targets = drawn(seed, 1500, spread)
    targets[1000:] = targets[1000:][::-1]  # no feature predicts this part
    model = LIBRARY.HoeffdingRegressor(3, nodes=399, leaves=200, depth=30, **parameters)
    tie = model.tie_threshold / 1024
    oracle = FloatRegressionTree(model.grace_period, 0.05, tie, model.bins, model.memory)
    predicted = learn(model, codes, targets)
    expected = np.array([oracle.learn(x, int(y)) for x, y in zip(codes, targets, strict=True)])
    assert model.nodes_used == len(list(oracle.nodes())) > 9
    assert np.abs(predicted - expected).max() <= 2


def test_a_split_that_makes_predictions_worse_is_undone() -> None:
    """On a ramp that no feature predicts, the mean of all targets beats the mean of half."""
    model = LIBRARY.HoeffdingRegressor(1, depth=1, grace_period=300)
    codes = np.arange(300).reshape(-1, 1) % 2 * 60000
    learn(model, codes, codes[:, 0] // 2 + 9000)
    assert model.nodes_used == 3
    predicted = learn(model, codes[:100], codes[:100, 0] // 2 + 9000)
    assert (predicted == codes[:100, 0] // 2 + 9000).all()
    used = []
    for start in range(0, 13000, 100):
        learn(model, codes[:100], np.arange(start, start + 100) * 5)
        used.append(model.nodes_used)
    assert 1 in used


@pytest.mark.parametrize("sizes", [{"leaves": 1, "nodes": 15}, {"nodes": 15}, {"depth": 0}])
def test_a_small_pool_grows_where_the_errors_are(sizes: dict[str, int]) -> None:
    """The tree stays within its nodes, and follows a drift although all nodes are in use."""
    codes, targets = drawn(5, 6000)
    targets[3000:] = 65535 - targets[3000:]
    model = LIBRARY.HoeffdingRegressor(3, **sizes)
    away = np.abs(learn(model, codes, targets) - targets)
    assert model.nodes_used <= model.nodes
    if "depth" in sizes:
        assert model.nodes_used == 1
    else:
        assert away[2000:3000].mean() < 4000  # the mean alone: 9000
        assert away[5000:].mean() < 4000


def test_bins_adapt_to_the_codes() -> None:
    """Close codes, in any order and far from 0, are still separated by the borders."""
    model = LIBRARY.HoeffdingRegressor(1, bins=8)
    for codes in (np.tile([40007, 40000, 40003, 40004], 200), np.tile([65535, 0, 9, 30], 200)):
        model.reset()
        targets = np.where(codes > np.sort(codes)[len(codes) // 2 - 1], 50000, 100)
        assert (learn(model, codes, targets)[400:] == targets[400:]).mean() > 0.7


@settings(max_examples=examples(25))
@given(st.integers(0, 2**32 - 1), st.integers(0, 65535), st.integers(0, 65535))
def test_predictions_are_within_the_targets_seen(seed: int, low: int, high: int) -> None:
    rng = np.random.default_rng(seed)
    low, high = sorted((low, high))
    model = LIBRARY.HoeffdingRegressor(2, leaves=4, nodes=15, grace_period=10, memory=3)
    codes = rng.integers(0, 65536, (2300, 2))
    targets = rng.integers(low, high + 1, 2300)
    predicted = learn(model, codes, targets)
    assert predicted[0] == 32767
    assert (predicted[1:] >= np.minimum.accumulate(targets)[:-1]).all()
    assert (predicted[1:] <= np.maximum.accumulate(targets)[:-1]).all()


def test_counts_are_halved_before_they_overflow() -> None:
    """A leaf that never splits, with the largest targets, keeps the means of its bins."""
    model = LIBRARY.HoeffdingRegressor(1, leaves=1, depth=0, bins=2)
    learn(model, np.tile([0, 60000], 20000), np.tile([65535, 1], 20000))
    b = held(model)
    assert 8192 <= b["slot.held"][0] < 16385
    assert (b["slot.sum"] == b["slot.count"] * [65535, 1]).all()
    assert (np.abs(b["slot.count"] - b["slot.held"][0] / 2) <= 2).all()
    model.load(model.save())


def test_a_grown_tree_can_be_saved_at_any_time() -> None:
    model = LIBRARY.HoeffdingRegressor(3, leaves=3, nodes=11, grace_period=7)
    codes, targets = drawn(9, 3000)
    for k in range(0, 3000, 50):
        learn(model, codes[k : k + 50], targets[k : k + 50] >> k // 500 % 3)
        model.load(model.save())

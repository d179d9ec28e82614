"""Shrubs for regression, compared with their definition in floating point."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples
from regression_oracle import ExponentiatedGradient, best_gain, gain
from regression_support import held, learn

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())


def drawn(seed: int, samples: int, features: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 65536, (samples, features))
    noise = rng.integers(-3000, 3000, samples)
    targets = np.clip(codes[:, 0] // 2 + (codes[:, -1] > 40000) * 20000 + noise, 0, 65535)
    return codes, targets


def leaf_of(model: Any, b: dict[str, Any], slot: int, codes: Any) -> int:
    inner, node = model.leaves - 1, 0
    while node < inner:
        k = slot * inner + node
        right = int(codes[b["grove.feature"][k]] > b["grove.threshold"][k])
        node = b["grove.kids"][2 * k + right]
    return int(node - inner)


@settings(max_examples=examples(20))
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 40), st.integers(9, 300))
def test_leaves_hold_means_and_each_split_is_the_best(
    seed: int, features: int, leaves: int, samples: int
) -> None:
    """With all features tried, no border between bins lowers the squared error much more."""
    model = LIBRARY.ShrubRegressor(
        features, window=120, trees=2, leaves=leaves, every=30, max_features=features
    )
    learn(model, *drawn(seed, samples, features))
    b = held(model)
    slot, growing, _, _, used = b["sprout.state"][:5]
    if not growing:
        return
    ring = b["ring.codes"].reshape(-1, features)
    targets = b["ring.labels"] * 256 + b["grove.lower"]
    lines = [b["sprout.line"][b["sprout.begin"][k] : b["sprout.end"][k]] for k in range(used + 1)]
    for leaf, line in enumerate(lines):
        assert {leaf_of(model, b, slot, ring[place]) for place in line} == {leaf}
        mean = b["grove.means"][slot * leaves + leaf]
        assert mean == pytest.approx(targets[line].mean(), abs=0.51)
        apart = np.abs(targets[line] - mean).sum()
        assert b["sprout.impurity"][leaf] in (apart, 0)  # 0: no split separates it
    for node in range(used):
        k = slot * (leaves - 1) + node
        below = np.concatenate([line for line in lines if passes(b, k, node, leaves, line, ring)])
        merit = gain(ring[below, b["grove.feature"][k]], targets[below], b["grove.threshold"][k])
        assert merit >= 0.99 * best_gain(ring[below], targets[below]) - 1


def passes(b: Any, k: int, node: int, leaves: int, line: Any, ring: Any) -> bool:
    """Whether the path of a leaf's samples passes a node."""
    first = k - node
    at = 0
    while at < leaves - 1:
        if at == node:
            return True
        right = ring[line[0], b["grove.feature"][first + at]] > b["grove.threshold"][first + at]
        at = b["grove.kids"][2 * (first + at) + int(right)]
    return False


def test_weights_follow_the_gradient_of_the_squared_error() -> None:
    """Steps in floating point from the same weights give the same result while no shrub joins."""
    model = LIBRARY.ShrubRegressor(3, window=400, trees=6, leaves=12, every=50, step=0.25)
    codes, targets = drawn(4, 4000, 3)
    learn(model, codes[:2977], targets[:2977])
    b = held(model)
    growing = b["sprout.state"][0]
    voting = [s for s in range(b["grove.state"][1] + 1) if s != growing]
    oracle = ExponentiatedGradient(0.25, len(voting))
    oracle.weights = b["grove.weight"][voting] / b["grove.weight"][voting].sum()
    oracle.deviation = b["shrubs.state"][2] / 64
    steps = 49 - b["grove.state"][5]
    assert steps > 9
    for x, y in zip(codes[2977 : 2977 + steps], targets[2977:], strict=False):
        b = held(model)
        leaves = [leaf_of(model, b, s, x >> 8) for s in voting]
        means = b["grove.means"].reshape(-1, 12)[voting, leaves]
        predicted = model.learn(array("H", x.tolist()), int(y))
        assert predicted == pytest.approx(oracle.mixed(means), abs=0.01 * np.ptp(means) + 2)
        oracle.learn(means, float(y))
    weights = held(model)["grove.weight"][voting] / 65536
    assert weights == pytest.approx(oracle.weights, abs=0.02)


@settings(max_examples=examples(25))
@given(st.integers(0, 2**32 - 1), st.integers(0, 65535), st.integers(0, 65535))
def test_predictions_are_within_the_targets_seen(seed: int, low: int, high: int) -> None:
    rng = np.random.default_rng(seed)
    low, high = sorted((low, high))
    model = LIBRARY.ShrubRegressor(2, window=50, trees=5, leaves=9, every=7, step=1.0)
    codes = rng.integers(0, 65536, (300, 2))
    targets = rng.integers(low, high + 1, 300)
    predicted = learn(model, codes, targets)
    assert predicted[0] == 32767
    assert (predicted[1:] >= np.minimum.accumulate(targets)[:-1]).all()
    assert (predicted[1:] <= np.maximum.accumulate(targets)[:-1]).all()


def test_it_learns_a_step_function_and_follows_a_drift() -> None:
    model = LIBRARY.ShrubRegressor(2, window=200, trees=8, leaves=32, every=16)
    codes, targets = drawn(1, 6000, 2)
    targets[3000:] = 65535 - targets[3000:]
    away = np.abs(learn(model, codes, targets) - targets)
    assert away[1000:3000].mean() < 2500  # the noise alone: 1500
    assert away[3000:3100].mean() > 6000
    assert away[4000:].mean() < 2500


def test_a_target_that_is_no_code_is_refused() -> None:
    model = LIBRARY.ShrubRegressor(1)
    for target in (-1, 65536, 1.0, True, None):
        with pytest.raises(ValueError, match=r"target .* 0\.\.65535"):
            model.learn(array("H", [1]), target)
    with pytest.raises(ValueError, match="targets has to be array"):
        model.run(array("H", [1]), bytearray(1), array("H", [0]))


@pytest.mark.parametrize("window", [8, 100])
def test_a_shrub_grows_on_the_newest_samples_of_a_longer_ring(window: int) -> None:
    """The ring wraps around, and a shrub is planted right after its head has done so."""
    model = LIBRARY.ShrubRegressor(features=2, window=window, every=255, trees=3, leaves=8)
    length = window + 255
    codes, targets = drawn(1, 1500, 2)
    planted = 0
    for i in range(1500):
        learn(model, codes[i : i + 1], targets[i : i + 1])
        b = held(model)
        head = b["ring.shape"][4]
        if b["grove.state"][5] == 0 and i >= length and head < window:
            planted += 1
            expected = {(head - 1 - k) % length for k in range(window)}
            assert set(b["sprout.line"][:window].tolist()) == expected
    assert planted


@pytest.mark.parametrize("trees", [1, 4, 24])
@pytest.mark.parametrize("still", [100, 700])
def test_it_learns_after_a_constant_signal(still: int, trees: int) -> None:
    """After the constant signal, all shrubs have equal form and weight, and must be replaced."""
    codes, targets = drawn(1, 2000, 2)
    targets = codes[:, 0] // 2
    codes[:still], targets[:still] = 100, 1000
    model = LIBRARY.ShrubRegressor(2, window=128, trees=trees)
    error = learn(model, codes, targets)[1500:] - targets[1500:]
    assert np.mean(np.abs(error)) < 2000  # the mean of all targets is 8,000 away

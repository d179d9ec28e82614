"""Ensembles of one to three shrubs: with small steps, the first shrubs stay for ever."""

from __future__ import annotations

import numpy as np
import pytest

from microshrub_host.evaluation.prequential import evaluate
from microshrub_host.evaluation.search_spaces.shrub import least_step
from microshrub_host.streams.stream import Stream


def two_gaussians(seed: int) -> Stream:
    """Return 1,000 samples of one feature, whose best threshold has an accuracy of 91 %."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 2, 1000)
    values = np.round(draw.normal(size=1000) + 2.7 * labels, 3)[:, None]
    return Stream("gaussians", values, labels.astype(np.uint8), ("x",), ("low", "high"))


def worst(trees: int, step: float) -> float:
    """Return the least accuracy on 16 streams, in percent."""
    shape = {"features": 1, "classes": 2, "window": 8, "trees": trees, "depth": 2, "step": step}
    return min(evaluate(two_gaussians(seed), "shrub", shape).accuracy for seed in range(16))


@pytest.mark.parametrize("trees", [1, 2, 3])
def test_with_the_least_step_of_tune_no_ensemble_is_stuck(trees: int) -> None:
    assert worst(trees, max(least_step(trees), 1 / 64)) > 80


@pytest.mark.parametrize("trees", [1, 2])
def test_with_a_smaller_step_some_are_stuck(trees: int) -> None:
    assert worst(trees, least_step(trees) / 4) < 70

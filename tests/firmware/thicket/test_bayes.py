"""GaussianNaiveBayes compared with the same model in floating point."""

from __future__ import annotations

import sys
from array import array
from typing import Any

import numpy as np
import pytest

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())


class Slow:
    """The formulas of bayes.py, in floating point."""

    def __init__(self, features: int, classes: int) -> None:
        self.seen = np.zeros(classes)
        self.mean = np.zeros((classes, features))
        self.variance = np.zeros((classes, features))
        self.pooled = np.full(features, 1024 * 65536.0)
        self.pool = 0

    def predict(self, x: Any) -> Any:
        n = self.seen[:, None]
        v = (n * self.variance + 2 * self.pooled) / (n + 2) + 65536
        z = np.minimum((x - self.mean) ** 2 / v, 40)
        score = (-z / 2 - np.log(v) / 2).sum(axis=1)
        p = np.where(self.seen > 0, np.exp(score - score[self.seen > 0].max()), 0)
        return p / p.sum()

    def learn(self, x: Any, y: int) -> None:
        self.seen[y] = n = min(self.seen[y] + 1, 512)
        if n == 1:
            self.mean[y] = x
            return
        self.pool = min(self.pool + 1, 1024)
        away = x - self.mean[y]
        self.mean[y] += away / n
        self.variance[y] += (away**2 - self.variance[y]) / n
        self.pooled += (away**2 - self.pooled) / self.pool


@pytest.mark.parametrize(("features", "classes"), [(1, 2), (3, 3), (6, 5)])
def test_shares_match_floating_point(features: int, classes: int) -> None:
    rng = np.random.default_rng(features)
    centres = rng.integers(15000, 50000, (classes, features))
    spread = rng.integers(3000, 9000, (classes, features))
    model, slow = LIBRARY.GaussianNaiveBayes(features, classes), Slow(features, classes)
    apart = []
    for k in range(1500):
        y = int(rng.integers(classes)) if k >= classes else k
        x = rng.normal(centres[y], spread[y]).clip(0, 65535).astype(int)
        row = array("H", x.tolist())
        if k:
            model.predict(row)
            shares = np.array(model.votes) / (65536 * 255)
            apart.append(np.abs(shares - slow.predict(x)).max())
        model.learn(row, y)
        slow.learn(x, y)
    assert np.mean(apart[:100]) < 0.02  # with few samples in a variance, rounding matters
    assert np.mean(apart[100:]) < 0.0015


def test_it_abstains_before_the_first_label_and_then_predicts_that_class() -> None:
    model = LIBRARY.GaussianNaiveBayes(2, 3)
    row = array("H", [5, 60000])
    assert model.predict(row) == 0
    assert list(model.votes) == [0, 0, 0]
    model.learn(row, 2)
    assert model.predict(array("H", [60000, 5])) == 2
    assert sum(model.votes) == pytest.approx(65536 * 255, rel=0.01)


def test_its_logarithm_matches_the_library_functions() -> None:
    fixed, kernels = (
        sys.modules[f"{LIBRARY.__name__}.{name}"] for name in ("fixed", "thicket.bayes")
    )
    model = LIBRARY.GaussianNaiveBayes(1, 2)
    row = array("H", [12345])
    model.learn(row, 0)
    buffers = {name: values for name, _, values in model.buffers()}
    buffers["bayes.seen"][0] = 1
    for v in [*(2**k + d for k in range(1, 17) for d in (-1, 0, 1)), *range(1, 65537, 997)]:
        if 1 <= v <= 65536:  # all pooled, and equal to the class's own
            buffers["bayes.variance"][0] = v - 1
            buffers["bayes.pooled"][0] = (v - 1) << 6
            computed = kernels.distance(0, 0, 0, model._addresses, row, 0, 0)
            assert computed == fixed.log2(v) >> 7, v

"""SoftmaxRegression compared with the same regression in floating point."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())


class Slow:
    """The formulas of softmax.py, in floating point."""

    def __init__(self, features: int, classes: int, rate: float) -> None:
        self.weight = np.zeros((classes, features + 1))
        self.mean = np.zeros(features)
        self.deviation = np.zeros(features)
        self.rate, self.seen = rate, 0

    def predict(self, x: Any) -> Any:
        known = self.deviation >= 1
        z = np.where(known, (x - self.mean) / np.maximum(self.deviation, 1), 0)
        self.z = np.append(np.clip(z, -3, 3), 1)
        score = self.weight @ self.z
        p = np.exp(score - score.max())
        return p / p.sum()

    def learn(self, x: Any, label: int) -> None:
        excess = self.predict(x) - (np.arange(len(self.weight)) == label)
        self.weight = np.clip(self.weight - self.rate * np.outer(excess, self.z), -16, 16)
        self.seen = min(self.seen + 1, 1024)
        if self.seen == 1:
            self.mean = x.astype(float)
        away = x - self.mean
        self.mean = self.mean + away / self.seen
        self.deviation = self.deviation + (np.abs(away) - self.deviation) / self.seen


@pytest.mark.parametrize(("features", "classes", "rate"), [(1, 2, 5), (6, 3, 5), (20, 5, 2)])
def test_shares_match_floating_point(features: int, classes: int, rate: int) -> None:
    rng = np.random.default_rng(features)
    codes = np.clip(rng.normal(30000, 6000, (2000, features)), 0, 65535).astype(int)
    labels = (codes[:, 0] - 20000) // (20000 // classes)
    labels = np.clip(np.where(rng.random(2000) < 0.1, 0, labels), 0, classes - 1)
    model = LIBRARY.SoftmaxRegression(features, classes, rate=rate / 256)
    slow = Slow(features, classes, rate / 256)
    for x, y in zip(codes, labels, strict=True):
        row = array("H", x.tolist())
        model.predict(row)
        shares = np.array(model.votes) / (65536 * 255)
        assert shares == pytest.approx(slow.predict(x), abs=0.03)
        assert shares.sum() == pytest.approx(1, abs=0.002)
        model.learn(row, int(y))
        slow.learn(x, int(y))


def test_a_constant_feature_has_no_effect() -> None:
    model = LIBRARY.SoftmaxRegression(2, 2)
    for i in range(200):
        model.learn(array("H", [30000 + 9000 * (i % 2), 7]), i % 2)
    assert model.predict(array("H", [30000, 7])) == 0
    assert model.predict(array("H", [39000, 7])) == 1
    weight = next(buffer for name, _, buffer in model.buffers() if name == "softmax.weight")
    assert weight[1] == weight[4] == 0


@pytest.mark.parametrize("rate", [0, 0.26, "1", True, None])
def test_a_rate_out_of_range_is_refused(rate: Any) -> None:
    with pytest.raises(ValueError, match=r"^rate .* 1/256\.\.1/4"):
        LIBRARY.SoftmaxRegression(2, 2, rate=rate)


@pytest.mark.parametrize("classes", [2, 4])
def test_steps_are_rounded_to_the_nearest(classes: int) -> None:
    """Gains of one class's weights equal losses of others; rounded down, all would fall."""
    rng = np.random.default_rng(4)
    model = LIBRARY.SoftmaxRegression(3, classes)
    samples = 3000
    for _ in range(samples):
        row = array("H", rng.normal(30000, 6000, 3).clip(0, 65535).astype(int).tolist())
        model.learn(row, int(rng.integers(classes)))
    weight = next(buffer for name, _, buffer in model.buffers() if name == "softmax.weight")
    sums = np.array(weight).reshape(classes, 4).sum(axis=0)
    assert np.abs(sums).max() < 0.15 * samples  # rounded down: half of `samples`, per class

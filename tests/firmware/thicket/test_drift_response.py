"""A thicket's stored samples after an abrupt change of the concept."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from pool_support import held

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())
CLASSES = 6
HELD = 3  # in ring.shape


def after_each(changed: int, seed: int) -> list[int]:
    """Return how many samples a thicket holds after each of 200 mixed labels, where the first
    `changed` classes have swapped places after 400 samples.
    """
    chance = np.random.default_rng(seed)
    where = chance.integers(0, CLASSES, 600)
    codes = where[:, None] * 10_000 + chance.normal(5000, 800, (600, 2))
    labels = np.where(where < changed, (where + 1) % max(changed, 1), where)
    labels[:400] = where[:400]
    model = LIBRARY.Thicket(2, CLASSES, bytes=16384)
    counts = []
    for row, label in zip(codes.clip(0, 65535).astype(int).tolist(), labels.tolist(), strict=True):
        model.predict(array("H", row))
        model.learn(array("H", row), label)
        counts.append(int(held(model)["ring.shape"][HELD]))
    return counts[400:]


@pytest.mark.parametrize("seed", range(3))
def test_with_a_third_of_the_samples_wrong_all_but_the_newest_are_dropped(seed: int) -> None:
    counts = after_each(2, seed)
    assert counts[0] > 350
    assert min(counts) <= 64


@pytest.mark.parametrize("seed", range(3))
def test_without_a_drift_no_sample_is_dropped(seed: int) -> None:
    assert min(after_each(0, seed)) > 350

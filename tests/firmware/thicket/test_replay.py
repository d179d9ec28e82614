"""A thicket's replay of its stored samples while labels come in runs."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from pool_support import held

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())
SOFTMAX = 2  # the member's place
FEATURES = 30


def rows_of(codes: Any) -> list[array[int]]:
    return [array("H", row) for row in codes.clip(0, 65535).astype(int).tolist()]


def taught(labels: Any, codes: Any, size: int) -> Any:
    model = LIBRARY.Thicket(codes.shape[1], 3, bytes=size)
    for row, label in zip(rows_of(codes), labels.tolist(), strict=True):
        model.learn(row, label)
    return model


def linear(seed: int, labels: Any) -> Any:
    """Draw codes of three classes that differ a little in every feature."""
    middle = np.random.default_rng(7).normal(30000, 1200, (3, FEATURES))
    return middle[labels] + np.random.default_rng(seed).normal(0, 5000, (len(labels), FEATURES))


@pytest.mark.parametrize("size", [16384, 65536, 100_000])
def test_after_a_long_run_of_each_class_the_softmax_regression_knows_all(size: int) -> None:
    """Without replay, it would predict at most a sixth of the first class right."""
    labels = np.repeat([2, 0, 1], 300)
    model = taught(labels, linear(1, labels), size)
    asked = np.random.default_rng(2).integers(0, 3, 300)
    known = []
    for row in rows_of(linear(3, asked)):
        model.predict(row)
        known.append(held(model)["thicket.predictions"][SOFTMAX])
    right = np.array(known) == asked
    assert min(right[asked == each].mean() for each in range(3)) > 0.35


def test_the_softmax_regression_is_not_judged_by_memorized_samples() -> None:
    """Features are uninformative here, but there are enough to memorize each sample."""
    labels = np.repeat(np.arange(100) % 3, 20)
    accuracy = []
    for seed in range(4):
        codes = np.random.default_rng(seed).normal(30000, 5000, (len(labels), 100))
        accuracy.append(held(taught(labels, codes, 16384))["thicket.alone"][SOFTMAX] / 2**20)
    assert np.mean(accuracy) < 0.55  # a third is chance


def test_without_a_memory_of_its_own_it_abstains_in_runs() -> None:
    """Within 2 KB nothing is replayed, so it would follow the run."""
    labels = np.repeat([2, 0, 1], 30)
    codes = linear(1, labels)[:, :4]
    model = taught(labels, codes, 2048)
    model.predict(rows_of(codes)[0])
    assert held(model)["thicket.predictions"][SOFTMAX] == -1


@pytest.mark.parametrize(("size", "lessons"), [(16384, 8), (65536, 4)])
def test_with_time_left_stored_samples_are_learned_with_steps_twice_as_long(
    size: int, lessons: int
) -> None:
    """All samples are equal, so only the constant terms learn: `lessons` steps for a label.

    With room for more than 640 samples, there are four lessons.
    """
    rate = 2 * 5 / 256
    codes = np.full((40, FEATURES), 30000)
    codes[:, 0] += 256  # so that it is not in the quarter that is held out
    model = taught(np.repeat(1, 40), codes, size)
    weight = held(model)["softmax.weight"]
    for _ in range(3):
        before = constant_terms(weight)
        expected = np.array(before)
        for _ in range(lessons):
            share = np.exp(expected) / np.exp(expected).sum()
            expected += rate * ((np.arange(3) == 1) - share)
        model.idle()
        moved = np.array(constant_terms(weight)) - before
        assert moved == pytest.approx(expected - before, rel=0.03)


def constant_terms(weight: Any) -> Any:
    """Return the constant term of each class."""
    return np.array(weight).reshape(3, FEATURES + 1)[:, FEATURES] / 65536


def test_with_mixed_classes_each_label_is_learned_once() -> None:
    labels = np.random.default_rng(5).integers(0, 3, 300)
    model = taught(labels, linear(6, labels), 16384)
    before = list(held(model)["softmax.weight"])
    while model.idle():
        pass
    assert list(held(model)["softmax.weight"]) == before

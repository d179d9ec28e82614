"""The members' shares of the votes, and their accuracies, compared with floats."""

from __future__ import annotations

import sys
from array import array

import numpy as np
import pytest
from pool_support import buffer_of

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())
RUNS = sys.modules[f"{LIBRARY.__name__}.thicket.sample_store"]
IN_RUNS, MIXED = 60, 40  # a share is proportional to exp(60 * (accuracy - the best one's))


@pytest.mark.parametrize("run", [25, 1])
def test_shares_and_accuracies_match_the_formulas(run: int) -> None:
    """Where classes are mixed, the grove, the first member, counts twice."""
    model = LIBRARY.Thicket(2, 2, bytes=8192)
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 900).repeat(run)[:900]
    codes = rng.normal(30000 + 9000 * labels[:, None], 7000, (900, 2)).clip(0, 65535).astype(int)
    accuracy = np.array(buffer_of(model, "thicket.accuracy")) / 2**20
    apart, seen = 0.0, set()
    for codes_of_one, label in zip(codes.tolist(), labels.tolist(), strict=True):
        row = array("H", codes_of_one)
        model.predict_next(row)
        predicted = np.array(buffer_of(model, "thicket.predictions"))[: len(accuracy)]
        share = np.array(buffer_of(model, "thicket.share"))[: len(accuracy)] / 4096
        knows = predicted >= 0
        if knows.any():
            runs = RUNS.in_runs(model.grove._addresses)
            ahead = (IN_RUNS if runs else MIXED) * (accuracy - accuracy[knows].max())
            weight = np.where(knows, np.exp(ahead), 0)
            weight[0] *= 1 if runs else 2
            seen.add(runs)
            assert share == pytest.approx(weight / weight.sum(), abs=0.01)
            apart = max(apart, share.max() - np.sort(share)[-2])
        model.learn(row, label)
        accuracy += ((predicted == label) - accuracy) / 256
        accuracy_now = np.array(buffer_of(model, "thicket.accuracy")) / 2**20
        assert accuracy_now == pytest.approx(accuracy, abs=0.002)
        accuracy = accuracy_now
    assert apart > 0.5  # the shares did differ
    assert int(run > 1) in seen


@pytest.mark.parametrize("class_name", ["Thicket", "BalancedThicket"])
@pytest.mark.parametrize("size", [8192, 100_000])
def test_mixed_labels_have_the_same_vote_with_and_without_a_teacher(
    class_name: str, size: int
) -> None:
    """The last label, which is rarely right there, is left out; the order has no effect."""
    model = getattr(LIBRARY, class_name)(3, 3, bytes=size)
    rng = np.random.default_rng(3)
    labels = rng.choice(3, 900, p=[0.6, 0.3, 0.1])
    codes = rng.normal(20000 + 9000 * labels[:, None], 7000, (900, 3)).clip(0, 65535).astype(int)
    rows = [array("H", row) for row in codes.tolist()]
    for row, label in zip(rows[:700], labels.tolist(), strict=False):
        model.learn(row, label)
    alone = [model.predict(row) for row in rows[700:]]
    assert alone == [model.predict_next(row) for row in rows[700:]]
    assert alone[::-1] == [model.predict(row) for row in rows[:699:-1]]


@pytest.mark.parametrize("shares", [(0.9, 0.1), (0.7, 0.3), (0.5, 0.3, 0.2)])
@pytest.mark.parametrize("features", ["noise", "constant"])
def test_with_uninformative_features_the_most_frequent_class_is_predicted(
    shares: tuple[float, ...], features: str
) -> None:
    model = LIBRARY.Thicket(2, len(shares), bytes=16384)
    rng = np.random.default_rng(1)
    labels = rng.choice(len(shares), 1500, p=shares)
    codes = rng.integers(0, 65536, (1500, 2)) if features == "noise" else np.full((1500, 2), 9000)
    rows = [array("H", row) for row in codes.tolist()]
    for row, label in zip(rows[:1000], labels.tolist(), strict=False):
        model.learn(row, label)
    right = np.mean([model.predict(row) for row in rows[1000:]] == labels[1000:])
    assert right > np.mean(labels[1000:] == 0) - 0.03


def test_votes_are_the_members_predictions_by_share() -> None:
    model = LIBRARY.Thicket(2, 3, bytes=8192)
    rng = np.random.default_rng(2)
    for k in range(200):
        label = k // 20 % 3
        row = array("H", rng.normal(15000 + 15000 * label, 3000, 2).clip(0, 65535).astype(int))
        model.learn(row, label)
    model.predict_next(row)
    assert sum(model.votes) == pytest.approx(65536 * 255, rel=0.01)
    assert model.votes[label] == max(model.votes)

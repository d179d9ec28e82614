"""The members' shares of the votes, and their accuracies, beside the same in floats."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())
SHARPNESS = 60  # a share is proportional to exp(60 * (accuracy - the best one's))


def held(model: Any, name: str) -> Any:
    return np.array(next(buffer for each, _, buffer in model.buffers() if each == name))


def test_shares_and_accuracies_are_those_of_the_formulas() -> None:
    model = LIBRARY.Thicket(2, 2, bytes=8192)
    rng = np.random.default_rng(5)
    labels = (np.arange(900) // 25) % 2
    codes = rng.normal(30000 + 9000 * labels[:, None], 7000, (900, 2)).clip(0, 65535).astype(int)
    accuracy = held(model, "thicket.accuracy") / 2**20
    apart = 0.0
    for codes_of_one, label in zip(codes.tolist(), labels.tolist(), strict=True):
        row = array("H", codes_of_one)
        model.predict_next(row)
        said = held(model, "thicket.said")[: len(accuracy)]
        share = held(model, "thicket.share")[: len(accuracy)] / 4096
        knows = said >= 0
        if knows.any():
            weight = np.where(knows, np.exp(SHARPNESS * (accuracy - accuracy[knows].max())), 0)
            assert share == pytest.approx(weight / weight.sum(), abs=0.01)
            apart = max(apart, share.max() - np.sort(share)[-2])
        model.learn(row, label)
        accuracy += ((said == label) - accuracy) / 256
        accuracy_now = held(model, "thicket.accuracy") / 2**20
        assert accuracy_now == pytest.approx(accuracy, abs=0.002)
        accuracy = accuracy_now
    assert apart > 0.5  # the shares did differ


def test_votes_are_the_members_opinions_by_share() -> None:
    model = LIBRARY.Thicket(2, 3, bytes=8192)
    rng = np.random.default_rng(2)
    for k in range(200):
        label = k // 20 % 3
        row = array("H", rng.normal(15000 + 15000 * label, 3000, 2).clip(0, 65535).astype(int))
        model.learn(row, label)
    model.predict_next(row)
    assert sum(model.votes) == pytest.approx(65536 * 255, rel=0.01)
    assert model.votes[label] == max(model.votes)

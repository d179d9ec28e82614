"""NearestNeighbours compared with a search over all distances."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pool_support import held

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.integers(2, 5),
    st.integers(1, 40),
    st.integers(1, 15),
)
def test_votes_belong_to_the_nearest(
    seed: int, features: int, classes: int, window: int, k: int
) -> None:
    rng = np.random.default_rng(seed)
    model = LIBRARY.NearestNeighbours(features, classes, window=window, k=k)
    codes = rng.integers(0, 65536, (60, features))
    labels = rng.integers(classes, size=60)
    for x, y in zip(codes[:-1], labels[:-1], strict=True):
        model.learn(array("H", x.tolist()), int(y))
    model.predict(array("H", codes[-1].tolist()))
    kept = slice(max(0, 59 - window), 59)
    away = np.abs((codes[kept] >> 8) - (codes[-1] >> 8)).sum(axis=1)
    nearest = np.sort(away)[:k]
    if np.sum(away <= nearest[-1]) == len(nearest):  # no tie decides which are the nearest
        weights = np.zeros(classes)
        chosen = away <= nearest[-1]
        np.add.at(weights, labels[kept][chosen], 1 / (features + away[chosen]))
        expected = weights / weights.sum()
        assert np.array(model.votes) / (65536 * 255) == pytest.approx(expected, abs=0.01)


def test_an_equal_sample_does_not_outvote_all_others() -> None:
    """A vote is 1 / (features + distance): one at 0 has 1/4, two at 4 have 1/8 each."""
    model = LIBRARY.NearestNeighbours(4, 2, window=3, k=3)
    for code, label in ((0, 0), (256, 1), (256, 1)):
        model.learn(array("H", [code] * 4), label)
    model.predict(array("H", [0] * 4))
    assert np.array(model.votes) / (65536 * 255) == pytest.approx([0.5, 0.5], abs=0.001)


def test_of_equally_near_samples_the_newest_vote() -> None:
    model = LIBRARY.NearestNeighbours(1, 3, window=9, k=2)
    for label in (0, 0, 1, 2):
        model.learn(array("H", [5000]), label)
    model.predict(array("H", [5000]))
    assert np.array(model.votes) / (65536 * 255) == pytest.approx([0, 0.5, 0.5], abs=0.001)


def test_before_the_first_sample_it_abstains() -> None:
    model = LIBRARY.NearestNeighbours(2, 3)
    assert model.predict(array("H", [1, 2])) == 0
    assert list(model.votes) == [0, 0, 0]


def test_the_oldest_sample_is_forgotten() -> None:
    model = LIBRARY.NearestNeighbours(1, 2, window=2, k=1)
    for code, label in ((1000, 1), (30000, 0), (60000, 0)):
        model.learn(array("H", [code]), label)
    assert model.predict(array("H", [1000])) == 0


@given(st.integers(0, 2**32 - 1), st.integers(1, 21), st.integers(16, 60), st.integers(1, 255))
def test_in_a_thicket_a_gap_counts_by_its_square(
    seed: int, features: int, samples: int, spread: int
) -> None:
    """A gap counts a 64th of its square, at most 255: beyond half of the codes, all are equal."""
    rng = np.random.default_rng(seed)
    codes = 128 + rng.integers(-spread, spread + 1, (samples + 1, features)) // 2
    model = LIBRARY.Thicket(features, 2, bytes=16384)
    for x in codes[:-1]:
        model.learn(array("H", (x << 8).tolist()), int(rng.integers(2)))
    model.predict(array("H", (codes[-1] << 8).tolist()))
    gaps = codes[:-1] - codes[-1]
    away = np.minimum(gaps * gaps // 64, 255).sum(axis=1)
    assert list(held(model)["neighbours.distance"]) == sorted(away)[:5]
    assert sorted(away[list(held(model)["neighbours.nearest"])]) == sorted(away)[:5]

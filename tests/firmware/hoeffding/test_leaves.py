"""Leaf predictions: the majority by counting, naive Bayes in float64 from the samples.

The error of a posterior: a score is 1 + 2 d logarithms with errors of at most 6/16384 each, so a
difference of scores, in bits, is off by 2 e, e = (1 + 2 d) 6/16384, and 2 to that power by a
factor of at most 2**(2 e). exp_negative adds 5/16384; rounding down and leaving out terms below
2**-15 add 3/16384. So each share of the best class's is off by t = 2**(2 e) (2**(2 e) - 1) +
8/16384 at most; their sum is at least 1, so a posterior is off by (1 + classes) t at most.
"""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass
from math import log2
from types import ModuleType
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pool_support import held, tree_with
from property_support import examples

from microshrub_host.library import loader

Ints = NDArray[np.int64]
LIBRARY = loader.load("checked").__name__
leaves: ModuleType = sys.modules[LIBRARY + ".hoeffding.leaf_votes"]
observers: ModuleType = sys.modules[LIBRARY + ".hoeffding.histograms"]

ALL_VOTES = 65536 * 255
UNIT = 1020  # votes are in Q14: 65536 * 255 / 2**14


@dataclass
class Leaf:
    """The second of two slots, with its own samples and inherited class counts."""

    model: Any
    bins: list[int]
    classes: int
    rows: Ints
    labels: Ints
    inherited: Ints

    def frequencies(self) -> Ints:
        return np.bincount(self.labels, minlength=self.classes) + self.inherited

    def ask(self, row: Ints) -> tuple[int, list[int]]:
        codes = array("H", [0, *row.tolist()])
        observers.locate(self.model._addresses, 1, codes, 1)
        return leaves.naive_bayes(self.model._addresses, 1), list(self.model.votes)

    def ask_majority(self) -> tuple[int, list[int]]:
        return leaves.majority(self.model._addresses, 1), list(self.model.votes)

    def scores(self, row: Ints) -> NDArray[np.float64]:
        """Return log2 of prior times likelihoods, from the samples; -inf for an unseen class."""
        prior = self.frequencies()
        log_scores = np.full(self.classes, -np.inf)
        for c in np.flatnonzero(prior).tolist():
            rows_of_class = self.rows[self.labels == c]
            log_scores[c] = log2(prior[c])
            for f, bins in enumerate(self.bins):
                same = int((rows_of_class[:, f] * bins // 65536 == row[f] * bins // 65536).sum())
                log_scores[c] += log2((same + 1) / (len(rows_of_class) + bins))
        return log_scores


def make_leaf(seed: int, samples: int) -> Leaf:
    """Return a leaf with informative features, some rare classes, and some without samples."""
    rng = np.random.default_rng(seed)
    features, classes = int(rng.integers(1, 7)), int(rng.choice([2, 2, 3, 10]))
    bins = [int(b) for b in rng.choice([2, 16, 16, 40], features)]
    model = tree_with(bins, classes, leaves=2)
    held(model)["observers.high"][features:] = array("H", [65535] * features)
    labels = rng.choice(classes, samples, p=rng.dirichlet([0.7] * classes))
    centers = rng.integers(0, 65536, (classes, features))
    rows = np.clip(rng.normal(centers[labels], 9000), 0, 65535).astype(np.int64)
    inherited = rng.integers(0, 50, classes) * (rng.random(classes) < 0.3)
    if samples == 0:
        inherited[0] += 1
    codes = array("H", rows.ravel().tolist())
    for i, label in enumerate(labels.tolist()):
        observers.locate(model._addresses, 1, codes, i * features)
        observers.observe(model._addresses, 1, label, 1)
    for c, n in enumerate(inherited.tolist()):
        held(model)["observers.prior"][classes + c] += n
    return Leaf(model, bins, classes, rows, labels, inherited)


LEAVES = (st.integers(0, 2**32 - 1), st.integers(0, 300))


@settings(max_examples=examples(150))
@given(*LEAVES)
def test_naive_bayes_matches_floats(seed: int, samples: int) -> None:
    leaf = make_leaf(seed, samples)
    e = (1 + 2 * len(leaf.bins)) * 6 / 16384
    t = 2 ** (2 * e) * (2 ** (2 * e) - 1) + 8 / 16384
    for row in np.random.default_rng(seed).integers(0, 65536, (10, len(leaf.bins))):
        answer, votes = leaf.ask(row)
        scores = leaf.scores(row)
        assert scores[answer] >= scores.max() - 2 * e
        exact = np.exp2(scores - scores.max())
        exact /= exact.sum()
        assert np.abs(np.array(votes) / ALL_VOTES - exact).max() <= (1 + leaf.classes) * t
        assert votes[answer] == max(votes)


@given(*LEAVES)
def test_votes_add_up_except_for_rounding(seed: int, samples: int) -> None:
    leaf = make_leaf(seed, samples)
    row = np.random.default_rng(seed).integers(0, 65536, len(leaf.bins))
    for _, votes in (leaf.ask(row), leaf.ask_majority()):
        assert all(0 <= vote <= ALL_VOTES for vote in votes)
        assert ALL_VOTES - UNIT * leaf.classes < sum(votes) <= ALL_VOTES
        assert not any(np.array(votes)[leaf.frequencies() == 0])  # no samples, no votes


@given(*LEAVES)
def test_majority_is_the_first_of_the_most_frequent(seed: int, samples: int) -> None:
    leaf = make_leaf(seed, samples)
    answer, votes = leaf.ask_majority()
    frequencies = leaf.frequencies()
    assert answer == np.argmax(frequencies)
    exact = frequencies / frequencies.sum()
    assert np.abs(np.array(votes) / ALL_VOTES - exact).max() <= 1 / 16384


def test_an_empty_leaf_predicts_class_0() -> None:
    """Only the very first sample meets an empty leaf: without votes, or with equal ones."""
    leaf = make_leaf(0, 0)
    prior = held(leaf.model)["observers.prior"]
    prior[:] = array("H", bytes(2 * len(prior)))
    assert leaf.ask_majority() == (0, [0] * leaf.classes)
    answer, votes = leaf.ask(np.zeros(len(leaf.bins), np.int64))
    assert answer == 0
    assert len(set(votes)) == 1
    assert sum(votes) > ALL_VOTES - UNIT * leaf.classes


def test_the_largest_sizes_stay_within_30_bits() -> None:
    """256 features of 255 bins, 256 classes, 32767 samples of one class give the least score."""
    model = loader.load("checked").HoeffdingTree(256, 256, leaves=1, bins=255, adaptive=False)
    b = held(model)
    b["observers.seen"][0] = 32766
    b["observers.prior"][0] = 32766
    b["observers.prior"][255] = 1
    observers.locate(model._addresses, 0, array("H", bytes(512)), 0)
    assert leaves.naive_bayes(model._addresses, 0) == 255
    assert model.votes[255] == ALL_VOTES
    assert sum(model.votes) == ALL_VOTES

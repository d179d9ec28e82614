"""EFDT converges: after 1,000,000 samples of one concept, its first splits equal a batch tree's.

Manapragada, Webb, Salehi 2018, section 4. The batch tree has all samples, and chooses among the
same thresholds: the borders of the bins of a node's range.
"""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from numpy.typing import NDArray

from microshrub_host.library import loader

Ints = NDArray[np.int64]

SAMPLES = 1_000_000
FEATURES = 5
CLASSES = 3
BINS = 16
TIE = 0.05  # tie_threshold: a review ignores differences of up to half of it, in bits


def concept(seed: int) -> tuple[Ints, Ints]:
    """Return uniform codes, labelled by a random tree of depth 4 with a tenth of noise."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 65536, (SAMPLES, FEATURES))
    labels = np.zeros(SAMPLES, dtype=np.int64)

    def label(which: NDArray[np.bool_], low: Ints, high: Ints, depth: int) -> None:
        if not depth:
            labels[which] = rng.integers(CLASSES)
            return
        f = rng.integers(FEATURES)
        at = int(low[f] + (high[f] - low[f]) * rng.uniform(0.3, 0.7))
        goes_left = rows[:, f] <= at
        left, right = high.copy(), low.copy()
        left[f], right[f] = at, at + 1
        label(which & goes_left, low, left, depth - 1)
        label(which & ~goes_left, right, high, depth - 1)

    everything = np.ones(SAMPLES, dtype=np.bool_)
    label(everything, np.zeros(FEATURES, int), np.full(FEATURES, 65535), 4)
    noisy = rng.random(SAMPLES) < 0.1
    labels[noisy] = rng.integers(0, CLASSES, noisy.sum())
    return rows, labels


def entropy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy along the last axis, in bits."""
    total = counts.sum(axis=-1, keepdims=True)
    shares = counts / np.maximum(total, 1)
    return -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=-1)


def batch_gains(rows: Ints, labels: Ints, low: Ints, high: Ints) -> dict[tuple[int, int], float]:
    """Return the information gain of each split, (feature, threshold), on a node's samples."""
    gains = {}
    before = entropy(np.bincount(labels, minlength=CLASSES).astype(float))
    for f in range(FEATURES):
        span = high[f] - low[f] + 1
        cells = (rows[:, f] - low[f]) * BINS // span
        counts = np.bincount(cells * CLASSES + labels, minlength=BINS * CLASSES)
        up_to = np.cumsum(counts.reshape(BINS, CLASSES), axis=0).astype(float)
        left, right = up_to[:-1], up_to[-1] - up_to[:-1]
        after = left.sum(axis=1) * entropy(left) + right.sum(axis=1) * entropy(right)
        for b in range(BINS - 1):
            threshold = int(low[f] + ((b + 1) * span - 1) // BINS)
            gains[f, threshold] = float(before - after[b] / len(labels))
    return gains


@pytest.mark.parametrize("seed", [3, 4, 6])
def test_the_first_splits_equal_a_batch_trees(seed: int) -> None:
    rows, labels = concept(seed)
    model = loader.load(loader.fastest()).HoeffdingTree(
        FEATURES,
        CLASSES,
        depth=6,
        nodes=127,
        leaves=127,
        bins=BINS,
        adaptive=False,
        policy="efdt",
        tie_threshold=TIE,
    )
    codes = array("H", rows.astype(np.uint16).tobytes())
    model.run(codes, bytearray(labels.astype(np.uint8)), bytearray(SAMPLES))
    held = {name: buffer for name, _, buffer in model.buffers()}
    left = held["tree.child"][0]
    assert left
    low, high = np.zeros(FEATURES, dtype=np.int64), np.full(FEATURES, 65535)
    f, threshold = held["tree.feature"][0], held["tree.threshold"][0]
    lower, upper = high.copy(), low.copy()
    lower[f], upper[f] = threshold, threshold + 1
    goes_left = rows[:, f] <= threshold
    places = [(0, low, high, goes_left | True), (left, low, lower, goes_left)]
    clear = 0
    for node, least, most, which in [*places, (left + 1, upper, high, ~goes_left)]:
        gains = batch_gains(rows[which], labels[which], least, most)
        best, second = sorted(gains, key=gains.__getitem__, reverse=True)[:2]
        split = held["tree.feature"][node], held["tree.threshold"][node]
        assert held["tree.child"][node]
        assert gains[best] - gains[split] <= TIE / 2
        if gains[best] - gains[second] > TIE / 2:
            clear += 1
            assert split == best
    assert clear >= 1

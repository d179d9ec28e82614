"""A leaf's counts and its splits: compared with dictionaries, and gains in float64.

The error of a gain in Q10, in 1/1024, for N samples of C classes:

    information gain  n log2 n is off by less than (6 n + 16) / 16384, that is 3/8 n + 1. The
                      whole and the two sides each take C + 1 of them, over samples that add up to
                      4 N: 3/2 N + 3 (C + 1) before the division by N, which rounds down by 1.
    Gini              n times the sum of squares is rounded down: less than 2 too low for the
                      sides, less than 1 too high for the whole, before the same division.

Regularization rounds down once more.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from dataclasses import dataclass
from math import log2
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pool_support import held, tree_with
from property_support import examples

from microshrub_host.library import loader

Ints = NDArray[np.int64]
LIBRARY = loader.load("checked").__name__
observers: ModuleType = sys.modules[LIBRARY + ".hoeffding.histograms"]

BEST, FEATURE, BIN, THRESHOLD, SECOND, SAMPLES, CURRENT = range(7)  # as in histograms.py


@dataclass
class Case:
    """Slots, of which one is in use, with ranges that a path may leave, and samples."""

    model: Any
    slot: int
    bins: list[int]
    classes: int
    low: Ints
    high: Ints
    rows: Ints
    labels: Ints

    def observe(self, weight: int = 1, further_on: int = 0) -> int:
        """Count each sample `weight` times, in this slot or in one `further_on` slots later."""
        codes = array("H", self.rows.ravel().tolist())
        total = 0
        for i, label in enumerate(self.labels.tolist()):
            observers.locate(self.model._addresses, self.slot, codes, i * len(self.bins))
            total = observers.observe(self.model._addresses, self.slot + further_on, label, weight)
        return total

    def bin_of(self, feature: int, code: int) -> int:
        """Return the bin of a code within low..high."""
        low, span = int(self.low[feature]), int(self.high[feature] - self.low[feature]) + 1
        (place,) = (
            b
            for b in range(self.bins[feature])
            if b * span <= (code - low) * self.bins[feature] < (b + 1) * span
        )
        return place

    def merits(self, omega: int = 256, used: bytes = b"", current: int = 0) -> list[int]:
        b = held(self.model)
        b["used"][:] = array("H", list(used) or [1] * len(self.bins))
        observers.merits(0, 0, 0, self.model._addresses, self.slot, omega, current)
        return list(b["merits"])


def make_case(
    seed: int, samples: int, gini: bool, whole_range: bool = False, boosted: bool = False
) -> Case:
    """Return one of three slots, with features of many or few values, one of them informative."""
    rng = np.random.default_rng(seed)
    features, classes = int(rng.integers(1, 5)), int(rng.choice([2, 3, 5, 9]))
    bins = [int(b) for b in rng.choice([2, 3, 16, 16, 255], features)]
    criterion = "gini" if gini else "infogain"
    model = tree_with(bins, classes, leaves=3, boost=boosted, criterion=criterion)
    slot = int(rng.integers(3))
    low, high = np.zeros(features, np.int64), np.full(features, 65535)
    if not whole_range:
        ends = np.sort(rng.choice([0, 1, 2, 5, 500, 32768, 60000, 65535], (2, features)), axis=0)
        low, high = ends[0], ends[1]
    for name, ends in (("low", low), ("high", high)):
        ranges = held(model)[f"observers.{name}"]
        ranges[slot * features : (slot + 1) * features] = array("H", ends.tolist())
    rows = rng.integers(low, high + 1, (samples, features))
    few = rng.integers(low, high + 1, (3, features))
    rows = np.where(rng.random(features) < 0.3, few[rng.integers(3, size=samples)], rows)
    cut = rows[:, rng.integers(features)] > rng.integers(65536)
    noise = rng.random(samples) < rng.choice([0, 0.2, 1])
    labels = np.where(noise, rng.integers(classes, size=samples), cut * (classes - 1))
    return Case(model, slot, bins, classes, low, high, rows, labels)


CASES = (st.integers(0, 2**32 - 1), st.integers(1, 150))


@given(*CASES, st.sampled_from([1, 1, 0, 2, 7]), st.booleans())
def test_counts_match_a_dictionary(seed: int, samples: int, weight: int, boosted: bool) -> None:
    """A sample counts as often as its weight; a boosted twin has the ranges of its slot."""
    case = make_case(seed, samples, gini=False, boosted=boosted)
    b, stays = held(case.model), [f"observers.{n}" for n in ("shape", "first", "low", "high")]
    before = [bytes(memoryview(b[name])) for name in stays]
    assert case.observe(weight, 3 * boosted) == weight * samples
    assert [bytes(memoryview(b[name])) for name in stays] == before
    expected: Counter[int] = Counter()
    slot = case.slot + 3 * boosted
    for row, label in zip(case.rows.tolist(), case.labels.tolist(), strict=True):
        for feature, code in enumerate(row):
            place = sum(case.bins[:feature]) + case.bin_of(feature, code)
            expected[(slot * sum(case.bins) + place) * case.classes + label] += weight
    assert {k: n for k, n in enumerate(b["observers.counts"]) if n} == +expected
    seen: Counter[int] = Counter()
    for label in case.labels.tolist():
        seen[slot * case.classes + label] += weight
    assert {k: n for k, n in enumerate(b["observers.seen"]) if n} == +seen
    assert b["observers.prior"] == b["observers.seen"]


@given(*CASES)
def test_a_cleared_slot_is_empty_and_keeps_its_ranges(seed: int, samples: int) -> None:
    case = make_case(seed, samples, gini=False)
    case.observe()
    b = held(case.model)
    ranges = [bytes(b[name]) for name in ("observers.low", "observers.high")]
    others = (case.slot + 1) % 3
    b["observers.counts"][others * sum(case.bins) * case.classes] = 7  # another slot's count
    observers.clear_slot(case.model._addresses, case.slot)
    assert sum(b["observers.counts"]) == 7
    assert not any(b["observers.seen"])
    assert not any(b["observers.prior"])
    assert [bytes(b[name]) for name in ("observers.low", "observers.high")] == ranges


# Gains


def impurity(labels: Ints, gini: bool) -> float:
    shares = np.bincount(labels) / len(labels)
    if gini:
        return 1 - float((shares**2).sum())
    return -sum(p * log2(p) for p in shares.tolist() if p)


def gain_of(case: Case, feature: int, threshold: int, gini: bool) -> float:
    left = case.rows[:, feature] <= threshold
    if left.all() or not left.any():
        return 0.0
    parts = sum(
        side.mean() * impurity(case.labels[side], gini) for side in (left, np.logical_not(left))
    )
    return impurity(case.labels, gini) - float(parts)


def borders(case: Case, feature: int) -> list[int]:
    """Return the greatest code on the left side, for the border after each bin but the last."""
    low, span = int(case.low[feature]), int(case.high[feature] - case.low[feature]) + 1
    bins = case.bins[feature]
    return [low - 1 + -(-(b + 1) * span // bins) for b in range(bins - 1)]


def bound(case: Case, gini: bool) -> float:
    n = len(case.labels)
    return ((1 + 2 / n) if gini else (2.5 + 3 * (case.classes + 1) / n)) / 1024 + 1e-9


@settings(max_examples=examples(150))
@given(*CASES, st.booleans(), st.sampled_from([256, 128, 1, 0]))
def test_merits_match_the_gains_of_the_samples(
    seed: int, samples: int, gini: bool, omega: int
) -> None:
    case = make_case(seed, samples, gini)
    case.observe()
    features = len(case.bins)
    used = bytes(np.random.default_rng(seed + 1).integers(0, 2, features).tolist())
    splits = [(f, b, t) for f in range(features) for b, t in enumerate(borders(case, f))]
    split, bin_, threshold = splits[seed % len(splits)]
    current = sum(case.bins[:split]) + bin_
    computed = case.merits(omega, used, current)
    weight = [1.0 if mark else omega / 256 for mark in used]
    off = bound(case, gini) + (omega < 256) / 1024
    exact = [
        weight[f] * max(0.0, *(gain_of(case, f, t, gini) for t in borders(case, f)))
        for f in range(features)
    ]
    order = sorted([*exact, 0.0], reverse=True)
    assert computed[SAMPLES] == samples
    assert abs(computed[BEST] / 1024 - order[0]) <= off
    assert abs(computed[SECOND] / 1024 - order[1]) <= off
    assert abs(computed[CURRENT] / 1024 - max(0.0, gain_of(case, split, threshold, gini))) <= off
    assert computed[BEST] >= computed[SECOND] >= 0
    if computed[BEST]:
        assert computed[THRESHOLD] == borders(case, computed[FEATURE])[computed[BIN]]
        assert case.low[computed[FEATURE]] <= computed[THRESHOLD] < case.high[computed[FEATURE]]
        gain = weight[computed[FEATURE]] * gain_of(
            case, computed[FEATURE], computed[THRESHOLD], gini
        )
        assert abs(computed[BEST] / 1024 - gain) <= off
        assert gain >= order[0] - 2 * off


@pytest.mark.parametrize("gini", [False, True])
def test_merits_of_many_samples_and_classes_stay_within_30_bits(gini: bool) -> None:
    """32767 samples, the most that a leaf can have, are separated without an error."""
    criterion = "gini" if gini else "infogain"
    model = loader.load("checked").HoeffdingTree(
        1, 256, leaves=1, bins=255, criterion=criterion, adaptive=False
    )
    b = held(model)
    share = 32767 // 255
    for c in range(255):
        b["observers.counts"][c * 256 + c] = share
    b["observers.counts"][254 * 256 + 255] = 32767 - 255 * share
    b["used"][0] = 1
    observers.merits(0, 0, 0, model._addresses, 0, 256, 0)
    out = b["merits"]
    assert out[SAMPLES] == 32767
    counts = [share] * 255 + [32767 - 255 * share]
    labels = np.repeat(np.arange(256), counts)
    half = max(
        impurity(labels, gini)
        - sum(len(side) / 32767 * impurity(side, gini) for side in (labels[:k], labels[k:]))
        for k in range(share, 255 * share, share)
    )
    assert abs(out[BEST] / 1024 - half) <= 4 / 1024


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_pure_and_empty_slots_have_no_split(seed: int, gini: bool) -> None:
    case = make_case(seed, 40, gini)
    assert case.merits()[BEST] == case.merits()[SAMPLES] == 0
    case.labels[:] = case.classes - 1
    case.observe()
    assert case.merits()[BEST] == case.merits()[SECOND] == 0


# Halving


@pytest.mark.parametrize(("inherited", "weight"), [(0, 1), (20000, 1), (0, 96), (20000, 96)])
def test_all_counts_are_halved_at_32768(inherited: int, weight: int) -> None:
    """The counts are the leaf's own and its parent's together."""
    case = make_case(3, 0, gini=False, whole_range=True)
    rng = np.random.default_rng(5)
    b = held(case.model)
    b["observers.prior"][case.slot * case.classes] = inherited
    rows = rng.integers(0, 65536, (32767 - inherited, len(case.bins)))
    case.rows, case.labels = rows, rng.choice(case.classes, len(rows), p=_slanted(case.classes))
    assert case.observe() == len(rows)
    counted = ("observers.counts", "observers.seen", "observers.prior")
    before = [np.array(b[name]) for name in counted]
    case.rows, case.labels = rows[:1], case.labels[:1]
    total = case.observe(weight)
    more = (weight + 1) // 2  # the last sample may have made an odd count even
    for name, old in zip(counted, before, strict=True):
        new = np.array(b[name])
        assert np.isin(new - old // 2, [0, weight // 2, more]).all()
        assert np.count_nonzero(new != old // 2) <= len(case.bins)
    assert total == sum(b["observers.seen"])
    assert 16384 - case.classes <= sum(b["observers.prior"]) <= 16383 + more


def _slanted(classes: int) -> NDArray[np.float64]:
    shares = np.arange(1, classes + 1.0)
    return shares / shares.sum()


def test_a_slot_can_count_forever() -> None:
    """In 300,000 samples of one bin, no count exceeds 16 bits, and the class ratio is kept."""
    model = loader.load(loader.fastest()).HoeffdingTree(1, 2, depth=0, adaptive=False)
    held = {name: buffer for name, _, buffer in model.buffers()}
    labels = bytearray([0, 1, 1, 1] * 5000)
    for _ in range(15):
        model.run(array("H", bytes(2 * len(labels))), labels, bytearray(len(labels)))
        zeros, ones = held["observers.seen"][:2]
        assert 16000 < zeros + ones < 32768
        assert zeros / (zeros + ones) == pytest.approx(0.25, abs=0.001)
        assert list(held["observers.counts"][:2]) == [zeros, ones]

"""What a leaf counts and the splits it finds: against dictionaries, and gains in float64.

How far a gain in Q10 may be off, in 1/1024, for N samples of C classes:

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

from microshrub_host.engines import loader

Ints = NDArray[np.int64]
LIBRARY = loader.load("checked").__name__
observers: ModuleType = sys.modules[LIBRARY + ".hoeffding.histograms"]
buffers: ModuleType = sys.modules[LIBRARY + ".buffers"]

BEST, FEATURE, BIN, THRESHOLD, SECOND, SAMPLES, CURRENT = range(7)  # as in observers.py


@dataclass
class Case:
    """Slots, of which one is in use, with the ranges that a path may have left, and samples."""

    o: tuple[Any, ...]
    slot: int
    bins: list[int]
    classes: int
    low: Ints
    high: Ints
    rows: Ints
    labels: Ints

    def observe(self, weight: int = 1, further_on: int = 0) -> int:
        """Each sample that often, in the slot whose ranges these are or so many further on."""
        codes = array("H", self.rows.ravel().tolist())
        said = 0
        for i, label in enumerate(self.labels.tolist()):
            observers.locate(self.o, self.slot, codes, i * len(self.bins))
            said = observers.observe(self.o, self.slot + further_on, label, weight)
        return said

    def bin_of(self, feature: int, code: int) -> int:
        """The one whose share of low..high the code is in."""
        low, span = int(self.low[feature]), int(self.high[feature] - self.low[feature]) + 1
        (found,) = (
            b
            for b in range(self.bins[feature])
            if b * span <= (code - low) * self.bins[feature] < (b + 1) * span
        )
        return found

    def merits(self, omega: int = 256, used: bytes = b"", current: int = 0) -> list[int]:
        out = array("i", [-1] * observers.MERIT_WORDS)
        tally = array("i", [0] * (2 * self.classes))
        marks = array("H", list(used) or [1] * len(self.bins))
        observers.merits(self.o, self.slot, out, tally, omega, marks, current)
        return list(out)


def make_case(
    seed: int, samples: int, gini: bool, whole_range: bool = False, boosted: bool = False
) -> Case:
    """One of three slots; features of many or few values, one of which says something."""
    rng = np.random.default_rng(seed)
    features, classes = int(rng.integers(1, 5)), int(rng.choice([2, 3, 5, 9]))
    bins = [int(b) for b in rng.choice([2, 3, 16, 16, 255], features)]
    o = tuple(
        buffers.allocate(code, n)
        for _, code, n in observers.observers_table(features, classes, 3, bins, boosted)
    )
    observers.start_observers(o, features, classes, bins, gini)
    slot = int(rng.integers(3))
    low, high = np.zeros(features, np.int64), np.full(features, 65535)
    if not whole_range:
        ends = np.sort(rng.choice([0, 1, 2, 5, 500, 32768, 60000, 65535], (2, features)), axis=0)
        low, high = ends[0], ends[1]
    o[2][slot * features : (slot + 1) * features] = array("H", low.tolist())
    o[3][slot * features : (slot + 1) * features] = array("H", high.tolist())
    rows = rng.integers(low, high + 1, (samples, features))
    few = rng.integers(low, high + 1, (3, features))
    rows = np.where(rng.random(features) < 0.3, few[rng.integers(3, size=samples)], rows)
    cut = rows[:, rng.integers(features)] > rng.integers(65536)
    noise = rng.random(samples) < rng.choice([0, 0.2, 1])
    labels = np.where(noise, rng.integers(classes, size=samples), cut * (classes - 1))
    return Case(o, slot, bins, classes, low, high, rows, labels)


CASES = (st.integers(0, 2**32 - 1), st.integers(1, 150))


@given(*CASES, st.sampled_from([1, 1, 0, 2, 7]), st.booleans())
def test_counts_are_those_of_a_dictionary(
    seed: int, samples: int, weight: int, boosted: bool
) -> None:
    """A sample counts as often as it weighs; a boosted twin has the ranges of its slot."""
    case = make_case(seed, samples, gini=False, boosted=boosted)
    before = [bytes(memoryview(buffer)) for buffer in case.o[:4]]
    assert case.observe(weight, 3 * boosted) == weight * samples
    assert [bytes(memoryview(buffer)) for buffer in case.o[:4]] == before  # ranges and shape stay
    expected: Counter[int] = Counter()
    own = case.slot + 3 * boosted
    for row, label in zip(case.rows.tolist(), case.labels.tolist(), strict=True):
        for feature, code in enumerate(row):
            place = sum(case.bins[:feature]) + case.bin_of(feature, code)
            expected[(own * sum(case.bins) + place) * case.classes + label] += weight
    assert {k: n for k, n in enumerate(case.o[4]) if n} == +expected
    seen: Counter[int] = Counter()
    for label in case.labels.tolist():
        seen[own * case.classes + label] += weight
    assert {k: n for k, n in enumerate(case.o[5]) if n} == +seen
    assert case.o[6] == case.o[5]


@given(*CASES)
def test_a_cleared_slot_is_empty_and_keeps_its_ranges(seed: int, samples: int) -> None:
    case = make_case(seed, samples, gini=False)
    case.observe()
    ranges = [bytes(case.o[k]) for k in (2, 3)]
    others = (case.slot + 1) % 3
    case.o[4][others * sum(case.bins) * case.classes] = 7  # of another slot
    observers.clear_slot(case.o, case.slot)
    assert sum(case.o[4]) == 7
    assert not any(case.o[5])
    assert not any(case.o[6])
    assert [bytes(case.o[k]) for k in (2, 3)] == ranges


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
    """The greatest code that goes left, for the border behind each bin but the last."""
    low, span = int(case.low[feature]), int(case.high[feature] - case.low[feature]) + 1
    bins = case.bins[feature]
    return [low - 1 + -(-(b + 1) * span // bins) for b in range(bins - 1)]


def bound(case: Case, gini: bool) -> float:
    n = len(case.labels)
    return ((1 + 2 / n) if gini else (2.5 + 3 * (case.classes + 1) / n)) / 1024 + 1e-9


@settings(max_examples=150)
@given(*CASES, st.booleans(), st.sampled_from([256, 128, 1, 0]))
def test_merits_are_the_gains_of_the_samples(
    seed: int, samples: int, gini: bool, omega: int
) -> None:
    case = make_case(seed, samples, gini)
    case.observe()
    features = len(case.bins)
    used = bytes(np.random.default_rng(seed + 1).integers(0, 2, features).tolist())
    splits = [(f, b, t) for f in range(features) for b, t in enumerate(borders(case, f))]
    asked, bin_, threshold = splits[seed % len(splits)]
    current = sum(case.bins[:asked]) + bin_
    found = case.merits(omega, used, current)
    weight = [1.0 if mark else omega / 256 for mark in used]
    off = bound(case, gini) + (omega < 256) / 1024
    exact = [
        weight[f] * max(0.0, *(gain_of(case, f, t, gini) for t in borders(case, f)))
        for f in range(features)
    ]
    order = sorted([*exact, 0.0], reverse=True)
    assert found[SAMPLES] == samples
    assert abs(found[BEST] / 1024 - order[0]) <= off
    assert abs(found[SECOND] / 1024 - order[1]) <= off
    assert abs(found[CURRENT] / 1024 - max(0.0, gain_of(case, asked, threshold, gini))) <= off
    assert found[BEST] >= found[SECOND] >= 0
    if found[BEST]:
        assert found[THRESHOLD] == borders(case, found[FEATURE])[found[BIN]]
        assert case.low[found[FEATURE]] <= found[THRESHOLD] < case.high[found[FEATURE]]
        own = weight[found[FEATURE]] * gain_of(case, found[FEATURE], found[THRESHOLD], gini)
        assert abs(found[BEST] / 1024 - own) <= off
        assert own >= order[0] - 2 * off


@pytest.mark.parametrize("gini", [False, True])
def test_merits_of_many_samples_and_classes_stay_within_30_bits(gini: bool) -> None:
    """32767 samples, as many as there can be, parted without an error."""
    o = tuple(
        buffers.allocate(code, n)
        for _, code, n in observers.observers_table(1, 256, 1, [255], False)
    )
    observers.start_observers(o, 1, 256, [255], gini)
    share = 32767 // 255
    for c in range(255):
        o[4][c * 256 + c] = share
    o[4][254 * 256 + 255] = 32767 - 255 * share
    out, tally = array("i", [0] * 7), array("i", [0] * 512)
    observers.merits(o, 0, out, tally, 256, array("H", [1]), 0)
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
    """Those of the leaf and what its parent had counted together."""
    case = make_case(3, 0, gini=False, whole_range=True)
    rng = np.random.default_rng(5)
    case.o[6][case.slot * case.classes] = inherited
    rows = rng.integers(0, 65536, (32767 - inherited, len(case.bins)))
    case.rows, case.labels = rows, rng.choice(case.classes, len(rows), p=_slanted(case.classes))
    assert case.observe() == len(rows)
    before = [np.array(case.o[k]) for k in (4, 5, 6)]
    case.rows, case.labels = rows[:1], case.labels[:1]
    said = case.observe(weight)
    more = (weight + 1) // 2  # the last sample may have made an odd count even
    for k, old in zip((4, 5, 6), before, strict=True):
        new = np.array(case.o[k])
        assert np.isin(new - old // 2, [0, weight // 2, more]).all()
        assert np.count_nonzero(new != old // 2) <= len(case.bins)
    assert said == sum(case.o[5])
    assert 16384 - case.classes <= sum(case.o[6]) <= 16383 + more


def _slanted(classes: int) -> NDArray[np.float64]:
    shares = np.arange(1, classes + 1.0)
    return shares / shares.sum()


def test_a_slot_can_count_on_forever() -> None:
    """300,000 samples of one bin on numba: no count passes 16 bits, the ratio of classes stays."""
    model = loader.load("numba").HoeffdingTree(1, 2, depth=0)
    held = {name: buffer for name, _, buffer in model.buffers()}
    labels = bytearray([0, 1, 1, 1] * 5000)
    for _ in range(15):
        model.run(array("H", bytes(2 * len(labels))), labels, bytearray(len(labels)))
        zeros, ones = held["observers.seen"][:2]
        assert 16000 < zeros + ones < 32768
        assert zeros / (zeros + ones) == pytest.approx(0.25, abs=0.001)
        assert list(held["observers.counts"][:2]) == [zeros, ones]

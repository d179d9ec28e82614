"""One shrub: its splits are CART's, its leaves hold the frequencies, random choices are fair.

A model with train_every=n grows exactly one shrub after n samples, on the samples in the window,
and into the slot that `rank` names next: the tests use only this to get a shrub.

Up to a window of 64 the splitter compares scores as fractions: the split is exactly one of the
best. Beyond that, scores are in Q10, as a sum of two quotients rounded down: a score may be up to
2/1024 too low, never too high. So the chosen split is less than 2/1024 below the best.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from property_support import examples
from shrub_oracle import best_splits

from microshrub_host.library import loader

Ints = NDArray[np.int64]
EXACT_UP_TO = 64
FLOOR = Fraction(2, 1024)
FAIR = 1e-3  # the seeds are fixed, so a smaller p-value is a defect


@dataclass
class Shrub:
    """A slot of the pool, with the layout of the tables in pool.py and cart.py."""

    depth: int
    linked: bool
    feature: Ints
    threshold: Ints
    kids: Ints  # of a linked shrub: the root, then the two children of each node
    leaves: Ints
    member: Ints  # leaf of each sample in the window

    def root(self) -> int:
        return int(self.kids[0]) if self.linked else 0

    def is_leaf(self, node: int) -> bool:
        return node >= len(self.feature)

    def child(self, node: int, right: int) -> int:
        k = 2 * node + 1 + right
        return int(self.kids[k]) if self.linked else k

    def leaf_of(self, codes: Ints) -> int:
        node = self.root()
        while not self.is_leaf(node):
            node = self.child(node, int(codes[self.feature[node]] > self.threshold[node]))
        return node - len(self.feature)


def read_shrub(model: Any, slot: int) -> Shrub:
    buffers = {name: bytes(memoryview(buffer)) for name, _, buffer in model.buffers()}
    words = np.frombuffer(buffers["shrubs.shape"], np.int32)
    classes, depth, inner, leaves, linked, one_hot, wide_codes, wide_kids = words.tolist()

    def part(name: str, wide: int, length: int) -> Ints:
        items = np.frombuffer(buffers[name], np.uint16 if wide else np.uint8)
        return items[slot * length : (slot + 1) * length].astype(np.int64)

    return Shrub(
        depth,
        bool(linked),
        part("shrubs.feature", 0, inner),
        part("shrubs.threshold", wide_codes, inner),
        part("shrubs.kids", wide_kids, (2 * inner + 1) * linked),
        part("shrubs.leaves", 0, leaves if one_hot else leaves * (classes - 1)),
        part("member", int(leaves > 256), model.window),
    )


def next_slot(model: Any) -> int:
    """Return the first free slot, where the next shrub grows."""
    buffers = {name: buffer for name, _, buffer in model.buffers()}
    return int(buffers["members.rank"][model.trees_used])


def feed(model: Any, rows: Ints, labels: Ints) -> None:
    codes = array("H", rows.ravel().tolist())
    model.run(codes, bytearray(labels.tolist()), bytearray(len(labels)))


def grown(engine: str, rows: Ints, labels: Ints, classes: int, **parameters: Any) -> Shrub:
    """Return the first shrub of a fresh model, grown on these rows."""
    given = {"window": max(len(rows), 2), "trees": 1, **parameters}
    model = loader.load(engine).ShrubEnsemble(
        rows.shape[1], classes, train_every=len(rows), **given
    )
    feed(model, rows, labels)
    assert model.trees_used == 1
    return read_shrub(model, 0)


@dataclass
class Visit:
    """A node, its level, and the samples that pass it."""

    node: int
    level: int
    samples: Ints


def visits(shrub: Shrub, codes: Ints) -> Iterator[Visit]:
    """Yield every node that a sample passes, with its samples.

    In a shrub by position, a node without a split sends all its samples left, level after level;
    only the topmost of these nodes counts, as a leaf.
    """
    stack = [Visit(shrub.root(), 0, np.arange(len(codes)))]
    while stack:
        visit = stack.pop()
        yield visit
        if shrub.is_leaf(visit.node):
            continue
        right = codes[visit.samples, shrub.feature[visit.node]] > shrub.threshold[visit.node]
        for side in (0, 1):
            if (right == side).any():
                child = shrub.child(visit.node, side)
                stack.append(Visit(child, visit.level + 1, visit.samples[right == side]))


def splits_at(shrub: Shrub, codes: Ints, visit: Visit) -> bool:
    if shrub.is_leaf(visit.node):
        return False
    right = codes[visit.samples, shrub.feature[visit.node]] > shrub.threshold[visit.node]
    return bool(right.any())


def score_of(column: Ints, labels: Ints, threshold: int, classes: int) -> Fraction:
    score = Fraction(0)
    for side in (labels[column <= threshold], labels[column > threshold]):
        squares = int((np.bincount(side, minlength=classes) ** 2).sum())
        score += Fraction(squares, len(side))
    return score


def draw_samples(seed: int, n: int, features: int, classes: int, bits: int) -> tuple[Ints, Ints]:
    """Draw codes with few or many different values, and a label that depends on them a little."""
    rng = np.random.default_rng(seed)
    values = rng.choice([2, 3, 8, 60, 65536])
    codes = np.sort(rng.integers(0, 65536, values))[rng.integers(values, size=(n, features))]
    if bits == 8 and rng.random() < 0.5:
        codes = codes // 16  # only a few of the upper bytes
    labels = rng.integers(classes, size=n)
    cut = codes[:, rng.integers(features)] > np.median(codes[:, 0])
    return codes, np.where(rng.random(n) < 0.5, cut, labels).astype(np.int64)


@dataclass
class Case:
    """A stream, and the shrub that is grown on it."""

    seed: int
    n: int
    features: int
    classes: int
    depth: int
    bits: int
    leaf: str

    def samples(self) -> tuple[Ints, Ints, Ints]:
        """Return rows, the codes that a shrub sees of them, and labels."""
        rows, labels = draw_samples(self.seed, self.n, self.features, self.classes, self.bits)
        return rows, rows if self.bits == 16 else rows >> 8, labels

    def grown(self, rows: Ints, labels: Ints, **parameters: Any) -> Shrub:
        given = {"depth": self.depth, "feature_bits": self.bits, "leaf": self.leaf, **parameters}
        engine, seed = loader.fastest(), self.seed % 999
        return grown(engine, rows, labels, self.classes, seed=seed, **given)


CASES = st.builds(
    Case,
    seed=st.integers(0, 2**32 - 1),
    n=st.one_of(st.integers(2, 12), st.integers(13, 70), st.sampled_from([255, 256, 257, 320])),
    features=st.integers(1, 5),
    classes=st.integers(2, 5),
    depth=st.sampled_from([1, 2, 3, 4, 6, 10, 11, 30]),
    bits=st.sampled_from([8, 16]),
    leaf=st.sampled_from(["proba", "class"]),
)


@settings(deadline=None, max_examples=examples(150))
@given(CASES)
def test_every_split_is_one_of_the_best(case: Case) -> None:
    rows, codes, labels = case.samples()
    shrub = case.grown(rows, labels)
    for visit in visits(shrub, codes):
        x, y = codes[visit.samples], labels[visit.samples]
        pure = len(set(y.tolist())) == 1
        score, best = best_splits(x.astype(np.uint16), y, case.classes)
        if not splits_at(shrub, codes, visit):
            assert pure or visit.level >= case.depth or not best
            continue
        assert not pure
        assert visit.level < case.depth
        feature, threshold = int(shrub.feature[visit.node]), int(shrub.threshold[visit.node])
        column = np.unique(x[:, feature])
        assert threshold in (column[:-1] + column[1:]) // 2
        if case.n <= EXACT_UP_TO:
            assert (feature, threshold) in best
        top = score_of(x[:, best[0][0]], y, int(best[0][1]), case.classes)
        assert float(top) == pytest.approx(score)
        assert top - score_of(x[:, feature], y, threshold, case.classes) < FLOOR


@settings(deadline=None, max_examples=examples(100))
@given(CASES, st.sampled_from(["best", "random"]))
def test_leaves_hold_the_frequencies_of_their_samples(case: Case, splitter: str) -> None:
    """Frequencies add up to 255; their running sums are rounded, so each is off by less than 1.

    With two classes there is one running sum, which is off by at most half a unit.
    """
    rows, codes, labels = case.samples()
    shrub = case.grown(rows, labels, splitter=splitter)
    reached = np.array([shrub.leaf_of(row) for row in codes])
    assert shrub.member[: case.n].tolist() == reached.tolist()
    assert len(set(reached.tolist())) <= min(2 ** min(case.depth, 30), case.n)
    for number in set(reached.tolist()):
        share = np.bincount(labels[reached == number], minlength=case.classes)
        if case.leaf == "class":
            assert shrub.leaves[number] == np.argmax(share)
            continue
        exact = share * 255 / share.sum()
        held = shrub.leaves.reshape(-1, case.classes - 1)[number]
        held = np.append(held, 255 - held.sum())
        assert held.min() >= 0
        assert np.abs(np.cumsum(held) - np.cumsum(exact)).max() <= 0.5 + 1e-9
        assert np.abs(held - exact).max() < 1


@settings(deadline=None, max_examples=examples(100))
@given(CASES, st.integers(0, 5))
def test_random_thresholds_are_within_the_samples_of_the_node(case: Case, drawn: int) -> None:
    rows, codes, labels = case.samples()
    drawn = min(drawn, case.features)
    shrub = case.grown(rows, labels, splitter="random", max_features=drawn)
    for visit in visits(shrub, codes):
        x, y = codes[visit.samples], labels[visit.samples]
        if splits_at(shrub, codes, visit):
            column = x[:, shrub.feature[visit.node]]
            assert column.min() <= shrub.threshold[visit.node] < column.max()
            assert len(set(y.tolist())) > 1
            assert visit.level < case.depth
        elif not drawn:  # no feature separates the samples
            alike = len(set(y.tolist())) == 1 or not np.ptp(x, axis=0).any()
            assert alike or visit.level >= case.depth


# The leaf of a sample, and the two layouts


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize(
    ("window", "depth", "bits", "linked"),
    [
        (16, 3, 16, False),
        (16, 6, 8, True),
        (6, 4, 16, True),
        (300, 4, 8, False),
        (300, 12, 16, True),  # leaves that need two bytes a number
        (300, 9, 8, False),  # the same, by position
    ],
)
def test_member_matches_the_descent(
    splitter: str, window: int, depth: int, bits: int, linked: bool
) -> None:
    """This holds for every member and every sample in the window, while both change."""
    leaf = "class" if window == 300 else "proba"
    model = loader.load(loader.fastest()).ShrubEnsemble(
        2,
        3,
        window=window,
        trees=3,
        depth=depth,
        step=4.0,
        splitter=splitter,
        feature_bits=bits,
        leaf=leaf,
        train_every=7,
    )
    rng = np.random.default_rng(window + depth)
    rows, labels = rng.integers(0, 65536, (window + 60, 2)), rng.integers(3, size=window + 60)
    rows[:, 1] //= 9000
    buffers = {name: buffer for name, _, buffer in model.buffers()}
    start = 0
    for end in sorted({5, 8, 15, window - 1, *range(window, window + 60, 4)}):
        feed(model, rows[start:end], labels[start:end])
        start = end
        slots = list(buffers["members.rank"][: model.trees_used])
        shrubs = {slot: read_shrub(model, slot) for slot in slots}
        wide = len(buffers["path"]) > model.trees + 1
        for t in range(max(0, end - window), end):
            model.predict(array("H", rows[t].tolist()))
            path = np.frombuffer(buffers["path"], np.uint16 if wide else np.uint8)
            for slot, shrub in shrubs.items():
                assert shrub.linked == linked
                assert shrub.member[t % window] == path[slot]
                assert path[slot] == shrub.leaf_of(rows[t] if bits == 16 else rows[t] >> 8)


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("leaf", ["proba", "class"])
@pytest.mark.parametrize(
    ("samples", "depth"),
    [(4, 3), (7, 4), (8, 4), (60, 7)],
)
def test_both_layouts_give_the_same_shrub(
    splitter: str, leaf: str, samples: int, depth: int
) -> None:
    """Samples and seed are the same in a small window (linked) and a large one (by position)."""
    rng = np.random.default_rng(samples)
    rows, labels = rng.integers(0, 65536, (samples, 3)), rng.integers(4, size=samples)
    probes = array("H", rng.integers(0, 65536, 3 * 500).tolist())
    seen = {}
    for window in (samples, 2**depth):
        model = loader.load("checked").ShrubEnsemble(
            3,
            4,
            window=window,
            trees=2,
            depth=depth,
            splitter=splitter,
            leaf=leaf,
            train_every=samples,
        )
        feed(model, rows, labels)
        votes = []
        for k in range(0, len(probes), 3):
            model.predict(probes[k : k + 3])
            votes.append(model.votes.tolist())
        seen[read_shrub(model, 0).linked] = votes
    assert seen[True] == seen[False]


# Random choices


def roots(rows: Ints, labels: Ints, times: int, **parameters: Any) -> list[tuple[int, int]]:
    """Return (feature, threshold) at the root of that many shrubs of a model; (-1, 0) for a leaf.

    The rows repeat, so that each shrub gets all of them.
    """
    n = len(labels)
    model = loader.load(loader.fastest()).ShrubEnsemble(
        rows.shape[1],
        int(labels.max()) + 1,
        window=n,
        trees=2,
        depth=1,
        train_every=n,
        **parameters,
    )
    results = []
    for _ in range(times):
        slot = next_slot(model)
        feed(model, rows, labels)
        shrub = read_shrub(model, slot)
        assert not shrub.linked
        leaf = int(shrub.threshold[0]) == 65535
        results.append((-1, 0) if leaf else (int(shrub.feature[0]), int(shrub.threshold[0])))
    return results


def is_fair(drawn: list[Any], weights: dict[Any, float]) -> bool:
    from scipy.stats import chisquare

    counts = Counter(drawn)
    assert set(counts) <= set(weights)
    expected = np.array(list(weights.values())) * len(drawn) / sum(weights.values())
    return float(chisquare([counts[key] for key in weights], expected).pvalue) > FAIR


def test_equal_features_are_drawn_evenly() -> None:
    rows = np.array([[1, 9, 1, 9, 1], [5, 5, 5, 5, 5], [9, 1, 9, 1, 9]]) * 100
    drawn = [feature for feature, _ in roots(rows, np.array([0, 0, 1]), 3000)]
    assert is_fair(drawn, dict.fromkeys(range(5), 1))


def test_equal_thresholds_are_drawn_evenly() -> None:
    """With labels 0 1 0 1, splits after the first sample and before the last are equally good."""
    rows = np.array([[10], [20], [30], [40]])
    labels = np.array([0, 1, 0, 1])
    _, best = best_splits(rows, labels, 2)
    assert len(best) == 2
    assert is_fair(roots(rows, labels, 3000), dict.fromkeys(best, 1))


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1]])
def test_max_features_draws_every_subset_evenly(order: list[int]) -> None:
    """Feature order[f] separates the labels worse than order[f - 1]; the best drawn one wins.

    Of the 10 pairs out of 5, four hold the best feature, three more the second, then two, one.
    """
    n = 12
    labels = np.array([0] * 6 + [1] * 6)
    rows = np.array([[100 * (b >= 6 - order.index(f)) for f in range(5)] for b in range(n)])
    scores = [score_of(rows[:, f], labels, 50, 2) for f in order]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 5
    drawn = [feature for feature, _ in roots(rows, labels, 4000, max_features=2)]
    assert is_fair(drawn, dict(zip(order, [4, 3, 2, 1], strict=False)))


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("features", [3, 9, 17])
def test_max_features_draws_useless_features_too(splitter: str, features: int) -> None:
    """Only feature 1 varies: with one feature per node, one root in `features` splits."""
    rows = np.zeros((2, features), dtype=np.int64)
    rows[1, 1] = 2
    computed = roots(rows, np.array([0, 1]), 3000, max_features=1, splitter=splitter)
    drawn = [feature for feature, _ in computed]
    assert is_fair(drawn, {1: 1, -1: features - 1})


def test_each_node_draws_its_own_features() -> None:
    """With one of two equal features drawn per node, a root's two children take all four pairs."""
    rows = np.array([[0, 0, 0], [0, 9, 9], [9, 0, 0], [9, 9, 9]]) * 100
    labels = np.array([0, 1, 2, 3])
    pairs = Counter()
    for seed in range(1500):
        shrub = grown(
            loader.fastest(), rows, labels, 4, window=8, depth=2, max_features=1, seed=seed * 7919
        )
        assert not shrub.linked
        if shrub.feature[0] == 0 and shrub.threshold[0] < 65535:
            split = [int(shrub.feature[n]) for n in (1, 2) if shrub.threshold[n] < 65535]
            if len(split) == 2:
                pairs[tuple(split)] += 1
    assert sum(pairs.values()) > 150
    assert is_fair(list(pairs.elements()), dict.fromkeys([(1, 1), (1, 2), (2, 1), (2, 2)], 1))


@pytest.mark.parametrize(("low", "high"), [(10, 18), (0, 2), (0, 65535), (65530, 65535)])
def test_random_thresholds_are_uniform(low: int, high: int) -> None:
    rows = np.array([[low], [high]])
    computed = roots(rows, np.array([0, 1]), 4000, splitter="random")
    assert {feature for feature, _ in computed} == {0}
    cells = min(high - low, 16)
    drawn = [(threshold - low) * cells // (high - low) for _, threshold in computed]
    sizes = Counter((t - low) * cells // (high - low) for t in range(low, high))
    assert is_fair(drawn, {cell: float(size) for cell, size in sizes.items()})


def test_random_splitter_takes_the_best_of_its_candidates() -> None:
    """Codes 0 and 1 leave one threshold per feature; the middle one separates the labels."""
    rows = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]])
    computed = roots(rows, np.array([0, 0, 1, 1]), 60, splitter="random")
    assert set(computed) == {(1, 0)}


def test_random_splitter_breaks_ties_evenly() -> None:
    rows = np.array([[0, 1, 0], [1, 0, 1]])
    computed = roots(rows, np.array([0, 1]), 3000, splitter="random")
    assert is_fair(computed, dict.fromkeys([(0, 0), (1, 0), (2, 0)], 1))

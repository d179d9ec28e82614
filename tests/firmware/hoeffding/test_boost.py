"""OLBoost: its effect on the twins' counts, and that it leaves the tree unchanged."""

from __future__ import annotations

import sys
from array import array
from math import sqrt
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pool_support import NO_SLOT, feed, held
from property_support import examples

from microshrub_host.library import loader

Ints = NDArray[np.int64]
LIBRARY = loader.load("checked").__name__
fixed: ModuleType = sys.modules[LIBRARY + ".fixed"]
ALL_VOTES = 65536 * 255
PER_LEAF = ("observers.counts", "observers.seen", "observers.prior")


def draw(rng: np.random.Generator, samples: int, features: int, classes: int) -> tuple[Ints, Ints]:
    """Draw samples of a new concept, with noise."""
    rows = rng.integers(0, 65536, (samples, features))
    labels = rows[:, rng.integers(features)] * int(rng.integers(1, 4)) % 65536 * classes // 65536
    noise = rng.random(samples) < rng.choice([0, 0.3, 1])
    return rows, np.where(noise, rng.integers(classes, size=samples), labels)


# The unchanged tree


def structure(model: Any) -> dict[str, bytes]:
    """Return the tree and all that determines it, without the leaves' accuracy and the twins."""
    kept = {}
    for name, buffer in held(model).items():
        if name in PER_LEAF:
            slots = 2 * model.leaves if model.boost else model.leaves
            kept[name] = bytes(memoryview(buffer)[: len(buffer) * model.leaves // slots])
        elif name.startswith(("tree.", "observers.", "strict", "merits")):
            kept[name] = bytes(memoryview(buffer))
    shape = array("i", kept["tree.shape"])
    shape[10] = 0  # the distance to the twins
    kept["tree.shape"] = bytes(shape)
    del kept["tree.hits"], kept["observers.cells"]
    return kept


PARAMETERS = st.fixed_dictionaries(
    {
        "features": st.integers(1, 4),
        "classes": st.integers(2, 4),
        "depth": st.sampled_from([0, 2, 5, 30]),
        "nodes": st.integers(1, 16),
        "leaves": st.integers(1, 7),
        "grace_period": st.integers(1, 25),
        "split_confidence": st.sampled_from([0.5, 0.1, 1e-7]),
        "tie_threshold": st.sampled_from([0, 0.05, 1]),
        "policy": st.sampled_from(["vfdt", "efdt", "svfdt1", "svfdt2"]),
        "regularization": st.sampled_from([1.0, 0.5]),
        "leaf": st.sampled_from(["mc", "nb", "nba"]),
        "bins": st.sampled_from([2, 3, 16]),
        "adaptive": st.just(False),  # else the leaves' predictions decide which subtrees stay
    }
)


@settings(max_examples=examples(60))
@given(PARAMETERS, st.integers(0, 2**20), st.sampled_from([(1, 6), (0, 0), (16, 16), (0.5, 3)]))
def test_the_tree_equals_the_tree_without_boosting(
    parameters: dict[str, Any], seed: int, lambdas: tuple[float, float]
) -> None:
    tree = loader.load("checked").HoeffdingTree
    plain = tree(**parameters)
    low, high = lambdas
    boosted = tree(boost=True, lambda_min=low, lambda_max=high, seed=seed, **parameters)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        rows, labels = draw(rng, int(rng.integers(1, 60)), plain.features, plain.classes)
        for model in (plain, boosted):
            feed(model, rows, labels)
        assert structure(plain) == structure(boosted)


@pytest.mark.parametrize("policy", ["vfdt", "efdt", "svfdt1", "svfdt2"])
@pytest.mark.parametrize("leaf", ["mc", "nb", "nba"])
def test_a_large_tree_equals_the_tree_without_boosting(policy: str, leaf: str) -> None:
    """It holds over 60,000 samples, also when statistics are halved and nodes taken back."""
    tree = loader.load(loader.fastest()).HoeffdingTree
    plain, boosted = (
        tree(
            3, 3, depth=5, nodes=41, leaves=9, policy=policy, leaf=leaf, boost=boost,
            split_confidence=0.01, tie_threshold=0.1, grace_period=100, adaptive=False,
        )
        for boost in (False, True)
    )  # fmt: skip
    rng = np.random.default_rng(8)
    predictions = []
    for _ in range(12):
        rows, labels = draw(rng, 5000, 3, 3)
        predictions.append([feed(model, rows, labels) for model in (plain, boosted)])
        assert structure(plain) == structure(boosted)
    assert plain.nodes_used > 9
    assert any(one != other for one, other in predictions)  # the predictions do differ


# The twins


def counts_of(model: Any, slot: int) -> tuple[Ints, Ints, Ints]:
    """Return counts, seen and prior of a slot: (bins, classes), (classes,) and (classes,)."""
    b, classes = held(model), model.classes
    bins = b["observers.first"][model.features]
    counts = np.array(b["observers.counts"], dtype=np.int64).reshape(-1, bins, classes)[slot]
    rows = slice(slot * classes, (slot + 1) * classes)
    return counts, np.array(b["observers.seen"][rows]), np.array(b["observers.prior"][rows])


def leaf_of(model: Any, row: list[int]) -> int:
    b = held(model)
    node = 0
    while b["tree.child"][node]:
        right = row[b["tree.feature"][node]] > b["tree.threshold"][node]
        node = b["tree.child"][node] + right
    return int(b["tree.slot"][node])


@pytest.mark.parametrize("leaf", ["mc", "nb", "nba"])
@pytest.mark.parametrize("lambdas", [(1, 6), (0, 4), (3, 3), (0, 16)])
def test_a_twin_counts_a_sample_as_often_as_drawn(leaf: str, lambdas: tuple[float, float]) -> None:
    """The mean is lambda_max - (lambda_max - lambda_min) * the votes' share of the class."""
    low, high = lambdas
    model = loader.load("checked").HoeffdingTree(
        2, 3, nodes=9, leaves=3, grace_period=60, split_confidence=0.5, tie_threshold=1,
        leaf=leaf, boost=True, lambda_min=low, lambda_max=high, bins=4, seed=3,
    )  # fmt: skip
    rng = np.random.default_rng(2)
    rows, labels = draw(rng, 500, 2, 3)
    drawn, checked = [], 0
    for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
        x = array("H", row)
        slot = leaf_of(model, row)
        model.predict(x)
        share = model.votes[label] / ALL_VOTES
        state = array("i", held(model)["rng"])
        rates = [(high - (high - low) * share) * 256 + d for d in (-1, 0, 1)]  # off by rounding
        possible = {
            fixed.poisson(fixed.generator_table(array("i", state)), 0, max(0, int(rate + 0.5)))
            for rate in rates
        }
        nodes = model.nodes_used
        before = counts_of(model, slot + model.leaves) if slot != NO_SLOT else None
        model.learn(x, label)
        if before is None:
            assert held(model)["rng"] == state  # no draw was needed
            continue
        if model.nodes_used != nodes:
            continue
        counts, seen, prior = (
            new - old
            for new, old in zip(counts_of(model, slot + model.leaves), before, strict=True)
        )
        k = int(seen[label])
        assert k in possible
        assert list(seen) == list(prior) == [k * (c == label) for c in range(3)]
        # the feature's ranges belong to the slot that splits
        b = held(model)
        places = np.zeros_like(counts)
        for f, code in enumerate(row):
            first, end = b["observers.first"][f], b["observers.first"][f + 1]
            least = b["observers.low"][slot * 2 + f]
            span = b["observers.high"][slot * 2 + f] - least + 1
            places[first + (code - least) * (end - first) // span, label] = k
        assert (counts == places).all()
        drawn.append(k)
        checked += 1
    assert checked > 300
    assert model.nodes_used > 1
    if low == high:
        assert np.mean(drawn) == pytest.approx(low, abs=4 * sqrt(low / checked))


def test_without_a_weight_the_twins_stay_at_their_parents_counts() -> None:
    """With lambda_min = lambda_max = 0, they have only the counts from the split."""
    model = loader.load("checked").HoeffdingTree(
        2, 3, nodes=15, leaves=6, grace_period=40, split_confidence=0.5, tie_threshold=0.5,
        boost=True, lambda_min=0, lambda_max=0, adaptive=False,
    )  # fmt: skip
    rng = np.random.default_rng(1)
    for _ in range(8):
        feed(model, *draw(rng, 100, 2, 3))
        for slot in range(model.leaves):
            counts, seen, prior = counts_of(model, slot + model.leaves)
            assert not counts.any()
            assert not seen.any()
            leaf_counts = counts_of(model, slot)
            assert (prior == leaf_counts[2] - leaf_counts[1]).all()  # without the samples it saw
    assert model.nodes_used > 3


@pytest.mark.parametrize("weight", [1, 0.25, 6])
def test_equal_lambdas_weigh_all_samples_equally(weight: float) -> None:
    """This holds on average, over 4,000 samples of one leaf, whatever the leaf predicts."""
    model = loader.load(loader.fastest()).HoeffdingTree(
        1, 2, depth=0, leaves=1, boost=True, lambda_min=weight, lambda_max=weight, adaptive=False
    )
    rng = np.random.default_rng(6)
    rows, labels = draw(rng, 4000, 1, 2)
    feed(model, rows, labels)
    _, seen, _ = counts_of(model, 1)
    assert seen.sum() / 4000 == pytest.approx(weight, abs=4 * sqrt(weight / 4000))


def test_a_rare_class_weighs_more() -> None:
    """In a majority leaf the weight is 6 - 5 * 0.9 for the class of nine in ten, 6 - 5 * 0.1 else.

    The weights shift the leaf's prediction: the shares q and 1 - q of the classes settle where
    q = 0.9 (6 - 5 q) / (0.9 (6 - 5 q) + 0.1 (1 + 5 q)).
    """
    model = loader.load(loader.fastest()).HoeffdingTree(
        1, 2, depth=0, leaves=1, leaf="mc", boost=True, adaptive=False
    )
    rng = np.random.default_rng(6)
    labels = (rng.random(60_000) < 0.1).astype(np.int64)
    feed(model, np.zeros((60_000, 1), np.int64), labels)
    _, seen, _ = counts_of(model, 1)
    q = 0.5
    for _ in range(200):
        often, rare = 0.9 * (6 - 5 * q), 0.1 * (1 + 5 * q)
        q = (q + often / (often + rare)) / 2
    assert q < 0.85
    assert seen[0] / seen.sum() == pytest.approx(q, abs=0.02)


def test_a_twin_can_count_forever() -> None:
    """Over 200,000 samples of mean weight 16, a twin is halved at 32768, and keeps its ratios."""
    model = loader.load(loader.fastest()).HoeffdingTree(
        1, 2, depth=0, leaves=1, boost=True, lambda_min=16, lambda_max=16, adaptive=False
    )
    labels = np.array([0, 1, 1, 1] * 5000)
    leaf_samples = []
    for _ in range(10):
        feed(model, np.zeros((20_000, 1), np.int64), labels)
        counts, seen, prior = counts_of(model, 1)
        assert 16000 < seen.sum() < 32768
        assert seen[0] / seen.sum() == pytest.approx(0.25, abs=0.02)
        assert list(counts[0]) == list(seen) == list(prior)
        leaf_samples.append(counts_of(model, 0)[1].sum())
    assert max(leaf_samples) < 32768
    assert leaf_samples[0] == 20_000  # halved at 32768 of its own, not with its twin
    assert leaf_samples[1] == 40_000 - 16384

"""The Hoeffding tree: its pool of nodes and slots, and its predictions without a split."""

from __future__ import annotations

from array import array
from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_support import (
    Events,
    alternates,
    check_pool,
    contents,
    draw_block,
    due,
    feed,
    held,
    stir,
)
from property_support import examples

from microshrub_host.library import loader

POLICIES = ("vfdt", "efdt", "svfdt1", "svfdt2")

PARAMETERS = st.fixed_dictionaries(
    {
        "features": st.integers(1, 4),
        "classes": st.integers(2, 4),
        "depth": st.sampled_from([0, 1, 2, 5, 30]),
        "nodes": st.integers(1, 16),
        "leaves": st.integers(1, 7),
        "grace_period": st.integers(1, 25),
        "split_confidence": st.sampled_from([0.5, 0.1, 1e-7]),
        "tie_threshold": st.sampled_from([0, 0.05, 1]),
        "criterion": st.sampled_from(["infogain", "gini"]),
        "policy": st.sampled_from(POLICIES),
        "regularization": st.sampled_from([1.0, 0.5, 0.0]),
        "leaf": st.sampled_from(["mc", "nb", "nba"]),
        "bins": st.sampled_from([2, 3, 16]),
        "adaptive": st.booleans(),
        "boost": st.booleans(),
        "lambda_min": st.sampled_from([0, 1.0]),
        "lambda_max": st.sampled_from([1.0, 6.0, 16]),
        "seed": st.integers(0, 2**30 - 1),
    }
).map(lambda p: p | {"adaptive": p["adaptive"] and p["depth"] > 0})


@settings(max_examples=examples(150))
@given(PARAMETERS, st.integers(0, 2**32 - 1), st.lists(st.integers(1, 60), max_size=6))
def test_the_pool_is_valid_after_any_stream(
    parameters: dict[str, Any], seed: int, blocks: list[int]
) -> None:
    """The checked engine, which checks every pointer, agrees with the compiled one."""
    two_valued = (0,) if seed % 3 == 0 else ()
    checked, fast = (
        loader.load(engine).HoeffdingTree(two_valued=two_valued, **parameters)
        for engine in ("checked", loader.fastest())
    )
    rng = np.random.default_rng(seed)
    for size in blocks:
        rows, labels = draw_block(rng, size, checked)
        for model in (checked, fast):
            due(model)
            if model.adaptive:
                stir(model, seed + size)
        assert feed(checked, rows, labels) == feed(fast, rows, labels)
        check_pool(checked)
        assert contents(checked) == contents(fast)


@pytest.mark.parametrize("leaves", [2, 9, 40])
@pytest.mark.parametrize("regularization", [1.0, 0.5])
def test_nothing_leaks_in_many_resplits(leaves: int, regularization: float) -> None:
    """The policy is EFDT, and the concept changes a hundred times, every 5,000 samples."""
    model = loader.load(loader.fastest()).HoeffdingTree(
        3, 3, depth=5, nodes=25, leaves=leaves, policy="efdt", regularization=regularization,
        split_confidence=0.01, tie_threshold=0.1, grace_period=100,
    )  # fmt: skip
    rng = np.random.default_rng(leaves)
    roots = set()
    smaller = 0
    for _ in range(100):
        before = model.nodes_used
        for _ in range(5):
            rows, labels = draw_block(rng, 1000, model)
            feed(model, rows, labels)
        check_pool(model)
        roots.add(held(model)["tree.feature"][0])
        smaller += model.nodes_used < before
    assert roots == {0, 1, 2}  # the root changed its split
    assert leaves == 2 or smaller > 3  # and whole subtrees were taken back


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("boost", [False, True])
@pytest.mark.parametrize(("nodes", "leaves"), [(15, 2), (25, 9), (25, 40)])
def test_nothing_leaks_in_many_drifts(policy: str, boost: bool, nodes: int, leaves: int) -> None:
    """The tree is a HAT, and the concept changes two dozen times, every 2,000 samples."""
    model = loader.load(loader.fastest()).HoeffdingTree(
        3, 3, depth=5, nodes=nodes, leaves=leaves, policy=policy, adaptive=True, boost=boost,
        split_confidence=0.01, tie_threshold=0.1, grace_period=50, regularization=0.5,
    )  # fmt: skip
    rng = np.random.default_rng(leaves)
    events = Events()
    for _ in range(24):
        rows, labels = draw_block(rng, 2000, model)
        for at in range(0, 2000, 50):
            feed(model, rows[at : at + 50], labels[at : at + 50])
            events.look(model)
            if at % 500 == 0:
                check_pool(model)
    assert min(events.started, events.won, events.dropped) > 0, vars(events)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("boost", [False, True])
def test_alternates_come_and_go_as_the_windows_require(policy: str, boost: bool) -> None:
    """Every pointer is checked; there is not always room for an alternate."""
    model = loader.load("checked").HoeffdingTree(
        2, 2, depth=4, nodes=11, leaves=4, policy=policy, adaptive=True, boost=boost,
        split_confidence=0.5, tie_threshold=1, grace_period=10, leaf="mc",
    )  # fmt: skip
    rng = np.random.default_rng(7)
    events = Events()
    for i in range(100):
        rows, labels = draw_block(rng, 20, model)
        feed(model, rows, labels)
        events.look(model)
        check_pool(model)
        stir(model, i)
        if i % 3 == 0:
            due(model)
        row, label = draw_block(rng, 1, model)
        feed(model, row, label)
        events.look(model)
        check_pool(model)
    assert min(events.started, events.won, events.dropped, events.restarted) > 0, vars(events)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("nodes", "full"), [(1, True), (2, True), (3, True), (4, True), (99, False)]
)
@pytest.mark.parametrize("adaptive", [False, True])
def test_full_is_set_when_the_nodes_run_out(
    policy: str, nodes: int, full: bool, adaptive: bool
) -> None:
    model = loader.load("checked").HoeffdingTree(
        1, 2, nodes=nodes, policy=policy, adaptive=adaptive, grace_period=50,
        split_confidence=0.1, bins=8,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    assert not model.full
    for _ in range(4):
        rows = rng.integers(0, 65536, (400, 1))
        feed(model, rows, rows[:, 0] // 8192 % 2)
        check_pool(model)
    assert model.full == full
    assert nodes - 1 <= model.nodes_used <= nodes if full else model.nodes_used > 4
    model.reset()
    assert not model.full
    assert model.nodes_used == 1


def test_an_inner_node_that_becomes_a_leaf_counts_the_sample_once() -> None:
    model = loader.load("checked").HoeffdingTree(
        1,
        2,
        nodes=3,
        leaves=3,
        policy="efdt",
        grace_period=20,
        split_confidence=0.5,
        tie_threshold=1,
        adaptive=False,
        bins=16,
    )
    rows = np.random.default_rng(0).integers(0, 65536, (20, 1))
    feed(model, rows, rows[:, 0] // 32768)
    assert model.nodes_used == 3
    b = held(model)
    b["observers.counts"][:32] = array("H", [0, 1] * 16)  # one class: no gain is left
    b["observers.seen"][:2] = b["observers.prior"][:2] = array("H", [0, 16])
    due(model)
    model.learn(array("H", [5]), 1)
    check_pool(model)
    assert model.nodes_used == 1
    assert list(b["observers.seen"][:2]) == [0, 17]


def test_an_inner_node_is_reviewed_every_2000_samples() -> None:
    model = loader.load(loader.fastest()).HoeffdingTree(
        1, 2, nodes=3, leaves=3, policy="efdt", adaptive=False, bins=16
    )
    rows = np.random.default_rng(0).integers(0, 65536, (8000, 1))
    waited, since = [], held(model)["tree.since"]
    for row in rows:
        before = since[0] if model.nodes_used == 3 else 0
        feed(model, row, row // 32768)
        if since[0] < before:
            waited.append(before + 1)
    assert model.nodes_used == 3
    assert waited[-2:] == [2000, 2000]


# Naive Bayes alone


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_depth_0_is_naive_bayes(seed: int) -> None:
    """Each predicted class has a float64 score, in the same bins, within 2 e bits of the best."""
    features, classes, bins = 3, 4, 16
    e = (1 + 2 * features) * 6 / 16384
    rng = np.random.default_rng(seed)
    labels = rng.choice(classes, 5000, p=[0.5, 0.3, 0.15, 0.05])
    rows = np.clip(
        rng.normal(rng.integers(0, 65536, (classes, features))[labels], 15000), 0, 65535
    ).astype(np.int64)
    model = loader.load(loader.fastest()).HoeffdingTree(
        features, classes, depth=0, leaf="nb", adaptive=False, bins=bins
    )
    answer = feed(model, rows, labels)
    assert model.nodes_used == 1
    counts, seen = np.zeros((features, bins, classes)), np.zeros(classes)
    differ = 0
    for row, label, prediction in zip(rows * bins // 65536, labels, answer, strict=True):
        with np.errstate(divide="ignore"):
            scores = np.log2(seen) - features * np.log2(seen + bins)
        for f in range(features):
            scores += np.log2(counts[f, row[f]] + 1)
            counts[f, row[f], label] += 1
        if seen.any():
            assert scores[prediction] >= scores.max() - 2 * e
            differ += prediction != np.argmax(scores)
        seen[label] += 1
    assert differ < 10
    assert log2(classes) == 2


@pytest.mark.parametrize("policy", POLICIES)
def test_depth_0_with_majority_leaves_is_the_majority(policy: str) -> None:
    model = loader.load(loader.fastest()).HoeffdingTree(
        2, 3, depth=0, leaf="mc", policy=policy, adaptive=False
    )
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=900)
    answer = feed(model, rng.integers(0, 65536, (900, 2)), labels)
    for i, prediction in enumerate(answer):
        assert prediction == np.argmax(np.bincount(labels[:i], minlength=3))


# Saving


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("adaptive", "boost"), [(False, False), (True, False), (True, True)])
def test_a_saved_tree_continues_unchanged(policy: str, adaptive: bool, boost: bool) -> None:
    parameters: dict[str, Any] = {
        "features": 3, "classes": 3, "policy": policy, "grace_period": 50, "nodes": 15,
        "leaves": 4, "split_confidence": 0.1, "regularization": 0.5, "two_valued": (1,),
        "adaptive": adaptive, "boost": boost, "seed": 5,
    }  # fmt: skip
    library = loader.load("checked")
    one, other = (library.HoeffdingTree(**parameters) for _ in range(2))
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 65536, (500, 3))
    feed(one, rows, rows[:, 0] // 22000)
    assert one.nodes_used > 1
    if adaptive:
        stir(one, 1)
        feed(one, rows[:1], rows[:1, 0] // 22000)
        assert alternates(one)
    other.load(one.save())
    assert contents(one) == contents(other)
    assert other.nodes_used == one.nodes_used
    rows, labels = draw_block(rng, 300, one)
    assert feed(one, rows, labels) == feed(other, rows, labels)
    assert contents(one) == contents(other)
    assert library.HoeffdingTree.nbytes(**parameters) == sum(map(len, contents(one).values()))
    one.reset()
    assert contents(one) == contents(library.HoeffdingTree(**parameters))


OTHERS: dict[str, Any] = {
    "features": 2, "classes": 3, "depth": 7, "nodes": 125, "leaves": 15, "grace_period": 100,
    "split_confidence": 1e-3, "tie_threshold": 0.1, "criterion": "gini", "policy": "efdt",
    "regularization": 0.5, "adaptive": False, "leaf": "mc", "boost": True, "lambda_min": 0.5,
    "lambda_max": 7.0, "bins": 9, "two_valued": (0,), "seed": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_a_state_of_another_configuration_is_refused(name: str) -> None:
    tree = loader.load("checked").HoeffdingTree
    common = {"features": 1, "classes": 2}
    model = tree(**common)
    before = model.state_crc32()
    with pytest.raises(ValueError, match=f"saved state is of .* {name}="):
        model.load(tree(**common | {name: OTHERS[name]}).save())
    assert model.state_crc32() == before


def test_every_parameter_is_in_the_configuration() -> None:
    rows = loader.load("checked").HoeffdingTree._rows()
    assert set(OTHERS) == {"features", "classes", *(row[0] for row in rows)}

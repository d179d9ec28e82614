"""The Hoeffding tree: its pool of nodes and slots, and what it predicts without a split."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from microshrub_host import firmware

Ints = NDArray[np.int64]
NO_SLOT = 65535
NODES, SLOTS, NEXT_NODE, NEXT_SLOT, FREE_PAIR, FREE_SLOT, COUNT = range(7)  # as in nodes.py
POLICIES = ("vfdt", "efdt")


def held(model: Any) -> dict[str, Any]:
    return {name: buffer for name, _, buffer in model.buffers()}


def contents(model: Any) -> dict[str, bytes]:
    return {name: bytes(memoryview(buffer)) for name, _, buffer in model.buffers()}


def feed(model: Any, rows: Ints, labels: Ints) -> bytes:
    said = bytearray(len(labels))
    model.run(array("H", rows.ravel().tolist()), bytearray(labels.tolist()), said)
    return bytes(said)


# What holds of the pool at any time


@dataclass
class Visit:
    """A node, and what the tests above leave open: per feature the least and greatest code."""

    node: int
    level: int
    low: list[int]
    high: list[int]


def walk(model: Any) -> list[Visit]:
    """Every node below the root, each once."""
    b = held(model)
    everything = Visit(0, 0, [0] * model.features, [65535] * model.features)
    waiting, found = [everything], []
    while waiting:
        at = waiting.pop()
        found.append(at)
        assert len(found) <= model.nodes, "a node is reached twice"
        left = b["tree.child"][at.node]
        if not left:
            continue
        feature, threshold = b["tree.feature"][at.node], b["tree.threshold"][at.node]
        assert at.low[feature] <= threshold < at.high[feature]
        high, low = list(at.high), list(at.low)
        high[feature], low[feature] = threshold, threshold + 1
        waiting.append(Visit(left, at.level + 1, at.low, high))
        waiting.append(Visit(left + 1, at.level + 1, low, at.high))
    return found


def follow(links: Any, first: int, end: int) -> list[int]:
    found = []
    while first != end:
        found.append(first)
        assert len(found) <= len(links), "a list that ends nowhere"
        first = links[first]
    return found


def check_pool(model: Any) -> None:
    """Nodes, then slots: each is in use once, or free once, or was never used."""
    b = held(model)
    words = b["tree.shape"]
    visits = walk(model)
    reached = [visit.node for visit in visits]
    assert len(set(reached)) == len(reached) == words[COUNT] == model.nodes_used <= model.nodes
    used = [b["tree.child"][node] for node in reached if b["tree.child"][node]]
    free = follow(b["tree.child"], words[FREE_PAIR], 0)
    assert sorted(used + free) == list(range(1, words[NEXT_NODE], 2))
    assert words[NEXT_NODE] <= model.nodes
    assert words[NODES] == model.nodes
    assert words[SLOTS] == model.leaves

    slot = b["tree.slot"]
    owned = {slot[node]: node for node in reached if slot[node] != NO_SLOT}
    spare = follow(b["tree.owner"], words[FREE_SLOT], NO_SLOT)
    assert sorted([*owned, *spare]) == list(range(words[NEXT_SLOT]))
    assert words[NEXT_SLOT] <= model.leaves
    assert len(owned) == sum(slot[node] != NO_SLOT for node in reached)
    assert all(b["tree.owner"][s] == node for s, node in owned.items())
    for visit in visits:
        check_node(model, b, visit)


def check_node(model: Any, b: dict[str, Any], visit: Visit) -> None:
    s = b["tree.slot"][visit.node]
    inner = b["tree.child"][visit.node] != 0
    assert visit.level <= model.depth - inner
    if s == NO_SLOT:
        assert inner or b["tree.feature"][visit.node] < model.classes
        return
    assert not inner or model.policy == "efdt"
    ranges = slice(s * model.features, (s + 1) * model.features)
    assert list(b["observers.low"][ranges]) == visit.low
    assert list(b["observers.high"][ranges]) == visit.high
    classes = slice(s * model.classes, (s + 1) * model.classes)
    seen, prior = np.array(b["observers.seen"][classes]), np.array(b["observers.prior"][classes])
    assert (seen <= prior).all()
    assert prior.sum() < 32768
    first = b["observers.first"]
    counts = np.array(b["observers.counts"]).reshape(-1, first[model.features], model.classes)[s]
    for f in range(model.features):
        of_feature = counts[first[f] : first[f + 1]].sum(axis=0)
        assert (of_feature <= seen).all()
        if prior.sum() < 16384 - 256:  # never halved, since these streams are short
            assert (of_feature == seen).all()
    assert b["tree.since"][s] < (2000 if inner else model.grace_period)


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
    }
)


def draw_block(rng: np.random.Generator, samples: int, model: Any) -> tuple[Ints, Ints]:
    """A concept of its own: which feature says how much about the class, and where."""
    rows = rng.integers(0, 65536, (samples, model.features))
    if rng.random() < 0.4:
        rows = rng.choice([0, 1, 30000, 65535], rows.shape)
    column = rows[:, rng.integers(model.features)] * int(rng.integers(1, 4)) % 65536
    labels = column * model.classes // 65536
    noise = rng.random(samples) < rng.choice([0, 0.3, 1])
    return rows, np.where(noise, rng.integers(model.classes, size=samples), labels)


def due(model: Any) -> None:
    """Make every inner node look at its split again with the next sample."""
    b = held(model)
    for visit in walk(model):
        s = b["tree.slot"][visit.node]
        if b["tree.child"][visit.node] and s != NO_SLOT:
            b["tree.since"][s] = 1999


@settings(max_examples=150)
@given(PARAMETERS, st.integers(0, 2**32 - 1), st.lists(st.integers(1, 60), max_size=6))
def test_the_pool_is_whole_after_any_stream(
    parameters: dict[str, Any], seed: int, blocks: list[int]
) -> None:
    """And the checked engine, which sees every pointer, agrees with numba about all of it."""
    two_valued = (0,) if seed % 3 == 0 else ()
    checked, numba = (
        firmware.load(engine).HoeffdingTree(two_valued=two_valued, **parameters)
        for engine in ("checked", "numba")
    )
    rng = np.random.default_rng(seed)
    for size in blocks:
        rows, labels = draw_block(rng, size, checked)
        for model in (checked, numba):
            due(model)
        assert feed(checked, rows, labels) == feed(numba, rows, labels)
        check_pool(checked)
        assert contents(checked) == contents(numba)


@pytest.mark.parametrize("leaves", [2, 9, 40])
@pytest.mark.parametrize("regularization", [1.0, 0.5])
def test_nothing_leaks_in_many_resplits(leaves: int, regularization: float) -> None:
    """EFDT while the concept changes every 5,000 samples, a hundred times."""
    model = firmware.load("numba").HoeffdingTree(
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
    assert roots == {0, 1, 2}  # the root changed its mind
    assert leaves == 2 or smaller > 3  # and whole subtrees came back


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("nodes", "full"), [(1, True), (2, True), (3, True), (4, True), (99, False)]
)
def test_full_is_set_when_the_nodes_run_out(policy: str, nodes: int, full: bool) -> None:
    model = firmware.load("checked").HoeffdingTree(
        1, 2, nodes=nodes, policy=policy, grace_period=50, split_confidence=0.1, bins=8
    )
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
    model = firmware.load("checked").HoeffdingTree(
        1, 2, nodes=3, policy="efdt", grace_period=20, split_confidence=0.5, tie_threshold=1
    )
    rows = np.random.default_rng(0).integers(0, 65536, (20, 1))
    feed(model, rows, rows[:, 0] // 32768)
    assert model.nodes_used == 3
    b = held(model)
    b["observers.counts"][:32] = array("H", [0, 1] * 16)  # one class: nothing to gain any more
    b["observers.seen"][:2] = b["observers.prior"][:2] = array("H", [0, 16])
    due(model)
    model.learn(array("H", [5]), 1)
    check_pool(model)
    assert model.nodes_used == 1
    assert list(b["observers.seen"][:2]) == [0, 17]


# Naive Bayes alone


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_depth_0_is_naive_bayes(seed: int) -> None:
    """Prequentially, over the same bins, in float64: the classes' scores are off by 2 e bits."""
    features, classes, bins = 3, 4, 16
    e = (1 + 2 * features) * 6 / 16384
    rng = np.random.default_rng(seed)
    labels = rng.choice(classes, 5000, p=[0.5, 0.3, 0.15, 0.05])
    rows = np.clip(
        rng.normal(rng.integers(0, 65536, (classes, features))[labels], 15000), 0, 65535
    ).astype(np.int64)
    model = firmware.load("numba").HoeffdingTree(features, classes, depth=0, leaf="nb")
    said = feed(model, rows, labels)
    assert model.nodes_used == 1
    counts, seen = np.zeros((features, bins, classes)), np.zeros(classes)
    differ = 0
    for row, label, prediction in zip(rows * bins // 65536, labels, said, strict=True):
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
    model = firmware.load("numba").HoeffdingTree(2, 3, depth=0, leaf="mc", policy=policy)
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=900)
    said = feed(model, rng.integers(0, 65536, (900, 2)), labels)
    for i, prediction in enumerate(said):
        assert prediction == np.argmax(np.bincount(labels[:i], minlength=3))


# Saving


@pytest.mark.parametrize("policy", POLICIES)
def test_a_saved_tree_goes_on_as_if_nothing_had_been(policy: str) -> None:
    parameters: dict[str, Any] = {
        "features": 3, "classes": 3, "policy": policy, "grace_period": 50, "nodes": 15,
        "leaves": 4, "split_confidence": 0.1, "regularization": 0.5, "two_valued": (1,),
    }  # fmt: skip
    library = firmware.load("checked")
    one, other = (library.HoeffdingTree(**parameters) for _ in range(2))
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 65536, (500, 3))
    feed(one, rows, rows[:, 0] // 22000)
    assert one.nodes_used > 1
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
    "regularization": 0.5, "leaf": "mc", "bins": 8, "two_valued": (0,),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_a_state_of_another_configuration_is_refused(name: str) -> None:
    tree = firmware.load("checked").HoeffdingTree
    common = {"features": 1, "classes": 2}
    model = tree(**common)
    before = model.state_crc32()
    with pytest.raises(ValueError, match=f"the saved state is of .* {name}="):
        model.load(tree(**common | {name: OTHERS[name]}).save())
    assert model.state_crc32() == before


def test_every_parameter_is_in_the_configuration() -> None:
    code = firmware.load("checked").HoeffdingTree.__init__.__code__
    assert set(OTHERS) == set(code.co_varnames[1 : code.co_argcount])

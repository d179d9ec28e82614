"""HAT: when alternate subtrees start and replace, that no node leaks, and the gain in accuracy."""

from __future__ import annotations

import sys
from array import array
from math import log, sqrt
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pool_support import NO_SLOT, check_pool, feed, held, place
from property_support import examples

from microshrub_host.library import loader

Ints = NDArray[np.int64]
LIBRARY = loader.load("checked").__name__
adaptive: ModuleType = sys.modules[LIBRARY + ".hoeffding.hat"]
drift: ModuleType = sys.modules[LIBRARY + ".adwin"]
U = 1 / 16384


def draw(rng: np.random.Generator, samples: int, features: int, classes: int) -> tuple[Ints, Ints]:
    """Draw samples of a new concept, with noise or without."""
    rows = rng.integers(0, 65536, (samples, features))
    if rng.random() < 0.3:
        rows = rng.choice([0, 1, 30000, 65535], rows.shape)
    labels = rows[:, rng.integers(features)] * int(rng.integers(1, 4)) % 65536 * classes // 65536
    labels = (labels + rng.integers(classes)) % classes
    noise = rng.random(samples) < rng.choice([0, 0.2, 1])
    return rows, np.where(noise, rng.integers(classes, size=samples), labels)


# The pool


def way_of(model: Any, row: list[int]) -> list[int]:
    """Return the nodes on a sample's path, of a tree for two classes, the leaf last."""
    b = held(model)
    path = [0]
    while b["tree.child"][path[-1]]:
        right = row[b["tree.feature"][path[-1]]] > b["tree.threshold"][path[-1]]
        path.append(b["tree.child"][path[-1]] + right)
    return path


def samples_of(b: dict[str, Any], slot: int) -> int:
    """Return how many samples a slot of two classes has counted."""
    return sum(b["observers.seen"][2 * slot : 2 * slot + 2])


PARAMETERS = st.fixed_dictionaries(
    {
        "features": st.integers(1, 3),
        "classes": st.integers(2, 4),
        "depth": st.sampled_from([1, 2, 5, 30]),
        "nodes": st.sampled_from([1, 2, 3, 4, 5, 7, 16, 41]),
        "leaves": st.sampled_from([1, 2, 3, 9]),
        "grace_period": st.integers(5, 40),
        "split_confidence": st.sampled_from([0.5, 0.1]),
        "tie_threshold": st.sampled_from([0.05, 1]),
        "policy": st.sampled_from(["vfdt", "efdt", "svfdt1", "svfdt2"]),
        "regularization": st.sampled_from([1.0, 0.5]),
        "leaf": st.sampled_from(["mc", "nb", "nba"]),
        "boost": st.booleans(),
    }
)


@settings(max_examples=examples(20))
@given(PARAMETERS, st.integers(0, 2**32 - 1), st.lists(st.integers(20, 150), max_size=3))
def test_the_pool_is_valid_after_any_stream(
    parameters: dict[str, Any], seed: int, blocks: list[int]
) -> None:
    """This holds in the checked engine for any pool; the compiled engine has the same bits."""
    checked, fast = (
        loader.load(engine).HoeffdingTree(adaptive=True, bins=4, **parameters)
        for engine in ("checked", loader.fastest())
    )
    rng = np.random.default_rng(seed)
    for size in blocks:
        rows, labels = draw(rng, size, checked.features, checked.classes)
        assert feed(checked, rows, labels) == feed(fast, rows, labels)
        check_pool(checked)
        assert checked.save() == fast.save()


@pytest.mark.parametrize("nodes", [3, 4, 5, 7, 31])
@pytest.mark.parametrize("leaves", [1, 2, 3, 9])
@pytest.mark.parametrize("policy", ["vfdt", "efdt"])
def test_nothing_leaks_in_many_changes(nodes: int, leaves: int, policy: str) -> None:
    """In a hundred concepts of 2,000 samples, the tree shrinks and grows again and again."""
    model = loader.load(loader.fastest()).HoeffdingTree(
        2, 2, depth=5, nodes=nodes, leaves=leaves, adaptive=True, policy=policy,
        split_confidence=0.01, tie_threshold=0.1, grace_period=100,
    )  # fmt: skip
    rng = np.random.default_rng(nodes + leaves)
    used = []
    for _ in range(200):
        feed(model, *draw(rng, 1000, 2, 2))
        check_pool(model)
        used.append(model.nodes_used)
    assert max(used) <= nodes
    if nodes > 4:  # smaller ones shrink to a leaf and grow again between two checks
        assert np.count_nonzero(np.diff(used) < 0) > 5
        assert np.count_nonzero(np.diff(used) > 0) > 5


# When subtrees start


def flips(rng: np.random.Generator, samples: int, noise: float) -> tuple[Ints, Ints]:
    """Draw samples whose class follows one feature; half way, the rule is reversed."""
    rows = rng.integers(0, 65536, (samples, 2))
    labels = (rows[:, 0] > 30000) ^ (np.arange(samples) >= samples // 2)
    return rows, (labels ^ (rng.random(samples) < noise)).astype(np.int64)


@pytest.mark.parametrize(
    ("nodes", "leaves"), [pytest.param(31, 9, marks=pytest.mark.long), (7, 3), (5, 1)]
)
def test_alternates_start_where_the_error_rose_and_replace_where_it_is_lower(
    nodes: int, leaves: int
) -> None:
    """For each sample, copies of the windows with the same errors predict the events."""
    model, twin = (
        loader.load("checked").HoeffdingTree(
            2, 2, depth=4, nodes=nodes, leaves=leaves, adaptive=True, leaf="nb",
            split_confidence=0.05, tie_threshold=0.1, grace_period=100,
        )
        for _ in range(2)
    )  # fmt: skip
    b, copies = held(model), twin._addresses
    windows = place(model, "drift.width")
    rng = np.random.default_rng(1)
    rows, labels = flips(rng, 5000, 0.1)
    done = {"started": 0, "replaced": 0, "given up": 0, "restarted": 0, "forgotten": 0}
    for at, (row, label) in enumerate(zip(rows.tolist(), labels.tolist(), strict=True)):
        *way, leaf = way_of(model, row)
        pairs = [b["tree.child"][node] >> 1 for node in way]
        slot = b["tree.slot"][leaf]
        seen = samples_of(b, slot) if slot != NO_SLOT else 0
        before = list(b["tree.alternate"])
        for name, buffer in held(twin).items():
            if name.startswith("drift."):
                buffer[:] = b[name]
        predicted = model.learn(array("H", row), label)
        for node, pair in zip(way, pairs, strict=True):
            rose = drift.add_bit(copies, windows, pair, int(predicted != label))
            old, new = before[pair], b["tree.alternate"][pair]
            verdict = adaptive.compare(copies, pair, old >> 1) if old and not rose else 0
            if rose and b["tree.child"][node] == 0:
                done["restarted"] += 1
                break
            if verdict > 0:
                assert not b["tree.child"][node] or b["tree.child"][node] >> 1 != pair
                done["replaced"] += 1
                break
            assert b["tree.child"][node] >> 1 == pair
            if rose and not new:  # no slot was free
                owners = [b["tree.owner"][s] for s in range(leaves)]
                assert all(b["tree.gain"][o] == 1 and not b["tree.child"][o] for o in owners)
            elif rose:
                done["started"] += 1
            else:
                assert new == (0 if verdict < 0 else old)
                done["given up"] += verdict < 0
        else:
            if slot != NO_SLOT and b["tree.slot"][leaf] == slot:
                rose = drift.add_bit(copies, windows, nodes // 2 + slot, int(predicted != label))
                assert samples_of(b, slot) == (1 if rose else seen + 1)
                done["forgotten"] += rose
        if at % 8 == 0 or list(b["tree.alternate"]) != before:  # errors in the pool persist
            check_pool(model)
    assert done["started"] + done["restarted"]
    assert nodes > 5 or not done["started"]  # no room for an alternate
    assert nodes < 15 or done["replaced"]
    predicted = np.frombuffer(feed(model, rows[-500:], labels[-500:]), np.uint8)
    assert (predicted == labels[-500:]).mean() > 0.8


@pytest.mark.parametrize("leaves", [1, 2, 3])
def test_with_a_full_pool_the_node_itself_restarts(leaves: int) -> None:
    model = loader.load("checked").HoeffdingTree(
        2, 2, nodes=3, leaves=leaves, adaptive=True, leaf="mc", grace_period=100,
        split_confidence=0.05, tie_threshold=0.1, bins=8,
    )  # fmt: skip
    rng = np.random.default_rng(3)
    rows, labels = flips(rng, 4000, 0.05)
    feed(model, rows[:2000], labels[:2000])
    assert model.nodes_used == 3
    used = set()
    for row, label in zip(rows[2000:].tolist(), labels[2000:].tolist(), strict=True):
        model.learn(array("H", row), label)
        used.add(model.nodes_used)
        if model.nodes_used == 1:
            assert held(model)["tree.slot"][0] != NO_SLOT  # a leaf that learns
    assert used == {1, 3}  # and it split again
    values = np.frombuffer(feed(model, rows[-500:], labels[-500:]), np.uint8)
    assert (values == labels[-500:]).mean() > 0.85


# Which subtree wins


def two_windows() -> Any:
    """Return a tree with two windows."""
    return loader.load("checked").HoeffdingTree(1, 2, nodes=3, leaves=1, adaptive=True)


def window_of(model: Any, k: int, width: int, ones: int) -> None:
    b = held(model)
    b["drift.width"][k], b["drift.total"][k] = width, ones


@settings(max_examples=examples(300))
@given(
    st.integers(0, 16380),
    st.integers(0, 16380),
    st.floats(0, 1),
    st.one_of(st.floats(-0.1, 0.1), st.floats(-1, 1)),
)
def test_compare_matches_the_formula_in_floats(
    old: int, new: int, p: float, change: float
) -> None:
    """Means and variance are off by up to 2/16384, the bound by 1 more, and m by up to 1."""
    d = two_windows()
    q = min(1.0, max(0.0, p + change))
    window_of(d, 0, old, round(p * old))
    window_of(d, 1, new, round(q * new))
    comparison = adaptive.compare(d._addresses, 0, 1)
    if min(old, new) < 300:
        assert comparison == 0
        return
    share, other = round(p * old) / old, round(q * new) / new
    v, m = share * (1 - share), 1 / (1 / old + 1 / new)
    low = sqrt(max(0.0, 2 * (v - 2 * U) * log(2 / 0.05) / m)) - 3 * U
    high = sqrt(2 * (v + U) * (log(2 / 0.05) + 1 / 1024) / int(m)) + U
    ahead = share - other
    if abs(ahead) > high + U:
        assert comparison == (1 if ahead > 0 else -1)
    elif abs(ahead) < low - U:
        assert comparison == 0
    else:
        assert comparison in (0, 1 if ahead > 0 else -1)


def test_compare_detects_smaller_differences_in_wider_windows() -> None:
    """The least difference that it detects shrinks from 8 to 1 points, in both directions."""
    d = two_windows()
    least = []
    for width in (300, 1000, 4000, 16000):
        window_of(d, 0, width, width // 2)
        results = []
        for way in (-1, 1):
            by = 0
            while not by or adaptive.compare(d._addresses, 0, 1) == 0:
                by += 1
                window_of(d, 1, width, width // 2 + way * by)
            assert adaptive.compare(d._addresses, 0, 1) == -way
            results.append(by / width)
        assert abs(results[0] - results[1]) <= 2 / width
        exact = sqrt(2 * 0.25 * log(40) / (width / 2))
        assert results[0] == pytest.approx(exact, rel=0.03)
        least.append(results[0])
    assert least == sorted(least, reverse=True)


# The gain in accuracy


def concept(rng: np.random.Generator, samples: int, which: int) -> tuple[Ints, Ints]:
    """Draw samples with two of four features in a 3 by 3 checkerboard, with a tenth of noise."""
    rows = rng.integers(0, 65536, (samples, 4))
    cells = rows[:, [which, which + 1]] // 21846
    labels = (cells[:, 0] + cells[:, 1] * (1 + which)) % 2
    return rows, np.where(rng.random(samples) < 0.1, 1 - labels, labels)


SIZES: dict[str, Any] = {"depth": 8, "nodes": 127, "leaves": 32}


def right_of(blocks: list[tuple[Ints, Ints]], **parameters: Any) -> list[NDArray[np.bool_]]:
    model = loader.load(loader.fastest()).HoeffdingTree(
        4, 2, split_confidence=1e-3, tie_threshold=0.1, grace_period=100, **SIZES | parameters
    )
    return [np.frombuffer(feed(model, *block), np.uint8) == block[1] for block in blocks]


@pytest.mark.parametrize("leaf", ["mc", "nba"])
@pytest.mark.parametrize("policy", ["vfdt", "svfdt2"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_recovers_from_an_abrupt_change(seed: int, policy: str, leaf: str) -> None:
    """In the last third after the change, accuracy is over 10 points above the plain tree's."""
    rng = np.random.default_rng(seed)
    blocks = [concept(rng, 20_000, which) for which in (0, 2)]
    kept, plain = (
        right_of(blocks, adaptive=adapts, leaf=leaf, policy=policy)[1][-6667:].mean()
        for adapts in (True, False)
    )
    assert kept > plain + 0.1


@pytest.mark.parametrize("leaf", ["mc", "nba"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_costs_little_accuracy_without_drift(seed: int, leaf: str) -> None:
    """The loss is less than a point over 40,000 samples."""
    rng = np.random.default_rng(seed)
    blocks = [concept(rng, 40_000, 0)]
    kept, plain = (
        right_of(blocks, adaptive=adapts, leaf=leaf)[0].mean() for adapts in (True, False)
    )
    assert kept > plain - 0.01

"""A grove seen from outside: its trees are trees, grown on the samples of their time."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())


def held(model: Any) -> dict[str, Any]:
    return {name: np.array(buffer) for name, _, buffer in model.buffers()}


def leaf_of(model: Any, b: dict[str, Any], slot: int, codes: Any) -> int:
    """Return the leaf of a slot's tree for a sample of 8-bit codes; check the path to it."""
    inner = model.leaves - 1
    kids = b["grove.kids"].astype(int)
    places = 2 * inner * (model.trees + 1)
    if len(kids) > places:  # the upper bits of all come last
        kids = kids[:places] + 256 * kids[places:]
    node, passed = 0, set()
    while node < inner:
        assert node not in passed
        passed.add(node)
        k = slot * inner + node
        node = int(kids[2 * k + int(codes[b["grove.feature"][k]] > b["grove.threshold"][k])])
    return node - inner


def draw(model: Any, seed: int, samples: int) -> tuple[Any, Any]:
    """Draw codes, and labels that depend on them; one in five is random."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 65536, (samples, model.features))
    labels = (codes[:, 0] >> 13) % model.classes
    labels = np.where(rng.random(samples) < 0.2, rng.integers(model.classes, size=samples), labels)
    return codes, labels


def feed(model: Any, seed: int, samples: int) -> tuple[Any, Any]:
    codes, labels = draw(model, seed, samples)
    model.run(array("H", codes.ravel().tolist()), bytearray(labels.tolist()), bytearray(samples))
    return codes, labels


def grow_until_half(model: Any, seed: int, samples: int) -> set[int]:
    """Learn samples; return the places overwritten since the growing tree was planted."""
    overwritten: set[int] = set()
    before = held(model)
    for codes, label in zip(*draw(model, seed, samples), strict=True):
        model.learn(array("H", codes.tolist()), int(label))
        after = held(model)
        for name in ("ring.codes", "ring.labels"):
            changed = (after[name] != before[name]).reshape(model.window, -1).any(axis=1)
            overwritten |= set(np.flatnonzero(changed).tolist())
        if after["grove.state"][5] == 0:  # just planted
            overwritten = set()
        before = after
    return overwritten


@settings(max_examples=examples(30))
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.integers(2, 5),
    st.integers(8, 400),
    st.integers(2, 300),
    st.integers(1, 40),
    st.integers(1, 300),
)
def test_the_growing_tree_is_a_tree_over_its_samples(
    seed: int, features: int, classes: int, window: int, leaves: int, every: int, samples: int
) -> None:
    """At any time, half grown or done, each sample of the line is in the leaf that it reaches.

    Samples that were overwritten since may be anywhere.
    """
    model = LIBRARY.Grove(
        features, classes, window=window, trees=3, leaves=leaves, every=every, seed=seed >> 2
    )
    overwritten = grow_until_half(model, seed, samples)
    b = held(model)
    slot, growing, _, _, inner_used = b["sprout.state"][:5]
    shares = b["grove.leaves"].reshape(4, leaves, classes - 1)
    for s in range(min(model.trees_used + 1, 4)):
        assert shares[s].sum(axis=1).max() <= 255
    if not growing:
        return
    seen = []
    ring = b["ring.codes"].reshape(-1, features)
    for leaf in range(inner_used + 1):
        line = b["sprout.line"][b["sprout.begin"][leaf] : b["sprout.end"][leaf]]
        assert len(line)
        seen += line.tolist()
        kept = [place for place in line if place not in overwritten]
        assert {leaf_of(model, b, slot, ring[place]) for place in kept} <= {leaf}
        if len(kept) == len(line):
            counts = np.bincount(b["ring.labels"][line], minlength=classes)
            assert shares[slot, leaf] == pytest.approx(counts[:-1] * 255 / len(line), abs=1.01)
    assert len(set(seen)) == len(seen) <= window


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
@settings(max_examples=examples(10))
def test_predictions_are_the_weighted_shares_of_the_leaves(seed: int, classes: int) -> None:
    model = LIBRARY.Grove(3, classes, window=40, trees=4, leaves=9, every=7)
    codes, _ = feed(model, seed, 200)
    model.predict(array("H", codes[0].tolist()))
    b = held(model)
    growing = b["sprout.state"][0]
    total = np.zeros(classes)
    for slot in set(range(model.trees_used + 1)) - {growing}:
        leaf = leaf_of(model, b, slot, codes[0] >> 8)
        shares = b["grove.leaves"].reshape(5, 9, classes - 1)[slot, leaf].astype(float)
        total += b["grove.weight"][slot] * np.append(shares, 255 - shares.sum())
    assert np.array(model.votes) / (65536 * 255) == pytest.approx(total / total.sum(), abs=0.01)


def test_a_new_tree_replaces_the_worst_one() -> None:
    model = LIBRARY.Grove(2, 2, window=30, trees=3, leaves=4, every=5)
    feed(model, 1, 400)
    assert model.trees_used == 3
    b = held(model)
    accuracy, growing = b["grove.accuracy"], b["sprout.state"][0]
    assert all(b["grove.weight"][s] > 0 for s in range(4) if s != growing)
    best = max((s for s in range(4) if s != growing), key=lambda s: accuracy[s])
    assert b["grove.weight"][best] == 16384


def test_it_learns_the_concept_of_a_tree() -> None:
    model = LIBRARY.Grove(2, 2, window=200, trees=8, leaves=16)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 65536, (3000, 2))
    labels = (codes[:, 0] > 30000) ^ (codes[:, 1] > 40000)
    written = bytearray(3000)
    model.run(array("H", codes.ravel().tolist()), bytearray(labels.tolist()), written)
    assert np.mean(np.frombuffer(written, dtype=np.uint8)[1000:] == labels[1000:]) > 0.95

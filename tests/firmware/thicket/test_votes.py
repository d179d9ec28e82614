"""A label's effect on a grove's trees, and the trees' weights, compared with floats."""

from __future__ import annotations

import sys
from array import array
from typing import Any

import numpy as np
import pytest
from pool_support import buffer_of

from microshrub_host.library import loader

PLAIN = loader.load("python")
KERNELS = sys.modules[f"{PLAIN.__name__}.thicket.grove"]
RATE = 8 / 256  # the leaves' learning rate


def grown(classes: int) -> Any:
    """Return a grove of some trees that has just predicted a sample."""
    grove = PLAIN.Grove(3, classes, window=60, trees=6, leaves=8, every=10)
    rng = np.random.default_rng(classes)
    codes = rng.integers(0, 65536, (500, 3))
    labels = (codes[:, 0] >> 12) % classes
    written = bytearray(500)
    grove.run(array("H", codes.ravel().tolist()), bytearray(labels.tolist()), written)
    grove.predict(array("H", [30000, 20000, 9000]))
    return grove


def voting(grove: Any) -> list[int]:
    """Return the slots of the trees that vote."""
    growing = buffer_of(grove, "sprout.state")[0]
    return [s for s in range(grove.trees_used + 1) if s != growing]


def shares(grove: Any, slot: int) -> Any:
    """Return the class shares, 0..255, of the leaf that the sample reached."""
    last = grove.classes - 1
    at = (slot * grove.leaves + buffer_of(grove, "grove.path")[slot]) * last
    known = list(buffer_of(grove, "grove.leaves")[at : at + last])
    return np.array([*known, 255 - sum(known)], dtype=float)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_leaves_continue_to_learn_at_their_rate(classes: int) -> None:
    grove = grown(classes)
    slots = voting(grove)
    assert len(slots) > 3
    for label in (0, classes - 1, 1):
        expected = {slot: shares(grove, slot) for slot in slots}
        for n in range(120):
            KERNELS.judge(0, 0, grove._addresses, label)
            for slot in slots:
                target = 255.0 * (np.arange(classes) == label)
                expected[slot] += (target - expected[slot]) * RATE
                if n in (20, 119):  # a step is rounded randomly
                    assert shares(grove, slot) == pytest.approx(expected[slot], abs=16)
        for slot in slots:
            assert shares(grove, slot)[label] > 240  # small steps are not lost


def test_a_trees_weight_falls_with_its_errors_and_with_unseen_labels() -> None:
    grove = grown(3)
    accuracy, seen = buffer_of(grove, "grove.accuracy"), buffer_of(grove, "grove.grown")
    slots = voting(grove)
    for k, slot in enumerate(slots):
        accuracy[slot] = int((0.9 - 0.04 * (k % 3)) * 2**20)
        seen[slot] = 60 - 12 * (k % 4)
    KERNELS.weigh(0, 0, grove._addresses)
    weight = buffer_of(grove, "grove.weight")
    for slot in slots:
        behind = (max(accuracy[s] for s in slots) - accuracy[slot]) / 2**20
        expected = np.exp(-20 * behind) * (seen[slot] / 60) ** 4
        assert weight[slot] / 2**14 == pytest.approx(expected, abs=0.02)
    growing = buffer_of(grove, "sprout.state")[0]
    assert weight[growing] == 0


def test_votes_are_the_leaves_shares_by_weight() -> None:
    grove = grown(4)
    weight = buffer_of(grove, "grove.weight")
    slots = voting(grove)
    total = sum(weight[slot] for slot in slots)
    expected = sum(shares(grove, slot) * weight[slot] for slot in slots) / total / 255
    assert np.array(grove.votes) / (65536 * 255) == pytest.approx(expected, abs=0.01)

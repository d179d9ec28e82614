"""SVFDT's conditions compared with lists of floats, and its running statistics with numpy.

The error of the running statistics after n values, in units of 1/1024:

    the mean      is kept in 1/64 and each step rounds by at most half of one, of which later
                  steps leave a part that has shrunk like k / n: (n + 1) / 256 in all
    the variance  is likewise off by up to (n + 1) / 4; and each term (v - mean before) (v - mean
                  after) is off since both means are, by E = 1 + (n + 1) / 256: by E (2 r + E), r
                  being the range of the values

An entropy is off by up to 12/16 + (classes + 1) / n + 1, see test_observers.py.
"""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass, field
from math import log2, sqrt
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_support import NEXT_NODE, NO_SLOT, held
from property_support import examples

from microshrub_host.library import loader

LIBRARY = loader.load("checked").__name__
strict: ModuleType = sys.modules[LIBRARY + ".hoeffding.svfdt"]
pool: ModuleType = sys.modules[LIBRARY + ".hoeffding.pool"]
LEAVES, ENTROPIES, GAINS, SAMPLES = 0, 3, 6, 9  # as in svfdt.py
MOST = 1024


def statistics() -> tuple[Any, Any]:
    """Return a tree's table for the kernels, and its buffer of running statistics."""
    model = loader.load("checked").HoeffdingTree(1, 2, policy="svfdt1", adaptive=False)
    return model._addresses, held(model)["strict"]


def noted(values: list[int], k: int = GAINS) -> tuple[int, float, int]:
    """Return (values, mean, variance) after these values; check that nothing else changes."""
    t, b = statistics()
    for value in values:
        strict.note(t, k, value)
        assert b[k + 2] >= 0
    assert not any(b[:k])
    assert not any(b[k + 3 :])
    return b[k], b[k + 1] / 64, b[k + 2]


def mean_error(n: int) -> float:
    return (min(n, MOST) + 1) / 256


def variance_error(n: int, spread: float) -> float:
    e = 1 + mean_error(n)
    return (min(n, MOST) + 1) / 4 + e * (2 * spread + e)


VALUES = st.one_of(
    st.lists(st.integers(0, 32767), min_size=1, max_size=120),
    st.lists(st.integers(0, 1024), min_size=1, max_size=120),
    st.lists(st.integers(500, 520), min_size=1, max_size=120),
)


@given(VALUES, st.sampled_from([LEAVES, ENTROPIES, GAINS, SAMPLES]))
def test_running_statistics_match_numpy(values: list[int], k: int) -> None:
    n, mean, variance = noted(values, k)
    assert n == len(values)
    assert abs(mean - np.mean(values)) <= mean_error(n)
    off = variance_error(n, max(values) - min(values))
    assert abs(variance - np.var(values)) <= off


@pytest.mark.parametrize("top", [30, 1024, 32767])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_1024_values_are_still_exact(seed: int, top: int) -> None:
    rng = np.random.default_rng(seed)
    values = (rng.beta(*rng.uniform(0.3, 3, 2), MOST) * top).astype(int)
    n, mean, variance = noted(values.tolist())
    assert n == MOST
    assert abs(mean - np.mean(values)) <= mean_error(n)
    assert abs(variance - np.var(values)) <= variance_error(n, top)


@pytest.mark.parametrize(("first", "then"), [(0, 32767), (32767, 0), (100, 900), (20, 12)])
def test_after_1024_values_old_ones_fade(first: int, then: int) -> None:
    """Old values fade exponentially: each new value weighs 1/1024."""
    t, b = statistics()
    for _ in range(3000):
        strict.note(t, GAINS, first)
    assert list(b[GAINS : GAINS + 3]) == [MOST, first * 64, 0]
    mean, variance = float(first), 0.0
    for step in range(8000):
        strict.note(t, GAINS, then)
        assert b[GAINS + 2] >= 0
        variance += (then - mean) * (then - mean - (then - mean) / MOST) / MOST - variance / MOST
        mean += (then - mean) / MOST
        if step % 500 == 0:
            assert mean - 17 <= b[GAINS + 1] / 64 <= mean + 17  # 1024 units of 1/64 in the limit
            spread = abs(then - mean) + abs(then - first) / 100
            assert abs(b[GAINS + 2] - variance) <= MOST + 18 * (2 * spread + 18)
    assert b[GAINS] == MOST
    assert abs(b[GAINS + 1] / 64 - then) < 30


# The conditions


Maybe = bool | None  # None: too close to decide


def both(*answers: Maybe) -> Maybe:
    return False if False in answers else None if None in answers else True


def either(*answers: Maybe) -> Maybe:
    return True if True in answers else None if None in answers else False


@dataclass
class Statistic:
    """All values so far, and the largest error of the kernel's values."""

    error: float = 0.0
    values: list[float] = field(default_factory=list)

    def reaches(self, value: float, deviations: int) -> Maybe:
        n = len(self.values)
        if not n:
            return True
        mean, variance = float(np.mean(self.values)), float(np.var(self.values))
        spread = max(self.values) - min(self.values) + 2 * self.error
        off = variance_error(n, spread) + 2 * self.error * (spread + self.error)
        low = sqrt(max(0.0, variance - off)) - 1  # the root is rounded down
        high = sqrt(variance + off)
        borders = [mean + deviations * s for s in (low, high)]
        slack = mean_error(n) + 2 * self.error
        if value >= max(borders) + slack:
            return True
        return False if value < min(borders) - slack else None


@dataclass
class Oracle:
    """SVFDT as in ALGORITHMS.md, in units of 1/1024."""

    hasty: bool
    leaf_error: float
    entropies: Statistic = field(default_factory=Statistic)
    gains: Statistic = field(default_factory=Statistic)
    samples: Statistic = field(default_factory=Statistic)

    def permits(self, leaves: list[float], mine: float, gain: int, samples: int) -> Maybe:
        self.entropies.error = self.leaf_error
        verdict = both(
            Statistic(self.leaf_error, leaves).reaches(mine, -1),
            self.entropies.reaches(mine, -1),
            self.gains.reaches(gain, -1),
            self.samples.reaches(samples, 0),
        )
        if self.hasty:
            verdict = either(verdict, self.gains.reaches(gain, 1), self.entropies.reaches(mine, 1))
        self.entropies.values.append(mine)
        self.gains.values.append(gain)
        self.samples.values.append(samples)
        return verdict


def entropy(counts: list[int]) -> float:
    shares = [c / sum(counts) for c in counts if c]
    return 1024 * -sum(p * log2(p) for p in shares)


def entropy_error(classes: int, fewest: int) -> float:
    return 0.75 + (classes + 1) / fewest + 1


def tree_of(leaves: int, classes: int, mute: set[int]) -> Any:
    """Return a chain of inner nodes; all leaves except the mute ones have slots, in order."""
    library = loader.load("checked")
    model = library.HoeffdingTree(
        1,
        classes,
        nodes=2 * leaves + 3,
        leaves=leaves + 1,
        policy="svfdt1",
        bins=2,
        adaptive=False,
    )
    child, slots = held(model)["tree.child"], held(model)["tree.slot"]
    node = slot = 0
    for i in range(leaves - 1):
        left = pool.take_pair(model._addresses)
        child[node], slots[node] = left, NO_SLOT
        slots[left], child[left] = NO_SLOT if i in mute else slot, 0
        slot += i not in mute
        node = left + 1
        child[node] = 0
    slots[node] = NO_SLOT if leaves - 1 in mute else slot
    return model


def fill(model: Any, slot: int, counts: list[int]) -> None:
    for c, count in enumerate(counts):
        held(model)["observers.prior"][slot * model.classes + c] = count


def ask(model: Any, slot: int, gain: int, samples: int, hasty: bool) -> bool:
    return bool(strict.permits(model._addresses, slot, gain, samples, int(hasty)))


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.booleans(), st.integers(2, 5))
def test_permits_matches_svfdt_in_floats(
    seed: int, leaves: int, hasty: bool, classes: int
) -> None:
    """Among 40 moments at which VFDT would split, at most half are too close to decide."""
    rng = np.random.default_rng(seed)
    model = tree_of(leaves, classes, set())
    fewest = 200
    oracle = Oracle(hasty, entropy_error(classes, fewest))
    unclear = 0
    for _ in range(40):
        counts = [
            (rng.dirichlet([rng.choice([0.2, 1, 5])] * classes) * rng.integers(250, 9000))
            .astype(int)
            .tolist()
            for _ in range(leaves)
        ]
        for slot, of_leaf in enumerate(counts):
            fill(model, slot, of_leaf)
        slot = int(rng.integers(leaves))
        gain, samples = int(rng.integers(1, 900)), int(rng.choice([1, 2, 5, 40]) * 200)
        exact = [entropy(of_leaf) for of_leaf in counts]
        expected = oracle.permits(exact, exact[slot], gain, samples)
        answer = ask(model, slot, gain, samples, hasty)
        assert expected is None or answer == expected
        unclear += expected is None
    assert unclear <= 20


def test_few_cases_are_too_close_to_decide() -> None:
    """Both answers are frequent."""
    rng = np.random.default_rng(3)
    answers = {True: 0, False: 0, None: 0}
    for run in range(30):
        model = tree_of(6, 2, set())
        oracle = Oracle(run % 2 == 1, entropy_error(2, 200))
        for _ in range(60):
            counts = [[int(c) for c in rng.integers(100, 4000, 2)] for _ in range(6)]
            for slot, of_leaf in enumerate(counts):
                fill(model, slot, of_leaf)
            exact = [entropy(of_leaf) for of_leaf in counts]
            gain, samples = int(rng.integers(1, 900)), int(rng.integers(1, 50) * 200)
            expected = oracle.permits(exact, exact[0], gain, samples)
            answer = ask(model, 0, gain, samples, run % 2 == 1)
            assert expected in (None, answer)
            answers[expected] += 1
    assert answers[None] < 0.1 * sum(answers.values())
    assert min(answers[True], answers[False]) > 0.2 * sum(answers.values())


def test_the_first_split_is_permitted_and_all_are_recorded() -> None:
    model = tree_of(1, 2, set())
    fill(model, 0, [300, 300])
    assert ask(model, 0, 50, 600, hasty=False)
    assert not ask(model, 0, 50, 400, hasty=False)  # fewer samples than at the first
    b = held(model)["strict"]
    assert [b[k] for k in (ENTROPIES, GAINS, SAMPLES)] == [2, 2, 2]
    assert b[SAMPLES + 1] == 500 * 64
    fill(model, 0, [600, 600])
    assert not ask(model, 0, 20, 4000, hasty=False)  # a worse split
    assert ask(model, 0, 400, 10, hasty=True)  # a far better one
    fill(model, 0, [600, 1])
    assert not ask(model, 0, 50, 9000, hasty=False)  # not uncertain enough


@pytest.mark.parametrize("mute", [set(), {0}, {3, 4}, {5}, {1, 2, 3, 4, 5}])
def test_only_learning_leaves_count(mute: set[int]) -> None:
    """Leaves without a slot, inner nodes, and pairs given back do not count."""
    rng = np.random.default_rng(1)
    model = tree_of(6, 3, mute)
    learning = 6 - len(mute)
    counts = [[int(c) for c in rng.integers(1, 999, 3)] for _ in range(learning)]
    for slot in range(7):
        fill(model, slot, counts[slot] if slot < learning else [9999, 0, 0])
    child, slots = held(model)["tree.child"], held(model)["tree.slot"]
    pair = pool.take_pair(model._addresses)
    slots[pair] = slots[pair + 1] = NO_SLOT
    child[pair] = child[pair + 1] = 0
    pool.give_back(model._addresses, pair)
    ask(model, 0, 10, 200, hasty=False)
    b = held(model)["strict"]
    exact = [entropy(of_leaf) for of_leaf in counts]
    assert b[LEAVES] == learning
    slack = mean_error(learning) + entropy_error(3, 3)
    assert abs(b[LEAVES + 1] / 64 - np.mean(exact)) <= slack


@pytest.mark.parametrize("policy", ["svfdt1", "svfdt2"])
@pytest.mark.parametrize("adaptive", [False, True])
def test_a_growing_tree_counts_its_own_leaves(policy: str, adaptive: bool) -> None:
    """The leaves of alternate subtrees count, too, in a buffer that records every moment."""
    model = loader.load("checked").HoeffdingTree(
        2, 2, nodes=15, leaves=5, policy=policy, grace_period=20, split_confidence=0.5,
        tie_threshold=0.5, leaf="mc", adaptive=adaptive,
    )  # fmt: skip
    rng = np.random.default_rng(2)
    b, shape = held(model)["strict"], held(model)["tree.shape"]
    child, slots = held(model)["tree.child"], held(model)["tree.slot"]
    moments = 0
    for i in range(1500):
        before = sum(
            slots[k] != NO_SLOT and not child[k] for k in range(shape[NEXT_NODE])
        )  # learning leaves
        x = rng.integers(0, 65536, 2)
        label = int(x[0] // 8192 % 2 == i // 750) ^ int(rng.random() < 0.1)
        model.learn(array("H", x.tolist()), label)
        if b[GAINS] == moments + 1 and not adaptive:
            assert b[LEAVES] == before
        assert b[ENTROPIES] == b[GAINS] == b[SAMPLES] >= moments
        moments = b[GAINS]
    assert moments > 10
    assert model.nodes_used > 3

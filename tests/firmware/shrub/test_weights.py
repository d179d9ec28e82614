"""The weights: gradient step and projection in fixed point, compared with the oracle in float.

The error of a weight after a gradient step, in units of 1/65536. With k = 2 * step / C, the
weight changes by k times the mean over the window of sum_c bracket_c * h_c, and h adds up to 1:

    mse            the votes are rounded down to 1/65280, so the mean is off by at most that, and
                   by 16/255 of it more where the sum of a large window makes room: 1.1 * k
    cross-entropy  exp(-x) is off by at most 5/16384, x by 3.1/65536: together d = 5.8/16384. Of
                   softmax, e_c / sum e, that makes at most d * (1 + (C - 2) * p) / s with
                   s = 1 + (C - 1) / e the least sum and p = 1 / s the greatest probability
    both           the factor keeps 14 bits or more: 1/14000 of the change; and 2 for the last
                   roundings
"""

from __future__ import annotations

import sys
from math import e
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from property_support import examples
from shrub_oracle import gradient, project_simplex

from microshrub_host.library import loader

ONE = 65536
Ints = NDArray[np.int64]
LOSSES = ("mse", "cross_entropy")


def gradient_bound(step: float, classes: int, loss: str, change: NDArray[Any]) -> NDArray[Any]:
    """Return the bound above, in 1/65536."""
    mean = 1.1
    if loss == "cross_entropy":
        least = 1 + (classes - 1) / e
        mean += 5.8 / 16384 * (1 + (classes - 2) / least) / least * ONE
    return 2 * step / classes * mean + np.abs(change) / 14000 + 2


class Members:
    """A window and members with given leaves, in the buffers of one engine's kernels."""

    def __init__(
        self, engine: str, window: int, classes: int, trees: int, step: float, loss: str, leaf: str
    ) -> None:
        library = loader.load(engine)
        self.kernels = sys.modules[f"{library.__name__}.shrub.weights"]
        self.leaf, self.classes, self.window = leaf, classes, window
        self.model = library.ShrubEnsemble(
            1,
            classes,
            window=window,
            trees=trees,
            depth=4,
            step=step,
            loss=loss,
            splitter="random",
            leaf=leaf,
        )
        self.table = self.model._addresses
        self.by_name = {name: buffer for name, _, buffer in self.model.buffers()}
        self.member = self.by_name["member"]

    def fill(self, rng: np.random.Generator, size: int, labels: Ints, weights: Ints) -> None:
        """Set random leaves and memberships, these labels, and these weights in random slots."""
        slots = len(self.by_name["members.rank"])
        self.by_name["window.shape"][2] = size
        self.by_name["window.labels"][:size] = bytes(labels.tolist())
        leaves = len(self.by_name["shrubs.leaves"]) // slots
        if self.leaf == "class":
            held = rng.integers(self.classes, size=slots * leaves)
        else:
            leaves //= self.classes - 1
            share = rng.dirichlet(np.full(self.classes, 0.5), slots * leaves)
            upto = np.rint(255 * np.cumsum(share, axis=1)).astype(int)
            held = np.diff(upto, axis=1, prepend=0)[:, :-1].ravel()
        self.by_name["shrubs.leaves"][:] = bytes(held.tolist())
        self.member[:] = bytes(rng.integers(leaves, size=len(self.member)).tolist())
        set_weights(self.by_name, weights, rng)

    def outputs(self, size: int) -> NDArray[np.float64]:
        """Return h of the ranked shrubs for each sample, shape (shrubs, size, classes)."""
        ranked = list(self.by_name["members.rank"])
        member = np.frombuffer(self.member, np.uint8).reshape(-1, self.window)[ranked, :size]
        held = np.frombuffer(self.by_name["shrubs.leaves"], np.uint8).astype(int)
        if self.leaf == "class":
            held = held.reshape(len(ranked), -1)[ranked]
            return np.eye(self.classes)[np.take_along_axis(held, member.astype(int), axis=1)]
        held = held.reshape(len(ranked), -1, self.classes - 1)[ranked]
        h = np.take_along_axis(held, member.astype(int)[:, :, None], axis=1)
        return np.append(h, 255 - h.sum(axis=2, keepdims=True), axis=2) / 255

    def ranked_weights(self) -> Ints:
        ranked = list(self.by_name["members.rank"])
        return np.array(self.by_name["members.weight"], dtype=np.int64)[ranked]

    def step(self) -> None:
        gradient = sys.modules[self.kernels.__name__.replace("weights", "gradient")]
        gradient.gradient_step(0, 0, self.table)


def set_weights(by_name: dict[str, Any], weights: Ints, rng: np.random.Generator) -> None:
    """Set the members' weights, then the new shrub's, in this order, in random slots."""
    ranked = rng.permutation(len(by_name["members.rank"]))
    by_name["members.rank"][:] = bytes(ranked.tolist())
    by_name["members.shape"][0] = len(weights) - 1
    for slot, weight in zip(ranked.tolist(), weights.tolist(), strict=False):
        by_name["members.weight"][slot] = weight


def draw_weights(rng: np.random.Generator, members: int) -> Ints:
    """Draw positive Q16 weights with sum 1, the heaviest first, and a 0 for the new shrub."""
    if not members:
        return np.zeros(1, dtype=np.int64)
    shares = rng.dirichlet(np.full(members, rng.choice([0.3, 1.0, 100.0])))
    weights = 1 + np.floor(shares * (ONE - members)).astype(np.int64)
    weights[0] += ONE - weights.sum()
    return np.append(np.sort(weights)[::-1], 0)


# The gradient step

SIZES = st.one_of(
    st.integers(1, 70), st.sampled_from([127, 128, 129, 256, 259, 517, 519, 1023, 1024])
)


@pytest.mark.parametrize("leaf", ["proba", "class"])
@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=examples(60))
@given(
    st.integers(0, 2**32 - 1),
    SIZES,
    st.sampled_from([2, 3, 5, 17, 256]),
    st.integers(0, 9),
    st.one_of(st.floats(1 / 1024, 64), st.sampled_from([1 / 1024, 0.05, 0.5, 8.0, 64.0])),
)
def test_gradient_step_follows_the_oracle(
    leaf: str, loss: str, seed: int, size: int, classes: int, used: int, step: float
) -> None:
    rng = np.random.default_rng(seed)
    window = max(2, size if rng.random() < 0.7 else min(1024, 2 * size))
    members = Members(loader.fastest(), window, classes, max(used, 1), step, loss, leaf)
    labels = rng.integers(classes, size=size)
    members.fill(rng, size, labels, draw_weights(rng, used))
    before = members.ranked_weights()[: used + 1]
    members.step()
    after = members.ranked_weights()[: used + 1]
    h = members.outputs(size)[: used + 1]
    held_step = members.model.step / ONE
    change = -held_step * gradient(h, before / ONE, labels, loss) * ONE
    error = np.abs(after - before - change)
    assert (error <= gradient_bound(held_step, classes, loss, change)).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("size", [64, 65, 128, 129, 256, 257, 259, 512, 517, 519, 1023, 1024])
def test_a_window_that_all_members_mispredict_stays_within_30_bits(size: int, loss: str) -> None:
    """The sums are the largest: members predict 0, labels are 1, the new shrub is right."""
    members = Members("checked", size, 2, 2, 64.0, loss, "class")
    rng = np.random.default_rng(0)
    members.fill(rng, size, np.ones(size, dtype=np.int64), np.array([40000, 25536, 0]))
    slots = list(members.by_name["members.rank"])
    leaves = len(members.by_name["shrubs.leaves"]) // 3
    for slot, says in zip(slots, (0, 0, 1), strict=True):
        members.by_name["shrubs.leaves"][slot * leaves : (slot + 1) * leaves] = bytes(
            [says] * leaves
        )
    before = members.ranked_weights()
    members.step()  # fails if it stores more than 30 bits
    change = members.ranked_weights() - before
    p = e / (1 + e) if loss == "cross_entropy" else 1.0
    exact = np.array([-64, -64, 64]) * p * ONE
    assert (np.abs(change - exact) <= gradient_bound(64.0, 2, loss, exact)).all()


def test_the_change_is_proportional_to_the_step_size() -> None:
    """A step twice as large makes a change twice as large, from 1/1024 up to 64."""
    changes = []
    for power in range(-10, 7):
        members = Members("checked", 8, 2, 3, 2.0**power, "mse", "proba")
        rng = np.random.default_rng(5)
        members.fill(rng, 8, rng.integers(2, size=8), draw_weights(rng, 3))
        before = members.ranked_weights()
        members.step()
        changes.append((members.ranked_weights() - before) / 2.0**power)
    assert np.abs(changes[-1]).max() > 1000
    for power, change in zip(range(-10, 7), changes, strict=True):
        allowed = gradient_bound(2.0**power, 2, "mse", changes[-1] * 2.0**power) / 2.0**power
        assert (np.abs(change - changes[-1]) <= 2 * allowed).all()


# The projection


def projected(engine: str, weights: list[int], most: int, seed: int = 0) -> tuple[Any, Ints]:
    """Return the members after projecting, and their weights in the given order."""
    members = Members(engine, 2, 2, most, 1.0, "mse", "class")
    set_weights(members.by_name, np.array(weights), np.random.default_rng(seed))
    slots = list(members.by_name["members.rank"])[: len(weights)]
    members.kernels.project(members.table)
    held = members.by_name["members.weight"]
    return members, np.array([held[slot] for slot in slots])


def check_projection(weights: list[int], most: int) -> None:
    """Check that members are off by less than 1/65536, and that the heaviest balances the sum.

    tau is rounded down, so each member gets up to one unit too much; the heaviest gives them back.
    """
    members, after = projected("checked", weights, most)
    exact = project_simplex(np.array(weights) / ONE, most) * ONE
    used = members.by_name["members.shape"][0]
    ranked = list(members.by_name["members.rank"])
    assert sorted(ranked) == list(range(most + 1))
    assert used == np.count_nonzero(exact) <= most
    assert after.sum() == ONE
    assert ((after > 0) == (exact > 0)).all()
    held = members.ranked_weights()
    assert (held[:used] > 0).all()
    assert (held[used : len(weights)] == 0).all()
    assert (np.diff(held[1:used]) <= 0).all()
    assert used == 1 or held[1] - held[0] < used  # heaviest first, but for returned units
    error = np.sort(np.abs(after - exact))
    assert (error[:-1] < 1).all()
    assert error[-1] < max(used, 1)


NEAR = st.integers(-3 * ONE, 3 * ONE)
EXTREME = st.one_of(
    st.integers(-(2**29), 2**29), st.sampled_from([-(2**29), 2**29, 0, 1, -1, ONE, -2 * ONE])
)


@settings(deadline=None, max_examples=examples(300))
@given(
    st.one_of(
        st.lists(NEAR, min_size=1, max_size=12),
        st.lists(EXTREME, min_size=1, max_size=12),
        st.lists(st.integers(0, 5), min_size=1, max_size=40),
    ),
    st.integers(0, 3),
)
@example([0], 1)
@example([ONE, 0], 0)
@example([-(2**29), -(2**29), -(2**29)], 0)
@example([2**29, -(2**29)], 1)
@example([21846, 21845, 21845, 0], 0)
def test_projection_follows_the_oracle(weights: list[int], room: int) -> None:
    check_projection(weights, max(1, len(weights) - 1 + room))


@pytest.mark.parametrize("spread", [0, 3, 300, 70000])
def test_projection_of_255_members_and_one_more(spread: int) -> None:
    rng = np.random.default_rng(spread)
    check_projection(rng.integers(0, spread, 256, endpoint=True).tolist(), 255)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_projecting_a_point_on_the_simplex_changes_nothing(seed: int, used: int) -> None:
    rng = np.random.default_rng(seed)
    weights = draw_weights(rng, used)
    _, after = projected("checked", weights.tolist(), used + seed % 3, seed)
    assert after.tolist() == weights.tolist()


@settings(deadline=None)
@given(st.lists(NEAR, min_size=2, max_size=9), st.integers(-(2**28), 2**28))
def test_a_common_shift_changes_nothing(weights: list[int], shift: int) -> None:
    most = len(weights) - 1
    moved = [weight + shift for weight in weights]
    assert (projected("checked", weights, most)[1] == projected("checked", moved, most)[1]).all()


def test_of_equal_weights_the_older_member_stays() -> None:
    _, after = projected("checked", [ONE, ONE, ONE], 2)
    assert after.tolist() == [ONE // 2, ONE // 2, 0]


def test_favour_halves_the_members_weights_rounded_up_and_gives_the_rest_to_the_new_one() -> None:
    library = loader.load("python")
    kernels = sys.modules[f"{library.__name__}.shrub.weights"]
    model = library.ShrubEnsemble(1, 2, window=8, trees=4)
    buffers = {name: buffer for name, _, buffer in model.buffers()}
    buffers["members.shape"][0] = 3
    for slot, weight in enumerate((32769, 20001, 12766)):
        buffers["members.rank"][slot] = slot
        buffers["members.weight"][slot] = weight
    kernels.favour(model._addresses, 3)
    assert list(buffers["members.weight"])[:4] == [16385, 10001, 6383, 32767]

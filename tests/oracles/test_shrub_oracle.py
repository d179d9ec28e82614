"""The oracle itself, compared with enumeration, numerical differentiation and cases by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from property_support import examples
from shrub_oracle import (
    NO_SPLIT,
    Node,
    ShrubOracle,
    best_splits,
    gradient,
    grow,
    midpoint,
    project_simplex,
    random_splits,
    softmax,
)

SEEDS = st.integers(0, 2**32 - 1)


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


# Projection


def nearest_by_enumeration(w: np.ndarray, keep: int) -> float:
    """Return the squared distance to the simplex with at most `keep` nonzeros,
    over every support.
    """
    best = np.inf
    for size in range(1, min(keep, len(w)) + 1):
        for support in map(list, combinations(range(len(w)), size)):
            p = np.zeros_like(w)
            p[support] = w[support] + (1.0 - w[support].sum()) / size
            if p.min() >= 0:
                best = min(best, float(((p - w) ** 2).sum()))
    return best


WEIGHTS = st.lists(st.floats(-20, 20), min_size=1, max_size=7)


@given(WEIGHTS, st.integers(1, 8))
def test_projection_is_the_nearest_sparse_point_of_the_simplex(ws: list[float], keep: int) -> None:
    w = np.array(ws)
    p = project_simplex(w, keep)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1)
    assert np.count_nonzero(p) <= keep
    assert ((p - w) ** 2).sum() == pytest.approx(nearest_by_enumeration(w, keep), abs=1e-9)


@given(WEIGHTS, st.integers(1, 8))
def test_projection_meets_the_kkt_conditions(ws: list[float], keep: int) -> None:
    w = np.array(ws)
    p = project_simplex(w, keep)
    tau = (w - p)[p > 0]
    assert tau == pytest.approx(tau[0])
    kept = np.sort(w)[::-1][:keep]
    assert np.maximum(kept - tau[0], 0) == pytest.approx(np.sort(p)[::-1][:keep])


def test_projection_equals_cases_by_hand() -> None:
    assert project_simplex([0.5, 0.5], 2).tolist() == [0.5, 0.5]
    assert project_simplex([1.25, 0.25, 0.25], 3).tolist() == [1.0, 0.0, 0.0]
    assert project_simplex([0.25, 0.5, 0.75], 2).tolist() == [0.0, 0.375, 0.625]
    assert project_simplex([-3.0, -3.0], 2).tolist() == [0.5, 0.5]
    assert project_simplex([1.0, 1.0, 1.0], 2).tolist() == [0.5, 0.5, 0.0]  # the older ones stay


@given(st.floats(0, 30))
def test_a_copy_of_a_lone_shrub_is_dropped_in_spite_of_rounding(push: float) -> None:
    assert project_simplex([1.0 + push, push], 2).tolist() == [pytest.approx(1.0), 0.0]


# Gradient


def loss_of(h: np.ndarray, w: np.ndarray, y: np.ndarray, loss: str) -> float:
    """Return equation 5, or its counterpart for cross entropy with the same factor 2/(B*C)."""
    _, samples, classes = h.shape
    total = 0.0
    for b in range(samples):
        f = sum(w[i] * h[i, b] for i in range(len(w)))
        if loss == "mse":
            total += sum((f[c] - (y[b] == c)) ** 2 for c in range(classes))
        else:
            total += 2 * (np.log(np.exp(f).sum()) - f[y[b]])
    return total / (samples * classes)


@pytest.mark.parametrize("loss", ["mse", "cross_entropy"])
@given(SEEDS, st.integers(1, 5), st.integers(1, 9), st.integers(2, 5))
def test_gradient_is_the_derivative_of_the_loss(
    loss: str, seed: int, members: int, samples: int, classes: int
) -> None:
    rng = rng_of(seed)
    h = rng.dirichlet(np.ones(classes), (members, samples))
    w, y = rng.dirichlet(np.ones(members)), rng.integers(classes, size=samples)
    numeric = []
    for nudge in np.eye(members) * 1e-5:
        rise = loss_of(h, w + nudge, y, loss) - loss_of(h, w - nudge, y, loss)
        numeric.append(rise / 2e-5)
    assert gradient(h, w, y, loss) == pytest.approx(np.array(numeric), abs=1e-8)


def test_softmax_survives_large_votes() -> None:
    assert softmax(np.array([1000.0, 1000.0])).tolist() == [0.5, 0.5]


# Splits


def score_of(x: np.ndarray, y: np.ndarray, classes: int, feature: int, t: float) -> Fraction:
    score = Fraction(0)
    for side in (x[:, feature] <= t, x[:, feature] > t):
        for c in range(classes):
            score += Fraction(int((y[side] == c).sum()) ** 2, int(side.sum()))
    return score


def splits_by_enumeration(
    x: np.ndarray, y: np.ndarray, classes: int
) -> dict[tuple[int, float], Fraction]:
    results = {}
    for feature in range(x.shape[1]):
        values = sorted(set(x[:, feature].tolist()))
        for a, b in pairwise(values):
            t = (a + b) // 2 if isinstance(a, int) else (a + b) / 2
            results[feature, t] = score_of(x, y, classes, feature, t)
    return results


def samples_of(
    seed: int, n: int, d: int, classes: int, integer: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Draw from a few values only, so that values repeat and splits tie."""
    rng = rng_of(seed)
    x = rng.integers(0, rng.integers(1, 8), (n, d), endpoint=True)
    codes = np.minimum(x * 9001, 65535).astype(np.uint16)
    return (codes if integer else x / 4), rng.integers(classes, size=n)


CASES = (SEEDS, st.integers(1, 14), st.integers(1, 4), st.integers(2, 4), st.booleans())


@given(*CASES)
def test_best_splits_are_those_of_exhaustive_enumeration(
    seed: int, n: int, d: int, classes: int, integer: bool
) -> None:
    x, y = samples_of(seed, n, d, classes, integer)
    merits = splits_by_enumeration(x, y, classes)
    score, splits = best_splits(x, y, classes)
    if not merits:
        assert (score, splits) == NO_SPLIT
        return
    top = max(merits.values())
    assert score == pytest.approx(float(top))
    assert sorted(splits) == sorted(s for s, value in merits.items() if value == top)


@given(*CASES)
def test_random_splits_lie_in_range_and_the_best_of_them_win(
    seed: int, n: int, d: int, classes: int, integer: bool
) -> None:
    x, y = samples_of(seed, n, d, classes, integer)
    score, splits = random_splits(x, y, classes, rng_of(seed))
    varied = [f for f in range(d) if len(set(x[:, f].tolist())) > 1]
    assert bool(splits) == bool(varied)
    for feature, t in splits:
        assert x[:, feature].min() <= t < x[:, feature].max()
        assert isinstance(t, int) == integer
        assert float(score_of(x, y, classes, feature, t)) == pytest.approx(score)


def test_random_integer_thresholds_cover_min_to_max_less_one() -> None:
    x, rng = np.array([[3], [7]], dtype=np.uint16), rng_of(0)
    drawn = {random_splits(x, [0, 1], 2, rng)[1][0][1] for _ in range(200)}
    assert drawn == {3, 4, 5, 6}


def test_the_random_splitter_has_one_candidate_per_feature_and_keeps_the_best() -> None:
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    score, splits = random_splits(x, [0, 0, 1, 1], 2, rng_of(0))
    assert (score, splits) == (4.0, [(0, 0)])


def test_codes_do_not_wrap_and_halves_go_down() -> None:
    x = np.array([[65532], [65535]], dtype=np.uint16)
    assert best_splits(x, [0, 1], 2) == (2.0, [(0, 65533)])


def test_the_midpoint_of_neighbouring_floats_still_separates_them() -> None:
    for low in (1.0, np.nextafter(1.0, 2)):
        high = np.nextafter(low, 2)
        assert low <= midpoint(low, high) < high


def test_only_the_given_features_are_split() -> None:
    x = np.array([[0, 5, 0], [1, 5, 1]])
    assert best_splits(x, [0, 1], 2, [1, 2]) == (2.0, [(2, 0)])
    assert best_splits(x, [0, 1], 2, [1]) == NO_SPLIT


# Shrubs


def depth_of(node: Node) -> int:
    children = [child for child in (node.left, node.right) if child]
    return 1 + max(map(depth_of, children)) if children else 0


@given(*CASES, st.integers(0, 4), st.sampled_from(["best", "random"]), st.integers(0, 4))
def test_leaves_hold_the_frequencies_of_the_samples_that_reach_them(
    seed: int, n: int, d: int, classes: int, integer: bool, depth: int, splitter: str, some: int
) -> None:
    x, y = samples_of(seed, n, d, classes, integer)
    shrub = grow(x, y, classes, depth, rng_of(seed), splitter, some)
    majority = grow(x, y, classes, depth, rng_of(seed), splitter, some, "class")
    assert depth_of(shrub) <= depth
    outputs = [shrub.leaf_output(row) for row in x]
    for row, output in zip(x, outputs, strict=True):
        reach = y[[other is output for other in outputs]]
        assert output.tolist() == [np.mean(reach == c) for c in range(classes)]
        hot = np.eye(classes)[np.argmax(output)]
        assert majority.leaf_output(row).tolist() == hot.tolist()


def test_a_split_without_gain_is_accepted() -> None:
    x, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    assert best_splits(x, y, 2) == (2.0, [(0, 0), (1, 0)])
    shrub = grow(x, y, 2, 2, rng_of(0))
    assert [int(np.argmax(shrub.leaf_output(row))) for row in x] == y.tolist()


def test_equal_splits_are_drawn_evenly() -> None:
    x, rng = np.array([[0, 0, 0], [1, 1, 1]]), rng_of(0)
    roots = [grow(x, [0, 1], 2, 1, rng).feature for _ in range(3000)]
    assert np.bincount(roots) == pytest.approx(1000, abs=150)


def test_shrubs_of_the_random_splitter_draw_their_thresholds() -> None:
    x, rng = np.array([[0], [4]]), rng_of(0)
    assert {grow(x, [0, 1], 2, 1, rng, "random").threshold for _ in range(99)} == {0, 1, 2, 3}


def test_max_features_draws_constant_features_too() -> None:
    x, rng = np.array([[0, 7], [1, 7]]), rng_of(0)
    leaves = sum(grow(x, [0, 1], 2, 1, rng, max_features=1).left is None for _ in range(400))
    assert 130 < leaves < 270


# The ensemble


@pytest.mark.parametrize(
    ("step", "weights"), [(0.5, [0.75, 0.25]), (1.0, [0.5, 0.5]), (2.0, [1.0])]
)
def test_two_samples_equal_the_case_by_hand(step: float, weights: list[float]) -> None:
    """After the second sample: g = 2/(2*2) * (+1, -1), for the old leaf and for the split at 5."""
    model = ShrubOracle(1, 2, window=2, trees=2, step=step)
    assert model.votes([0]).tolist() == [0, 0]
    assert model.predict([0]) == 0
    model.learn([0], 0)
    assert model.votes([9]).tolist() == [1, 0]
    model.learn([10], 1)
    assert model.weights.tolist() == weights
    assert model.members[-1].threshold == 5
    assert model.votes([5]).tolist() == [1, 0]
    assert model.votes([6]).tolist() == [1 - weights[-1], weights[-1]]


def test_two_samples_equal_the_case_by_hand_with_cross_entropy() -> None:
    model = ShrubOracle(1, 2, window=2, trees=2, step=0.5, loss="cross_entropy")
    model.learn([0], 0)
    model.learn([10], 1)
    p = np.e / (1 + np.e)  # softmax(1, 0)
    old, new = 1 - 0.25 * (2 * p - 1), 0.25
    assert model.weights == pytest.approx([(1 + old - new) / 2, (1 - old + new) / 2])


def test_training_comes_at_every_third_sample_and_the_window_always_slides() -> None:
    model, trained = ShrubOracle(1, 2, window=4, train_every=3), []
    for t in range(12):
        before, weights = model.members, model.weights.tolist()
        model.learn([t], t % 2)
        if model.members is not before:
            trained.append(t + 1)
        else:
            assert model.weights.tolist() == weights
        assert [int(row[0]) for row, _ in model.window] == list(range(max(0, t - 3), t + 1))
    assert trained == [3, 6, 9, 12]


def test_training_comes_after_every_second_error() -> None:
    model = ShrubOracle(1, 2, window=4, train_every=2, trigger="error")
    for x, y, members in [(0, 0, 0), (9, 1, 0), (0, 0, 0), (9, 1, 1), (0, 0, 1), (9, 1, 1)]:
        model.learn([x], y)  # without a shrub, class 0 is predicted; the first shrub is right
        assert len(model.members) == members
    assert model.events == 2


@settings(deadline=None, max_examples=examples(60))
@given(
    SEEDS,
    st.sampled_from(["mse", "cross_entropy"]),
    st.sampled_from(["best", "random"]),
    st.sampled_from(["proba", "class"]),
    st.sampled_from(["sample", "error"]),
    st.floats(0.001, 64),
)
def test_weights_stay_on_the_simplex(
    seed: int, loss: str, splitter: str, leaf: str, trigger: str, step: float
) -> None:
    x, y = samples_of(seed, 40, 3, 3, True)
    model = ShrubOracle(3, 3, 8, 4, 2, step, loss, splitter, 2, leaf, 1 + seed % 3, trigger, seed)
    for row, label in zip(x, y, strict=True):
        model.learn(row, label)
        assert len(model.weights) == len(model.members) <= 4
        if model.members:
            assert model.weights.min() > 0
            assert model.weights.sum() == pytest.approx(1)
            assert model.votes(row).sum() == pytest.approx(1)


# Theorem 1


def surprised(
    seed: int, window: int, classes: int, m: int, trees: int, step: float
) -> tuple[ShrubOracle, list[Node]]:
    """Return an ensemble that has learned a sample which all its members predicted wrong, and the
    members before.

    Members are fully grown on partly random labels, so that they also make random errors on the
    rest of the window.
    """
    rng = rng_of(seed)
    x = rng.permutation(window)[:, None]
    y = rng.integers(classes, size=window)
    noise = rng.random()
    model = ShrubOracle(1, classes, window, trees, window, step, leaf="class", seed=seed)
    for _ in range(m):
        labels = np.where(rng.random(window) < noise, rng.integers(classes, size=window), y)
        labels[-1] = (y[-1] + rng.integers(1, classes)) % classes
        model.members.append(grow(x, labels, classes, window, rng, leaf="class"))
    model.weights = rng.dirichlet(np.full(m, rng.choice([0.3, 1.0, 100.0])))
    model.window.extend(zip(x[:-1], y[:-1].tolist(), strict=True))
    before = list(model.members)
    model.learn(x[-1], int(y[-1]))
    return model, before


def is_in(shrub: Node, members: list[Node]) -> bool:
    return any(shrub is member for member in members)


@settings(deadline=None)
@given(SEEDS, st.integers(1, 20), st.integers(2, 5), st.integers(1, 6), st.floats(0.01, 64))
def test_theorem_1_new_shrub_enters_when_there_is_room(
    seed: int, window: int, classes: int, m: int, step: float
) -> None:
    """Case 1 needs no condition on the step: the proof never uses one."""
    model, before = surprised(seed, window, classes, m, m + 1, step)
    assert not is_in(model.members[-1], before)


@settings(deadline=None)
@given(SEEDS, st.integers(1, 20), st.integers(2, 5), st.integers(1, 6), st.floats(1.01, 40))
def test_theorem_1_new_shrub_replaces_the_lightest(
    seed: int, window: int, classes: int, m: int, excess: float
) -> None:
    """Case 2; "lightest" is after the gradient step. With two classes, the paper's BC/(4m) is
    enough.

    With more classes, members may predict different wrong classes, so f(x_B)_c need not be 1 as
    the proof assumes, and the threshold is BC/(2(m+1)): see the counterexample below.
    """
    bound = window * classes / (4 * m if classes == 2 else 2 * (m + 1))
    model, before = surprised(seed, window, classes, m, m, bound * excess)
    start, _ = surprised(seed, window, classes, m, m, 0.0)  # a zero step changes no member
    assume(len(start.weights) == m)  # but drops a weight that rounds to zero
    assert not is_in(model.members[-1], before)
    x = [row for row, _ in model.window]
    h = np.array([[member.leaf_output(row) for row in x] for member in before])
    g = gradient(h, start.weights, [label for _, label in model.window])
    stepped = start.weights - bound * excess * g
    lightest = [k for k in range(m) if stepped[k] <= stepped.min() + 1e-12]
    assert not all(is_in(before[k], model.members) for k in lightest)


def test_theorem_1_as_printed_has_a_counterexample() -> None:
    """Two members with different errors on x_B, right on all else:
    BC/(4m) < step < BC/(2(m+1)).
    """
    window, classes, m = 4, 3, 2
    y = np.array([0, 1, 2, 0])
    hot = np.eye(classes)
    members = np.array([hot[[0, 1, 2, 1]], hot[[0, 1, 2, 2]], hot[y]])
    w = np.array([0.5, 0.5, 0.0])
    printed, true = window * classes / (4 * m), window * classes / (2 * (m + 1))
    assert (printed, true) == (1.5, 2.0)
    g = gradient(members, w, y)
    assert project_simplex(w - 1.9 * g, m)[2] == 0
    assert project_simplex(w - 2.1 * g, m)[2] > 0

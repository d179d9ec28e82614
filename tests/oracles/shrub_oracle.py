"""Shrub Ensembles in float64, slow and simple: the reference for the fixed-point ensemble.

Buschjaeger, Hess, Morik, "Shrub Ensembles for Online Classification", AAAI 2022, Algorithm 1 and
equations 4 to 8; ALGORITHMS.md defines the details that the paper leaves open. Nothing is
incremental: every training sorts the window again and runs every member over all of it.

Ties: splits are drawn at random among all that are equal (exactly, in integers); of equal weights
at the cut, the older member stays; of equal votes, the lowest class wins.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Values = NDArray[Any]  # int64 when the features are codes, float64 otherwise
Split = tuple[int, float]  # feature, threshold; left if x[feature] <= threshold
Splits = tuple[float, list[Split]]  # the best score, and all splits with this score
NO_SPLIT: Splits = (-np.inf, [])
ZERO = 1e-12  # a projected weight up to this is a rounding error, as in the copy of a lone shrub


def as_values(x: ArrayLike) -> Values:
    """Widen codes to int64 (a sum of two u16 must not wrap) and anything else to float64."""
    values = np.asarray(x)
    return values.astype(np.int64 if values.dtype.kind in "iu" else np.float64)


def _best_of(left: Ints, total: Ints) -> tuple[float, Ints]:
    """Return the largest sum_c nl_c^2/nl + sum_c nr_c^2/nr, and all rows that equal it exactly.

    A row of `left` counts the classes on the left of a candidate. For up to 1024 samples, unequal
    scores differ by more than float64 rounds, so argmax is as exact as the integers after it.
    """
    right = total - left
    nl, nr = left.sum(axis=1), right.sum(axis=1)
    numerator = (left**2).sum(axis=1) * nr + (right**2).sum(axis=1) * nl
    denominator = nl * nr
    top = int(np.argmax(numerator / denominator))
    ties = np.flatnonzero(numerator * denominator[top] == numerator[top] * denominator)
    return float(numerator[top] / denominator[top]), ties


def best_splits(
    x: ArrayLike, y: ArrayLike, classes: int, features: Sequence[int] | None = None
) -> Splits:
    """Find CART's best splits of (n, d) samples: the score, and all (feature, threshold) with it.

    The score, sum_c nl_c^2/nl + sum_c nr_c^2/nr, is largest where the weighted Gini impurity is
    smallest. Candidates are all boundaries between different neighbouring values, thresholds
    their midpoints, rounded down for integer codes. No boundary at all: (-inf, []).
    """
    values, labels = as_values(x), np.asarray(y, dtype=np.int64)
    columns = np.arange(values.shape[1]) if features is None else np.asarray(features)
    order = np.argsort(values[:, columns], axis=0, kind="stable")
    ordered = np.take_along_axis(values[:, columns], order, axis=0)
    low, high = ordered[:-1], ordered[1:]
    position, column = np.nonzero(low < high)
    if position.size == 0:
        return NO_SPLIT
    counts = np.cumsum(np.eye(classes, dtype=np.int64)[labels[order]], axis=0)  # (n, d, c)
    score, ties = _best_of(counts[position, column], counts[-1, 0])
    where = zip(position[ties], column[ties], strict=True)
    return score, [(int(columns[j]), midpoint(low[i, j], high[i, j])) for i, j in where]


def midpoint(low: Any, high: Any) -> float:
    """Return a threshold t with low <= t < high; an int for int64 codes."""
    if isinstance(low, np.integer):
        return (int(low) + int(high)) // 2
    middle = float(low) + (float(high) - float(low)) / 2
    return middle if middle < high else float(low)


def random_splits(
    x: ArrayLike, y: ArrayLike, classes: int, rng: Generator, features: Sequence[int] | None = None
) -> Splits:
    """Like best_splits, but with one candidate per feature:
    uniform between its minimum and maximum.
    """
    values, labels = as_values(x), np.asarray(y, dtype=np.int64)
    hot = np.eye(classes, dtype=np.int64)[labels]
    splits: list[Split] = []
    for feature in range(values.shape[1]) if features is None else features:
        low, high = values[:, feature].min(), values[:, feature].max()
        if low < high:
            codes = values.dtype.kind == "i"
            t = int(rng.integers(low, high)) if codes else float(rng.uniform(low, high))
            splits.append((feature, t))
    if not splits:
        return NO_SPLIT
    left = np.array([hot[values[:, f] <= t].sum(axis=0) for f, t in splits])
    score, ties = _best_of(left, hot.sum(axis=0))
    return score, [splits[i] for i in ties]


@dataclass(frozen=True, eq=False)
class Node:
    """A shrub is its root: an inner node with two children, or a leaf with its output."""

    output: Floats  # an inner node has the output that it would have as a leaf
    feature: int = -1
    threshold: float = 0.0
    left: Node | None = None
    right: Node | None = None

    def leaf_output(self, x: Values) -> Floats:
        """Return h(x), shape (classes,), for one sample."""
        if self.left is None or self.right is None:
            return self.output
        child = self.left if x[self.feature] <= self.threshold else self.right
        return child.leaf_output(x)


def grow(
    x: ArrayLike,
    y: ArrayLike,
    classes: int,
    depth: int,
    rng: Generator,
    splitter: str = "best",
    max_features: int = 0,
    leaf: str = "proba",
) -> Node:
    """Grow one shrub with at most `depth` splits on a path.

    A node is a leaf when it is pure, when no depth is left, or when none of its `max_features`
    features (drawn from all, constant ones included; 0 = take all) has two values.
    """
    values, labels = as_values(x), np.asarray(y, dtype=np.int64)
    counts = np.bincount(labels, minlength=classes)
    majority = np.eye(classes)[np.argmax(counts)]
    output = majority if leaf == "class" else counts / counts.sum()
    if depth == 0 or counts.max() == counts.sum():
        return Node(output)
    features = np.arange(values.shape[1])
    if 0 < max_features < len(features):
        features = rng.choice(features, max_features, replace=False)
    if splitter == "best":
        _, splits = best_splits(values, labels, classes, features.tolist())
    else:
        _, splits = random_splits(values, labels, classes, rng, features.tolist())
    if not splits:
        return Node(output)
    feature, threshold = splits[rng.integers(len(splits))]
    goes_left = values[:, feature] <= threshold
    rest = (classes, depth - 1, rng, splitter, max_features, leaf)
    left = grow(values[goes_left], labels[goes_left], *rest)
    right = grow(values[~goes_left], labels[~goes_left], *rest)
    return Node(output, feature, threshold, left, right)


def softmax(f: Floats) -> Floats:
    """Return softmax over the last axis."""
    powers = np.exp(f - f.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def gradient(outputs: ArrayLike, weights: ArrayLike, y: ArrayLike, loss: str = "mse") -> Floats:
    """Return g_i = 2/(B*C) sum_b sum_c (f(x_b)_c - [y_b = c]) h_i(x_b)_c, shape (members,).

    `outputs` holds h_i(x_b)_c, shape (members, B, C). For "cross_entropy" f becomes softmax(f).
    """
    h = np.asarray(outputs, dtype=np.float64)
    _, samples, classes = h.shape
    f = np.einsum("i,ibc->bc", np.asarray(weights, dtype=np.float64), h)
    bracket = (softmax(f) if loss == "cross_entropy" else f) - np.eye(classes)[np.asarray(y)]
    return 2.0 / (samples * classes) * np.array([np.sum(bracket * h_i) for h_i in h])


def project_simplex(w: ArrayLike, keep: int) -> Floats:
    """Keep the `keep` largest and project them on the simplex (equation 8); zeros elsewhere.

    beta is the largest j <= keep with w_j > (sum_{i<=j} w_i - 1)/j; the paper misprints it.
    """
    weights = np.asarray(w, dtype=np.float64)
    order = np.argsort(-weights, kind="stable")[:keep]
    largest = weights[order]
    taus = (np.cumsum(largest) - 1.0) / np.arange(1, len(largest) + 1)
    beta = np.flatnonzero(largest - taus > ZERO)[-1]  # 0-based; j = 1 always qualifies
    projected = np.zeros_like(weights)
    projected[order[: beta + 1]] = largest[: beta + 1] - taus[beta]
    return projected


class ShrubOracle:
    """The ensemble. `members` and `weights` are ordered from the oldest shrub to the newest."""

    def __init__(
        self,
        features: int,
        classes: int,
        window: int = 32,
        trees: int = 8,
        depth: int = 5,
        step: float = 0.5,
        loss: str = "mse",
        splitter: str = "best",
        max_features: int = 0,
        leaf: str = "proba",
        train_every: int = 1,
        trigger: str = "sample",
        seed: int = 0,
    ) -> None:
        assert loss in ("mse", "cross_entropy")
        assert splitter in ("best", "random")
        assert leaf in ("proba", "class")
        assert trigger in ("sample", "error")
        self.features, self.classes, self.trees, self.step = features, classes, trees, step
        self.loss, self.trigger, self.train_every = loss, trigger, train_every
        self.growth = (depth, np.random.default_rng(seed), splitter, max_features, leaf)
        self.window: deque[tuple[Values, int]] = deque(maxlen=window)
        self.members: list[Node] = []
        self.weights: Floats = np.zeros(0)
        self.events = 0  # samples, or errors of the ensemble, so far

    def votes(self, x: ArrayLike) -> Floats:
        """Return sum_i w_i h_i(x), shape (classes,); zeros while there are no shrubs."""
        total, row = np.zeros(self.classes), as_values(x)
        for weight, member in zip(self.weights, self.members, strict=True):
            total += weight * member.leaf_output(row)
        return total

    def predict(self, x: ArrayLike) -> int:
        """Return the class with most votes, the lowest of equals."""
        return int(np.argmax(self.votes(x)))

    def learn(self, x: ArrayLike, y: int) -> None:
        """Slide the window over (x, y), and train if it is time."""
        row = as_values(x)
        assert row.shape == (self.features,)
        assert 0 <= y < self.classes
        event = self.trigger == "sample" or self.predict(row) != y
        self.events += event
        self.window.append((row, int(y)))  # a full deque drops its oldest
        if event and self.events % self.train_every == 0:
            self._train()

    def _train(self) -> None:
        """Do lines 6 to 12 of Algorithm 1 on the samples in the window."""
        x, y = map(np.array, zip(*self.window, strict=True))
        members = [*self.members, grow(x, y, self.classes, *self.growth)]
        weights = np.append(self.weights, 0.0)
        outputs = np.array([[member.leaf_output(row) for row in x] for member in members])
        g = gradient(outputs, weights, y, self.loss)
        weights = project_simplex(weights - self.step * g, self.trees)
        self.members = [m for m, w in zip(members, weights, strict=True) if w > 0]
        self.weights = weights[weights > 0]

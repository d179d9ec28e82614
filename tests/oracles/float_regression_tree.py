"""A slow HoeffdingRegressor in floating point, with room for every node."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
FEWEST = 5
ROUND = 1024


@dataclass
class Node:
    """A leaf, which keeps all of its samples, or an inner node with two children."""

    mean: float
    count: int = 0
    error: float = 0.0
    below: float = 0.0
    rows: list[Codes] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    test: tuple[int, int] | None = None
    children: tuple[Node, ...] = ()


class FloatRegressionTree:
    """A tree with the same rules, and an unlimited number of nodes and slots."""

    def __init__(self, grace: int, delta: float, tie: float, bins: int, memory: int) -> None:
        self.grace, self.delta, self.tie = grace, delta, tie
        self.bins, self.memory = bins, memory
        self.root = Node(32767.0)
        self.learned = 0

    def path(self, x: Codes) -> list[Node]:
        """Return the nodes that a sample passes, the leaf last."""
        nodes = [self.root]
        while nodes[-1].test:
            feature, threshold = nodes[-1].test
            nodes.append(nodes[-1].children[int(x[feature] > threshold)])
        return nodes

    def nodes(self, node: Node | None = None) -> Iterator[Node]:
        """Yield all nodes of the tree, parents first."""
        node = node or self.root
        yield node
        for child in node.children:
            yield from self.nodes(child)

    def learn(self, x: Codes, target: int) -> float:
        """Learn a sample; return the prediction before learning."""
        path = self.path(x)
        predicted = path[-1].mean
        for node in path:
            node.error += abs(node.mean - target)
            node.below += abs(predicted - target) if node.test else 0
            node.count = min(node.count + 1, self.memory)
            node.mean += (target - node.mean) / node.count
        leaf = path[-1]
        leaf.rows.append(x)
        leaf.targets.append(target)
        if len(leaf.rows) % self.grace == 0:
            self.consider(leaf)
        self.learned += 1
        if self.learned % ROUND == 0:
            self.look_round()
        return predicted

    def consider(self, leaf: Node) -> None:
        """Split a leaf by its best feature, if that is surely the best, or a tie."""
        rows, targets = np.array(leaf.rows), np.array(leaf.targets, float)
        ranked = sorted(
            ((*self.best(rows[:, f], targets), f) for f in range(rows.shape[1])), reverse=True
        )
        gain, threshold, feature = ranked[0]
        second = ranked[1][0] if len(ranked) > 1 else 0.0
        epsilon = math.sqrt(math.log(1 / self.delta) / (2 * len(rows)))
        if not gain or (second / gain >= 1 - epsilon and epsilon >= self.tie):
            return
        goes_left = rows[:, feature] <= threshold
        leaf.test, leaf.below = (feature, threshold), 0.0
        leaf.children = tuple(
            Node(targets[side].mean(), min(int(side.sum()), self.memory), leaf.error / 2)
            for side in (goes_left, ~goes_left)
        )
        leaf.rows, leaf.targets = [], []

    def best(self, codes: Codes, targets: NDArray[np.float64]) -> tuple[float, int]:
        """Return the greatest reduction of variance by a feature, and its threshold."""
        width = 0
        while (codes.max() >> width) - (codes.min() >> width) >= self.bins:
            width += 1
        split = (0.0, 0)
        for place in range(codes.min() >> width, codes.max() >> width):
            left = codes >> width <= place
            if min(left.sum(), (~left).sum()) >= FEWEST:
                within = sum(targets[side].var() * side.mean() for side in (left, ~left))
                if targets.var() - within > split[0] * (1 + 1e-9):  # the first one of equals
                    split = (targets.var() - within, int((place + 1 << width) - 1))
        return split

    def look_round(self) -> None:
        """Undo splits that made predictions worse, from the last ones on;
        halve the sums of errors.
        """
        for node in list(self.nodes()):
            leaves = node.test and not any(child.test for child in node.children)
            if leaves and node.below > node.error:
                node.test, node.children = None, ()
            node.error /= 2
            node.below /= 2

"""The trees of a learner as nodes to walk over, with the names of features and classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..base.text import printable
from ..library import loader
from ..library.learners import companion
from .model_files import OpenModel

DEEPEST = 30  # tests before a leaf, for any learner


@dataclass(frozen=True)
class Leaf:
    """A leaf: its prediction, the share of its class, and the number of its samples.

    If the leaf keeps no statistics, share and note are "", and samples is 0.
    """

    label: int  # -1: leaves of several classes, cut off
    name: str
    share: str = ""  # share of the class, "0.83"
    samples: int = 0
    note: str = ""  # "0.83 of 412"
    place: int = -1  # index of the node, or of a shrub's leaf among all slots' leaves

    @property
    def text(self) -> str:
        """The leaf as explain() shows it: `UP (0.83 of 412)`."""
        return f"{self.name} ({self.note})" if self.note else self.name


@dataclass(frozen=True)
class Split:
    """A test of one feature; samples with code <= threshold go to `below`."""

    feature: int
    threshold: int
    tests: tuple[str, str]  # "price <= 0.052", "price > 0.052"
    below: Node
    above: Node

    @property
    def samples(self) -> int:
        """The number of samples in the leaves below, as far as known."""
        return self.below.samples + self.above.samples


Node = Leaf | Split


@dataclass(frozen=True)
class Tree:
    """One tree of a model; weight is its share of the votes, 1.0 if it is the only one."""

    weight: float
    root: Node


@dataclass(frozen=True)
class Answer:
    """A leaf's answer: its share of a class, times the tree's factor, is a vote for the class.

    The label is the leaf's own prediction. A naive Bayes leaf has a slot instead of shares.
    """

    label: int
    shares: tuple[int, ...]
    slot: int = -1  # slot of the naive Bayes statistics


@dataclass(frozen=True)
class Bayes:
    """The statistics in a slot, for F features, C classes and T bins of all features together."""

    low: Sequence[int]  # [F] the lowest code that can reach the leaf
    high: Sequence[int]  # [F] the highest such code
    counts: Sequence[int]  # [T * C]
    seen: Sequence[int]  # [C]
    prior: Sequence[int]  # [C]


def trees_of(model: OpenModel) -> list[Tree]:
    """Return the trees of a model, the heaviest first; none if it has not grown any.

    The list is also empty for learners without trees. Raises UserError if the model's buffers do
    not hold trees.
    """
    reader = reader_of(model)
    return reader.trees() if reader else []


def reader_of(model: OpenModel) -> TreeReader | None:
    """Return the reader for the learner's trees, from its file in readers/, or None."""
    result = companion(f"{__package__}.readers", model.file.learner)
    return None if result is None else result.READER(model)


def leaves(node: Node) -> Iterator[Leaf]:
    """Yield the leaves under a node, on the `below` side first."""
    if isinstance(node, Leaf):
        yield node
    else:
        yield from leaves(node.below)
        yield from leaves(node.above)


def depth(node: Node) -> int:
    """Return the number of tests on the longest path."""
    return 0 if isinstance(node, Leaf) else 1 + max(depth(node.below), depth(node.above))


def cut(node: Node, levels: int) -> Node:
    """Return the tree down to that many tests; everything below becomes one leaf."""
    if isinstance(node, Leaf):
        return node
    if levels:
        below, above = cut(node.below, levels - 1), cut(node.above, levels - 1)
        return replace(node, below=below, above=above)
    return Leaf(-1, f"... {sum(1 for _ in leaves(node))} leaves", samples=node.samples)


def lines(node: Node, branch: str = "├─ ", last: str = "└─ ", down: str = "│  ") -> list[str]:
    """Return the tree as text, with a line for each test, indented by its depth."""
    if isinstance(node, Leaf):
        return [node.text]
    result = []
    for test, child, mark in (
        (node.tests[0], node.below, branch),
        (node.tests[1], node.above, last),
    ):
        if isinstance(child, Leaf):
            result.append(f"{mark}{test} -> {child.text}")
            continue
        result.append(mark + test)
        indent = down if mark == branch else " " * len(down)
        result += [indent + line for line in lines(child, branch, last, down)]
    return result


def path(node: Node, codes: Any) -> str:
    """Return the tests that a sample with these codes passes, and its leaf, as explain() does."""
    tests = []
    while isinstance(node, Split):
        above = codes[node.feature] > node.threshold
        tests.append(node.tests[above])
        node = node.above if above else node.below
    return " -> ".join(filter(None, (", ".join(tests), node.text)))


class TreeReader:
    """Makes nodes from a model's buffers, given by name.

    Each learner made of trees has a subclass, named READER in the file of readers/ with the
    learner's name.
    """

    single = True  # whether there is only one tree, whose leaf determines the class

    def __init__(self, model: OpenModel) -> None:
        self.model = model
        self.held = {name: buffer for name, _, buffer in model.learner.buffers()}
        self.features = tuple(map(printable, model.file.feature_names))
        self.classes = tuple(map(printable, model.file.class_names))
        self.units = model.file.scale.units()
        self.words = loader.load("python").explanation

    def trees(self) -> list[Tree]:
        """Return the trees, the heaviest first."""
        raise NotImplementedError

    def answer(self, leaf: Leaf) -> Answer:
        """Return the answer of a leaf in a model that no longer learns."""
        raise NotImplementedError

    def bins(self) -> list[int]:
        """Return the first bin of each feature, and the total number of bins; shape (F + 1,)."""
        raise NotImplementedError

    def statistics(self, slot: int) -> Bayes:
        """Return the naive Bayes statistics in a slot."""
        raise NotImplementedError

    def one_class(self, label: int, share: int) -> Answer:
        """Return the answer of a leaf that votes for one class only."""
        return Answer(label, tuple(share * (c == label) for c in range(len(self.classes))))

    def test(self, feature: int, threshold: int, above: bool) -> str:
        return str(
            self.words.condition(
                feature, threshold, above, self.model.quantizer, self.features, self.units
            )
        )

    def split(self, feature: int, threshold: int, below: Node, above: Node) -> Split:
        tests = (self.test(feature, threshold, False), self.test(feature, threshold, True))
        return Split(feature, threshold, tests, below, above)

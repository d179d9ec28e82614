"""The trees of a learner as nodes to walk over, in the words of their features and classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..base.errors import UserError
from ..base.text import printable
from ..engines import loader
from .model_files import OpenModel

_DEEPEST = 30  # of all learners
_LARGEST = 65535


@dataclass(frozen=True)
class Leaf:
    """What a leaf predicts, how sure it is of that, and how many samples count in it.

    Where a leaf keeps no statistics, share and note are "", and samples is 0.
    """

    label: int  # -1: leaves of several classes, cut off
    name: str
    share: str = ""  # of the class, "0.83"
    samples: int = 0
    note: str = ""  # "0.83 of 412"
    place: int = -1  # the node of a HoeffdingTree; of a shrub, which of all slots' leaves

    @property
    def text(self) -> str:
        """As explain() has it: `UP (0.83 of 412)`."""
        return f"{self.name} ({self.note})" if self.note else self.name


@dataclass(frozen=True)
class Split:
    """A test of one feature; `below` is where the samples with code <= threshold go."""

    feature: int
    threshold: int
    tests: tuple[str, str]  # "price <= 0.052", "price > 0.052"
    below: Node
    above: Node

    @property
    def samples(self) -> int:
        """The samples that count in the leaves below, as far as that is known."""
        return self.below.samples + self.above.samples


Node = Leaf | Split


@dataclass(frozen=True)
class Tree:
    """One tree of a model; weight is its part of the votes, 1.0 if it is the only one."""

    weight: float
    root: Node


def trees_of(model: OpenModel) -> list[Tree]:
    """The trees of a model, the heaviest first; a young ShrubEnsemble has none.

    Raises UserError if what the model holds is no tree.
    """
    reader = _Hoeffding(model) if model.file.learner == "HoeffdingTree" else _Shrubs(model)
    return reader.trees()


def leaves(node: Node) -> Iterator[Leaf]:
    """The leaves below a node, those of `below` first."""
    if isinstance(node, Leaf):
        yield node
    else:
        yield from leaves(node.below)
        yield from leaves(node.above)


def depth(node: Node) -> int:
    """The longest path of tests."""
    return 0 if isinstance(node, Leaf) else 1 + max(depth(node.below), depth(node.above))


def cut(node: Node, levels: int) -> Node:
    """The tree down to that many tests; what is below a node there becomes one leaf."""
    if isinstance(node, Leaf):
        return node
    if levels:
        below, above = cut(node.below, levels - 1), cut(node.above, levels - 1)
        return replace(node, below=below, above=above)
    return Leaf(-1, f"... {sum(1 for _ in leaves(node))} leaves", samples=node.samples)


def lines(node: Node, branch: str = "├─ ", last: str = "└─ ", down: str = "│  ") -> list[str]:
    """The tree as text: each test on a line of its own, indented by its depth."""
    if isinstance(node, Leaf):
        return [node.text]
    found = []
    for test, child, mark in (
        (node.tests[0], node.below, branch),
        (node.tests[1], node.above, last),
    ):
        if isinstance(child, Leaf):
            found.append(f"{mark}{test} -> {child.text}")
            continue
        found.append(mark + test)
        indent = down if mark == branch else " " * len(down)
        found += [indent + line for line in lines(child, branch, last, down)]
    return found


def path(node: Node, codes: Any) -> str:
    """The tests that a sample of these codes passes and its leaf, as explain() tells them."""
    tests = []
    while isinstance(node, Split):
        above = codes[node.feature] > node.threshold
        tests.append(node.tests[above])
        node = node.above if above else node.below
    return " -> ".join(filter(None, (", ".join(tests), node.text)))


class _Reader:
    """Makes nodes of a model's buffers, held by their names."""

    def __init__(self, model: OpenModel) -> None:
        self.model = model
        self.held = {name: buffer for name, _, buffer in model.learner.buffers()}
        self.features = tuple(map(printable, model.file.feature_names))
        self.classes = tuple(map(printable, model.file.class_names))
        self.units = model.file.scale.units()
        self.words = loader.load("python").explanation

    def trees(self) -> list[Tree]:
        raise NotImplementedError

    def test(self, feature: int, threshold: int, above: bool) -> str:
        return str(
            self.words.condition(
                feature, threshold, above, self.model.quantizer, self.features, self.units
            )
        )

    def split(self, feature: int, threshold: int, below: Node, above: Node) -> Split:
        tests = (self.test(feature, threshold, False), self.test(feature, threshold, True))
        return Split(feature, threshold, tests, below, above)


class _Hoeffding(_Reader):
    """The one tree of a HoeffdingTree, whose layout is in firmware's nodes.py."""

    def trees(self) -> list[Tree]:
        return [Tree(1.0, self.node(0, 0))]

    def node(self, node: int, level: int) -> Node:
        child = self.held["tree.child"][node]
        if level > _DEEPEST:
            raise UserError("the model's tree is deeper than a tree can be")
        if not child:
            return self.leaf(node)
        return self.split(
            self.held["tree.feature"][node],
            self.held["tree.threshold"][node],
            self.node(child, level + 1),
            self.node(child + 1, level + 1),
        )

    def leaf(self, node: int) -> Leaf:
        counts = self.words.leaf_counts(self.model.learner, node)
        label = counts.index(max(counts)) if counts else self.held["tree.feature"][node]
        name, samples = self.classes[label], sum(counts)
        if not samples:
            return Leaf(label, name, place=node)
        share = self.words.share(counts[label], samples)
        return Leaf(label, name, share, samples, f"{share} of {samples}", node)


class _Shrubs(_Reader):
    """The members of a ShrubEnsemble, whose layout is in firmware's shrubs.py and weights.py."""

    def trees(self) -> list[Tree]:
        weights = self.held["members.weight"]
        members = self.held["members.rank"][: self.model.learner.trees_used]
        heaviest = sorted(members, key=lambda slot: -weights[slot])
        return [Tree(weights[slot] / 65536, self.shrub(slot)) for slot in heaviest]

    def shrub(self, slot: int) -> Node:
        """The tree in a slot; a node through which all samples go left is left out."""
        _, _, inner, leaf_limit, linked, _, wide, wide_kids = self.held["shrubs.shape"][:8]
        features = self.held["shrubs.feature"][slot * inner :]
        thresholds = _items(self.held["shrubs.threshold"], wide)[slot * inner :]
        kids = _items(self.held["shrubs.kids"], wide_kids)[slot * (2 * inner + 1) :]
        here = self.window_leaves(slot, leaf_limit)

        def node(place: int, level: int) -> Node:
            n = kids[place] if linked else place
            if level > _DEEPEST:
                raise UserError("the model's shrub is deeper than a shrub can be")
            if n >= inner:
                return self.leaf(slot * leaf_limit + n - inner, here.count(n - inner), len(here))
            threshold = thresholds[n] if wide else thresholds[n] << 8 | 255
            below = node(2 * n + 1, level + 1)
            if threshold == _LARGEST:
                return below
            return self.split(features[n], threshold, below, node(2 * n + 2, level + 1))

        return node(0, 0)

    def window_leaves(self, slot: int, leaf_limit: int) -> list[int]:
        """The leaves that the samples in the window have in this slot."""
        window = self.model.learner.window
        samples = self.held["window.shape"][loader.constant("shrub.window", "_W_SIZE")]
        member = _items(self.held["member"], leaf_limit > 256)
        return list(member[slot * window : slot * window + samples])

    def leaf(self, place: int, samples: int, window: int) -> Leaf:
        if self.model.learner.leaf == "class":
            label, part = self.held["shrubs.leaves"][place], 255
        else:
            others = len(self.classes) - 1
            parts = list(self.held["shrubs.leaves"][place * others : (place + 1) * others])
            parts.append(255 - sum(parts))
            label, part = parts.index(max(parts)), max(parts)
        name, share = self.classes[label], self.words.share(part, 255)
        note = f"{share}, {samples} of the last {window}"
        return Leaf(label, name, share, samples, note, place)


def _items(buffer: bytearray, wide: int) -> Sequence[int]:
    """The entries of one byte or, if wide, two."""
    return memoryview(buffer).cast("H") if wide else buffer

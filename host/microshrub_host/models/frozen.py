"""What a learned model answers from now on: its trees, and what each of their leaves says.

A model that does not learn any more needs no window, no histograms of leaves that answer by their
majority, and no slots for what may come. What is left of it are the nodes of trees.py, and for
each leaf an Answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..base.errors import UserError
from ..engines import loader
from .model_files import OpenModel
from .trees import Leaf, Node, Split, Tree, leaves, trees_of

_VOTE = 1020  # of a share of 1 / 2**14


@dataclass(frozen=True)
class Answer:
    """What a leaf says: its share for a class, times the tree's factor, are votes for that class.

    The label is that of the leaf alone. A leaf of naive Bayes has no shares, but a slot.
    """

    label: int
    shares: tuple[int, ...]
    slot: int = -1  # of the statistics that naive Bayes reads


@dataclass(frozen=True)
class Bayes:
    """The statistics of a slot, F features, C classes and T bins of all features together."""

    low: Sequence[int]  # [F] the least code that reaches the leaf
    high: Sequence[int]  # [F] the greatest
    counts: Sequence[int]  # [T * C]
    seen: Sequence[int]  # [C]
    prior: Sequence[int]  # [C]


@dataclass(frozen=True)
class TreeTable:
    """All trees as one list of tests, each before those below it.

    A child, or a root, is the place of a test, or -1 - l for the l-th leaf.
    """

    splits: list[tuple[Split, int, int]]  # with the children below and above
    leaves: list[Leaf]
    roots: list[int]


class Frozen:
    """A model as it predicts. Raises UserError if it has no tree yet.

    trees     the heaviest first
    factors   of the trees' shares, to votes
    answers   of each leaf, by its `place`
    """

    def __init__(self, model: OpenModel) -> None:
        self.model = model
        self.file = model.file
        self.held = {name: buffer for name, _, buffer in model.learner.buffers()}
        self.classes = len(model.file.class_names)
        self.features = len(model.file.feature_names)
        self.single = model.file.learner == "HoeffdingTree"
        self.trees: list[Tree] = trees_of(model)
        if not self.trees:
            raise UserError("the model has no tree yet: let it learn more samples")
        answer = self._of_node if self.single else self._of_shrub
        self.answers = {
            leaf.place: answer(leaf) for tree in self.trees for leaf in leaves(tree.root)
        }

    def table(self) -> TreeTable:
        """The trees without their structure of objects."""
        table = TreeTable([], [], [])

        def add(node: Node) -> int:
            if isinstance(node, Leaf):
                table.leaves.append(node)
                return -len(table.leaves)
            place = len(table.splits)
            table.splits.append((node, 0, 0))
            table.splits[place] = (node, add(node.below), add(node.above))
            return place

        table.roots.extend(add(tree.root) for tree in self.trees)
        return table

    @property
    def factors(self) -> list[int]:
        """What a share in each tree counts in votes."""
        return [_VOTE] if self.single else [int(tree.weight * 65536) for tree in self.trees]

    def of(self, leaf: Leaf) -> Answer:
        """What the leaf says."""
        return self.answers[leaf.place]

    @property
    def bayes(self) -> bool:
        """Whether a leaf answers by naive Bayes."""
        return any(answer.slot >= 0 for answer in self.answers.values())

    def bins(self) -> list[int]:
        """Where the bins of each feature begin, and behind the last the end; shape (F + 1,)."""
        return list(self.held["observers.first"])

    def statistics(self, slot: int) -> Bayes:
        """What naive Bayes reads in a leaf with that slot."""
        twin, bins = slot + self._twin(), self.bins()[-1]

        def part(name: str, size: int, at: int) -> Sequence[int]:
            return tuple(self.held[f"observers.{name}"][at * size : (at + 1) * size])

        return Bayes(
            low=part("low", self.features, slot),
            high=part("high", self.features, slot),
            counts=part("counts", bins * self.classes, twin),
            seen=part("seen", self.classes, twin),
            prior=part("prior", self.classes, twin),
        )

    def _twin(self) -> int:
        """How many slots further on the boosted statistics are."""
        return self.model.learner.leaves if self.model.learner.boost else 0

    def _of_node(self, leaf: Leaf) -> Answer:
        """As firmware's descent.answer()."""
        slot = self.held["tree.slot"][leaf.place]
        if slot == loader.constant("hoeffding.pool", "_NO_SLOT"):
            return self._one_class(self.held["tree.feature"][leaf.place], 1 << 14)
        hits = self.held["tree.hits"][2 * slot : 2 * slot + 2]
        rule = self.model.learner.leaf
        if rule == "nb" or (rule == "nba" and hits[1] > hits[0]):
            return Answer(-1, (), slot)
        counts = self.statistics(slot).prior
        total = max(sum(counts), 1)
        return Answer(counts.index(max(counts)), tuple((n << 14) // total for n in counts))

    def _of_shrub(self, leaf: Leaf) -> Answer:
        """As firmware's weights.mix()."""
        entries = self.held["shrubs.leaves"]
        if self.model.learner.leaf == "class":
            return self._one_class(entries[leaf.place], 255)
        others = self.classes - 1
        parts = list(entries[leaf.place * others : (leaf.place + 1) * others])
        return Answer(leaf.label, (*parts, 255 - sum(parts)))

    def _one_class(self, label: int, share: int) -> Answer:
        return Answer(label, tuple(share * (c == label) for c in range(self.classes)))

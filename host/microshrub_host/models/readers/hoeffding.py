"""Reader for the tree of a HoeffdingTree, laid out as in firmware's hoeffding/pool.py."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.errors import UserError
from ...library import loader
from ..trees import DEEPEST, Answer, Bayes, Leaf, Node, Tree, TreeReader


class HoeffdingReader(TreeReader):
    """Reads the tree of a HoeffdingTree, laid out as in firmware's hoeffding/pool.py."""

    BUFFERS = "tree"  # prefix of the names of the buffers with the nodes

    def trees(self) -> list[Tree]:
        return [Tree(1.0, self.node(0, 0))]

    def node(self, node: int, level: int) -> Node:
        child = self.held[f"{self.BUFFERS}.child"][node]
        if level > DEEPEST:
            raise UserError("the model's tree is deeper than any tree can be")
        if not child:
            return self.leaf(node)
        return self.split(
            self.held[f"{self.BUFFERS}.feature"][node],
            self.held[f"{self.BUFFERS}.threshold"][node],
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

    def answer(self, leaf: Leaf) -> Answer:
        """Return the same answer as firmware's learn.answer()."""
        slot = self.held["tree.slot"][leaf.place]
        if slot == loader.constant("hoeffding.pool", "_NO_SLOT"):
            return self.one_class(self.held["tree.feature"][leaf.place], 1 << 14)
        hits = self.held["tree.hits"][2 * slot : 2 * slot + 2]
        rule = self.model.learner.leaf
        if rule == "nb" or (rule == "nba" and hits[1] > hits[0]):
            return Answer(-1, (), slot)
        counts = self.statistics(slot).prior
        total = max(sum(counts), 1)
        return Answer(counts.index(max(counts)), tuple((n << 14) // total for n in counts))

    def bins(self) -> list[int]:
        """Return the first bin of each feature, and the total number of bins; shape (F + 1,)."""
        return list(self.held["observers.first"])

    def statistics(self, slot: int) -> Bayes:
        """Return the naive Bayes statistics in a slot."""
        classes, features = len(self.classes), len(self.features)
        twin, bins = slot + self._twin(), self.bins()[-1]

        def part(name: str, size: int, at: int) -> Sequence[int]:
            return tuple(self.held[f"observers.{name}"][at * size : (at + 1) * size])

        return Bayes(
            low=part("low", features, slot),
            high=part("high", features, slot),
            counts=part("counts", bins * classes, twin),
            seen=part("seen", classes, twin),
            prior=part("prior", classes, twin),
        )

    def _twin(self) -> int:
        """Return the distance, in slots, to the boosted statistics."""
        return int(self.model.learner.leaves) if self.model.learner.boost else 0


READER = HoeffdingReader

"""A learned model that only predicts: its trees, and the answer of each leaf.

A model that no longer learns needs no window, no free slots, and no histograms in leaves that
predict the majority class. The nodes of trees.py remain, with an Answer for each leaf.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..base.errors import UserError
from .model_files import OpenModel
from .trees import Answer, Leaf, Node, Split, Tree, TreeReader, leaves, reader_of

_VOTE = 1020  # votes for a share of 1 / 2**14


@dataclass(frozen=True)
class TreeTable:
    """All trees as one list of tests, each ahead of the tests below it.

    A child, or a root, is the index of a test, or -1 - l for leaf l.
    """

    splits: list[tuple[Split, int, int]]  # with the children below and above
    leaves: list[Leaf]
    roots: list[int]


def trees_of(model: OpenModel) -> tuple[TreeReader, list[Tree]]:
    """Return a model's reader and trees, the heaviest first. Raises UserError without trees."""
    reader = reader_of(model)
    if reader is None:
        raise UserError(
            f"{model.file.learner} cannot be exported: that needs trees; --format c takes all"
        )
    trees: list[Tree] = reader.trees()
    if not trees:
        raise UserError("the model has no tree yet: let it learn more samples")
    return reader, trees


class Frozen:
    """A model that only predicts. Raises UserError if it has no tree yet.

    trees     the heaviest first
    factors   from shares to votes, one for each tree
    answers   of the leaves, by their `place`
    """

    def __init__(self, model: OpenModel) -> None:
        self.model = model
        self.file = model.file
        self.classes = len(model.file.class_names)
        self.features = len(model.file.feature_names)
        self.reader, self.trees = trees_of(model)
        reader = self.reader
        self.single = reader.single
        self.answers = {
            leaf.place: reader.answer(leaf) for tree in self.trees for leaf in leaves(tree.root)
        }

    def table(self) -> TreeTable:
        """Return the trees as flat lists."""
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
        """The factor from shares to votes, for each tree."""
        return [_VOTE] if self.single else [int(tree.weight * 65536) for tree in self.trees]

    def of(self, leaf: Leaf) -> Answer:
        """Return the answer of a leaf."""
        return self.answers[leaf.place]

    @property
    def bayes(self) -> bool:
        """Whether any leaf predicts by naive Bayes."""
        return any(answer.slot >= 0 for answer in self.answers.values())

    def refuse_bayes(self, reason: str) -> None:
        """Raise UserError if a leaf predicts by naive Bayes, which the format does not support."""
        if self.bayes:
            raise UserError(
                f"{reason}, but some of this model's use naive Bayes. Use simulate --leaf mc, or "
                "--format c-frozen"
            )

"""A learned model that only predicts: its trees, and the answer of each leaf.

A model that no longer learns needs no window, no histograms in leaves that answer with their
majority, and no free slots. What is left are the nodes of trees.py, and an Answer for each leaf.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..base.errors import UserError
from .model_files import OpenModel
from .trees import Answer, Leaf, Node, Split, Tree, TreeReader, leaves, reader_of

_VOTE = 1020  # of a share of 1 / 2**14


@dataclass(frozen=True)
class TreeTable:
    """All trees as one list of tests, each ahead of those below it.

    A child, or a root, is the place of a test, or -1 - l for the l-th leaf.
    """

    splits: list[tuple[Split, int, int]]  # with the children below and above
    leaves: list[Leaf]
    roots: list[int]


def trees_of(model: OpenModel) -> tuple[TreeReader, list[Tree]]:
    """What reads the model's trees, and they, the heaviest first. Raises UserError for none."""
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
    """A model as it predicts. Raises UserError if it has no tree yet.

    trees     the heaviest first
    factors   of the trees' shares, to votes
    answers   of each leaf, by its `place`
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

    def refuse_bayes(self, reason: str) -> None:
        """Raise UserError if a leaf answers by naive Bayes, which the format does not have."""
        if self.bayes:
            raise UserError(
                f"{reason}, but some of this model's use naive Bayes. Use simulate --leaf mc, or "
                "--format c-frozen"
            )

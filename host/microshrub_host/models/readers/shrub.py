"""Reader for ShrubEnsemble trees, laid out as in firmware's shrub/pool.py and weights.py."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.errors import UserError
from ...library import loader
from ..trees import DEEPEST, Answer, Leaf, Node, Tree, TreeReader

_LARGEST = 65535


class ShrubReader(TreeReader):
    """Reads ShrubEnsemble members, laid out as in firmware's shrub/pool.py and weights.py."""

    single = False

    def trees(self) -> list[Tree]:
        weights = self.held["members.weight"]
        members = self.held["members.rank"][: self.model.learner.trees_used]
        heaviest = sorted(members, key=lambda slot: -weights[slot])
        return [Tree(weights[slot] / 65536, self.shrub(slot)) for slot in heaviest]

    def shrub(self, slot: int) -> Node:
        """Return the tree in a slot, without nodes through which all samples go left."""
        _, _, inner, leaf_limit, linked, _, wide, wide_kids = self.held["shrubs.shape"][:8]
        features = self.held["shrubs.feature"][slot * inner :]
        thresholds = _items(self.held["shrubs.threshold"], wide)[slot * inner :]
        kids = _items(self.held["shrubs.kids"], wide_kids)[slot * (2 * inner + 1) :]
        here = self.window_leaves(slot, leaf_limit)

        def node(place: int, level: int) -> Node:
            n = kids[place] if linked else place
            if level > DEEPEST:
                raise UserError("the model's shrub is deeper than any shrub can be")
            if n >= inner:
                return self.leaf(slot * leaf_limit + n - inner, here.count(n - inner), len(here))
            threshold = thresholds[n] if wide else thresholds[n] << 8 | 255
            below = node(2 * n + 1, level + 1)
            if threshold == _LARGEST:
                return below
            return self.split(features[n], threshold, below, node(2 * n + 2, level + 1))

        return node(0, 0)

    def window_leaves(self, slot: int, leaf_limit: int) -> list[int]:
        """Return the leaf in this slot for each sample of the window."""
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

    def answer(self, leaf: Leaf) -> Answer:
        """Return the same answer as firmware's weights.mix()."""
        entries = self.held["shrubs.leaves"]
        if self.model.learner.leaf == "class":
            return self.one_class(entries[leaf.place], 255)
        others = len(self.classes) - 1
        parts = list(entries[leaf.place * others : (leaf.place + 1) * others])
        return Answer(leaf.label, (*parts, 255 - sum(parts)))


def _items(buffer: bytearray, wide: int) -> Sequence[int]:
    """Return the buffer's entries of one byte or, if wide, two bytes."""
    return memoryview(buffer).cast("H") if wide else buffer


READER = ShrubReader

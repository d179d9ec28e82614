"""A Hoeffding tree's pool seen from outside: its invariants, and events in it."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microshrub_host.library import loader

Ints = NDArray[np.int64]
NO_SLOT = 65535
NODES, SLOTS, NEXT_NODE, NEXT_SLOT, FREE_PAIR, FREE_SLOT, COUNT = range(7)  # as in pool.py


def held(model: Any) -> dict[str, Any]:
    return {name: buffer for name, _, buffer in model.buffers()}


def buffer_of(model: Any, wanted: str) -> Any:
    return held(model)[wanted]


def place(model: Any, buffer: str) -> int:
    """Return the place of that buffer's address in the table that the kernels get."""
    return [name for name, _, _ in model.buffers()].index(buffer)


def tree_with(bins: list[int], classes: int, **parameters: Any) -> Any:
    """Return a HoeffdingTree in the checked engine with these numbers of bins per feature."""
    base = loader.load("checked").HoeffdingTree

    class Tree(base):  # type: ignore[misc, valid-type]
        def _bins(self) -> list[int]:
            return bins

    return Tree(len(bins), classes, **parameters)


def contents(model: Any) -> dict[str, bytes]:
    return {name: bytes(memoryview(buffer)) for name, _, buffer in model.buffers()}


def feed(model: Any, rows: Ints, labels: Ints) -> bytes:
    written = bytearray(len(labels))
    model.run(array("H", rows.ravel().tolist()), bytearray(labels.tolist()), written)
    return bytes(written)


# Invariants of the pool


@dataclass
class Visit:
    """A node, and the range of codes that reach it: least and greatest code of each feature.

    host is the node whose alternate subtree it is in, or -1.
    """

    node: int
    level: int
    low: list[int]
    high: list[int]
    host: int = -1


def walk(model: Any) -> list[Visit]:
    """Return every node of the tree and of its alternate subtrees, each once."""
    b = held(model)
    everything = Visit(0, 0, [0] * model.features, [65535] * model.features)
    waiting, nodes = [everything], []
    while waiting:
        at = waiting.pop()
        nodes.append(at)
        assert len(nodes) <= model.nodes, "a node is reached twice"
        left = b["tree.child"][at.node]
        if not left:
            continue
        feature, threshold = b["tree.feature"][at.node], b["tree.threshold"][at.node]
        assert at.low[feature] <= threshold < at.high[feature]
        high, low = list(at.high), list(at.low)
        high[feature], low[feature] = threshold, threshold + 1
        waiting.append(Visit(left, at.level + 1, at.low, high, at.host))
        waiting.append(Visit(left + 1, at.level + 1, low, at.high, at.host))
        root = b["tree.alternate"][left >> 1] if model.adaptive else 0
        if root:
            assert at.host == -1, "an alternate subtree has one itself"
            waiting.append(Visit(root, at.level, at.low, at.high, at.node))
    return nodes


def alternates(model: Any) -> dict[int, int]:
    """Return the roots of the alternate subtrees, by the nodes that they may replace."""
    b = held(model)
    hosts = {visit.host for visit in walk(model)} - {-1}
    return {host: alternate_of(b, host) for host in hosts}


def alternate_of(b: dict[str, Any], host: int) -> int:
    root: int = b["tree.alternate"][b["tree.child"][host] >> 1]
    return root


def follow(links: Any, first: int, end: int) -> list[int]:
    results = []
    while first != end:
        results.append(first)
        assert len(results) <= len(links), "a list that ends nowhere"
        first = links[first]
    return results


def check_pool(model: Any) -> None:
    """Check that each node, and each slot, is in use once, or free once, or was never used."""
    b = held(model)
    words = b["tree.shape"]
    visits = walk(model)
    roots = list(alternates(model).values())
    for root in roots:  # each in a separate pair
        assert b["tree.slot"][root + 1] == NO_SLOT
        assert b["tree.child"][root + 1] == 0
    reached = [visit.node for visit in visits]
    count = len(reached) + len(roots)
    assert len({*reached, *(root + 1 for root in roots)}) == count
    assert count == words[COUNT] == model.nodes_used <= model.nodes
    used = [b["tree.child"][node] for node in reached if b["tree.child"][node]] + roots
    free = follow(b["tree.child"], words[FREE_PAIR], 0)
    assert sorted(used + free) == list(range(1, words[NEXT_NODE], 2))
    assert words[NEXT_NODE] <= model.nodes
    assert words[NODES] == model.nodes
    assert words[SLOTS] == model.leaves

    slot = b["tree.slot"]
    owned = {slot[node]: node for node in reached if slot[node] != NO_SLOT}
    spare = follow(b["tree.owner"], words[FREE_SLOT], NO_SLOT)
    assert sorted([*owned, *spare]) == list(range(words[NEXT_SLOT]))
    assert words[NEXT_SLOT] <= model.leaves
    assert len(owned) == sum(slot[node] != NO_SLOT for node in reached)
    assert all(b["tree.owner"][s] == node for s, node in owned.items())
    for visit in visits:
        check_node(model, b, visit)
    if model.adaptive:
        slots = [model.nodes // 2 + s for s in owned]
        check_windows(model, b, [pair >> 1 for pair in used] + slots)


def check_node(model: Any, b: dict[str, Any], visit: Visit) -> None:
    s = b["tree.slot"][visit.node]
    inner = b["tree.child"][visit.node] != 0
    assert visit.level <= model.depth - inner
    if not inner:
        keeps = b["tree.gain"][visit.node]
        assert keeps in ((0, 1) if model.adaptive else (0,))
        assert s != NO_SLOT or not keeps
        if visit.host != -1 and visit.node == alternate_of(b, visit.host):
            assert keeps or model.policy == "efdt"  # an EFDT root may have undone its split
    if s == NO_SLOT:
        assert inner or b["tree.feature"][visit.node] < model.classes
        return
    assert not inner or model.policy == "efdt"
    ranges = slice(s * model.features, (s + 1) * model.features)
    assert list(b["observers.low"][ranges]) == visit.low
    assert list(b["observers.high"][ranges]) == visit.high
    check_counts(model, b, s)
    if model.boost:
        check_counts(model, b, s + model.leaves)
    assert b["tree.since"][s] < (2000 if inner else model.grace_period)


def check_counts(model: Any, b: dict[str, Any], s: int) -> None:
    classes = slice(s * model.classes, (s + 1) * model.classes)
    seen, prior = np.array(b["observers.seen"][classes]), np.array(b["observers.prior"][classes])
    assert (seen <= prior).all()
    assert prior.sum() < 32768
    first = b["observers.first"]
    counts = np.array(b["observers.counts"]).reshape(-1, first[model.features], model.classes)[s]
    for f in range(model.features):
        of_feature = counts[first[f] : first[f + 1]].sum(axis=0)
        assert (of_feature <= seen).all()
        if prior.sum() < 16384 - 256:  # never halved, since these streams are short
            assert (of_feature == seen).all()


def check_windows(model: Any, b: dict[str, Any], windows: list[int]) -> None:
    """Check each window in use: its width and total match its buckets."""
    assert len(b["tree.alternate"]) == model.nodes // 2
    assert len(b["drift.width"]) == model.nodes // 2 + model.leaves
    filled = np.array(b["drift.filled"]).reshape(-1, 12)
    sums = np.array(b["drift.sums"]).reshape(-1, 12, 4)
    for k in windows:
        assert (filled[k] <= 4).all()
        assert b["drift.width"][k] == (filled[k] << np.arange(12)).sum()
        there = np.arange(4) < filled[k][:, None]
        assert b["drift.total"][k] == sums[k][there].sum()
        assert (sums[k] <= 1 << np.arange(12)[:, None])[there].all()
        assert b["drift.clock"][k] < 32


# Streams, and states of the tree that short streams hardly reach


def draw_block(rng: np.random.Generator, samples: int, model: Any) -> tuple[Ints, Ints]:
    """Draw samples of a new concept: which feature predicts the class, how well, and where."""
    rows = rng.integers(0, 65536, (samples, model.features))
    if rng.random() < 0.4:
        rows = rng.choice([0, 1, 30000, 65535], rows.shape)
    column = rows[:, rng.integers(model.features)] * int(rng.integers(1, 4)) % 65536
    labels = column * model.classes // 65536
    noise = rng.random(samples) < rng.choice([0, 0.3, 1])
    return rows, np.where(noise, rng.integers(model.classes, size=samples), labels)


def due(model: Any) -> None:
    """Make every inner node reconsider its split with the next sample."""
    b = held(model)
    for visit in walk(model):
        s = b["tree.slot"][visit.node]
        if b["tree.child"][visit.node] and s != NO_SLOT:
            b["tree.since"][s] = 1999


def set_window(b: dict[str, Any], k: int, clock: int, *buckets: tuple[int, int]) -> None:
    """Fill window k with four buckets of each of these sizes, with this many 1s in a bucket.

    The window looks for a cut after `clock` more bits.
    """
    b["drift.clock"][k] = 32 - clock
    b["drift.width"][k] = sum(4 << size for size, _ in buckets)
    b["drift.total"][k] = sum(4 * ones for _, ones in buckets)
    b["drift.filled"][k * 12 : (k + 1) * 12] = bytearray(12)
    for size, ones in buckets:
        b["drift.filled"][k * 12 + size] = 4
        b["drift.sums"][(k * 12 + size) * 4 : (k * 12 + size + 1) * 4] = array("H", [ones] * 4)


def stir(model: Any, seed: int) -> None:
    """Raise errors, or make alternate subtrees better or worse, at some of the inner nodes."""
    b = held(model)
    rng = np.random.default_rng(seed)
    for visit in walk(model):
        if not b["tree.child"][visit.node] or visit.host != -1 or rng.random() < 0.2:
            continue
        pair = b["tree.child"][visit.node] >> 1
        root = alternate_of(b, visit.node)
        if root and rng.random() < 0.8:
            set_window(b, pair, 2, (7, 64))
            set_window(b, root >> 1, 2, (7, int(rng.choice([0, 128]))))
        else:
            set_window(b, pair, 1, (6, 0), (4, 16))


class Events:
    """Counts of alternate subtrees that started, won, were dropped or restarted."""

    def __init__(self) -> None:
        self.started = self.won = self.dropped = self.restarted = 0
        self._before: dict[int, tuple[int, int, tuple[int, int]]] = {}

    def look(self, model: Any) -> None:
        b = held(model)
        now = alternates(model)
        for host, (root, child, content) in self._before.items():
            if now.get(host) != root:
                self.won += (b["tree.child"][host], b["tree.slot"][host]) == content
                self.dropped += b["tree.child"][host] == child
        self.started += sum(
            host not in self._before or self._before[host][0] != root for host, root in now.items()
        )
        self.restarted += any(
            v.host == -1 and not b["tree.child"][v.node] and b["tree.gain"][v.node]
            for v in walk(model)
        )
        self._before = {
            host: (root, b["tree.child"][host], (b["tree.child"][root], b["tree.slot"][root]))
            for host, root in now.items()
        }

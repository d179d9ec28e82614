"""The size of a tree: its nodes, its depth, the features that it tests, the bytes that it needs.

Our trees have a fixed pool, and most of a large pool stays empty. So the bytes are those of the
smallest pool in which the same tree could have grown so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from microshrub_host.library import loader
from microshrub_host.library.learners import learner

# "nodes", "depth" and "features"; for ours also "bytes", and the pool's "most_nodes" and
# "most_leaves": the numbers of nodes and slots of statistics that were ever in use
Shape = Mapping[str, int]

# The names in MOA's measurements of a model
_MOA = {"tree size (nodes)": "nodes", "tree depth": "depth"}


def our_shape(
    model: str, parameters: Mapping[str, Any], buffers: Mapping[str, Any]
) -> Shape | None:
    """Return the shape of a HoeffdingTree; None for our other learners. `buffers` are by name."""
    if "tree.child" not in buffers:
        return None
    child = memoryview(buffers["tree.child"]).cast("B").cast("H")
    feature = memoryview(buffers["tree.feature"]).cast("B")
    shape = memoryview(buffers["tree.shape"]).cast("B").cast("i")
    inner = list(_inner(child))
    # the nodes and the slots that were ever in use
    nodes, leaves = (
        shape[loader.constant("hoeffding.pool", name)] for name in ("_N_NEXT_NODE", "_N_NEXT_SLOT")
    )
    return {
        "nodes": 2 * len(inner) + 1,
        "depth": max((level + 1 for _, level in inner), default=0),
        "features": len({feature[node] for node, _ in inner}),
        "most_nodes": nodes,
        "most_leaves": leaves,
        "bytes": int(learner(model).nbytes(**{**parameters, "nodes": nodes, "leaves": leaves})),
    }


def _inner(child: memoryview) -> Iterator[tuple[int, int]]:
    """Yield the inner nodes and the number of tests before each; node 0 is the root."""
    waiting = [(0, 0)]
    while waiting:
        node, level = waiting.pop()
        if child[node]:
            yield node, level
            waiting += [(child[node], level + 1), (child[node] + 1, level + 1)]


def river_shape(model: Any) -> Shape | None:
    """Return the shape of a tree of River; None for its other learners."""
    if not hasattr(model, "_root"):
        return None
    nodes = deepest = 0
    tested = set()
    waiting = [] if model._root is None else [(model._root, 0)]
    while waiting:
        node, level = waiting.pop()
        nodes += 1
        deepest = max(deepest, level)
        if hasattr(node, "children"):
            tested.add(node.feature)
            waiting += [(child, level + 1) for child in node.children]
    return {"nodes": max(1, nodes), "depth": deepest, "features": len(tested)}


def moa_shape(model: Any) -> Shape | None:
    """Return the shape of a tree of MOA; None for its other learners, and for impossible figures.

    MOA's HAT can report 0 nodes, and an ensemble without a sample so far has no measurements.
    """
    if not str(model.getClass().getName()).startswith("moa.classifiers.trees."):
        return None
    result = {}
    for measurement in model.getModelMeasurements():
        name = _MOA.get(str(measurement.getName()))
        if name is not None:
            result[name] = int(measurement.getValue())
    return result if result.get("nodes", 0) > 0 else None

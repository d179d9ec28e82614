"""Where `tune` searches for a HoeffdingTree."""

from __future__ import annotations

from typing import Any

from ..search_space import Ask

# Naive Bayes alone, a medium tree, and a tree with many small leaves
FIRST: tuple[dict[str, Any], ...] = (
    {
        "depth": 0, "nodes": 1, "leaves": 1, "adaptive": True,
        "leaf": "nb", "bins": 8, "boost": False,
    },
    {
        "depth": 8, "nodes": 31,
        "leaves": 10, "grace_period": 25,
        "split_confidence": 1e-3, "tie_threshold": 0.1,
        "criterion": "infogain", "policy": "vfdt",
        "regularization": 1.0, "adaptive": True, "leaf": "nb",
        "bins": 12, "boost": False,
    },
    {
        "depth": 6, "nodes": 47,
        "leaves": 32, "grace_period": 25,
        "split_confidence": 0.1, "tie_threshold": 0.2,
        "criterion": "infogain", "policy": "svfdt2",
        "regularization": 1.0, "adaptive": True, "leaf": "nb",
        "bins": 5, "boost": False,
    },
)  # fmt: skip


def space(ask: Ask, features: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "depth": ask.whole("depth", 0, 12, log=False),
        "adaptive": ask.one_of("adaptive", False, True),
        "leaf": ask.one_of("leaf", "nba", "nb", "mc"),
        "bins": ask.whole("bins", 3, 32),
        "boost": ask.one_of("boost", False, True),
        "nodes": 1,
        "leaves": 1,
    }
    if result["boost"]:
        result["lambda_min"] = ask.number("lambda_min", 0.25, 2)
        result["lambda_max"] = ask.number("lambda_max", 2, 12)
    if not result["depth"]:  # a leaf that is the whole tree is never split
        return result
    nodes = ask.whole("nodes", 3, 255)
    policy = ask.one_of("policy", "vfdt", "efdt", "svfdt1", "svfdt2")
    return result | {
        "nodes": nodes,
        "leaves": min(ask.whole("leaves", 1, 64), nodes),
        "grace_period": ask.whole("grace_period", 10, 400),
        "split_confidence": ask.number("split_confidence", 1e-7, 0.5),
        "tie_threshold": ask.number("tie_threshold", 0.0, 0.5, log=False),
        "criterion": ask.one_of("criterion", "infogain", "gini"),
        "policy": policy,
        "regularization": ask.one_of("regularization", 1.0, 0.5),
    }

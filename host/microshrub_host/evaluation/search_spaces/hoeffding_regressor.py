"""Where `tune` searches for a HoeffdingRegressor."""

from __future__ import annotations

from typing import Any

from ..search_space import Ask

# Means over few samples for drifting targets, over many for noisy targets
FIRST: tuple[dict[str, Any], ...] = (
    {
        "depth": 12, "nodes": 31, "leaves": 8, "grace_period": 25,
        "split_confidence": 0.05, "tie_threshold": 0.2, "bins": 8, "memory": 8,
    },
    {
        "depth": 12, "nodes": 127, "leaves": 16, "grace_period": 25,
        "split_confidence": 0.05, "tie_threshold": 0.2, "bins": 6, "memory": 32,
    },
    {
        "depth": 12, "nodes": 127, "leaves": 16, "grace_period": 25,
        "split_confidence": 0.05, "tie_threshold": 0.1, "bins": 8, "memory": 4,
    },
)  # fmt: skip


def space(ask: Ask, features: int) -> dict[str, Any]:
    nodes = ask.whole("nodes", 3, 511)
    return {
        "depth": ask.whole("depth", 2, 16, log=False),
        "nodes": nodes,
        "leaves": min(ask.whole("leaves", 1, 64), nodes),
        "grace_period": ask.whole("grace_period", 10, 200),
        "split_confidence": ask.number("split_confidence", 1e-4, 0.5),
        "tie_threshold": ask.number("tie_threshold", 0.05, 0.5),
        "bins": ask.whole("bins", 3, 32),
        "memory": ask.whole("memory", 2, 128),
    }

"""Where `tune` searches for a ShrubRegressor."""

from __future__ import annotations

from typing import Any

from ..search_space import Ask

# Few samples for fast changes, many for slow ones; the default is in between
FIRST: tuple[dict[str, Any], ...] = (
    {"window": 64, "trees": 8, "leaves": 12, "every": 8, "step": 0.1},
    {"window": 512, "trees": 24, "leaves": 48, "every": 32, "step": 0.1},
    {"window": 2000, "trees": 32, "leaves": 96, "every": 64, "step": 0.1},
)


def space(ask: Ask, features: int) -> dict[str, Any]:
    return {
        "window": ask.whole("window", 16, 2047),
        "trees": ask.whole("trees", 2, 64),
        "leaves": ask.whole("leaves", 4, 128),
        "every": ask.whole("every", 4, 128),
        "step": ask.number("step", 1 / 64, 1),
        "max_features": ask.whole("max_features", 0, features, log=False),
    }

"""Where `tune` searches for a Thicket, whose only option is its size in bytes."""

from __future__ import annotations

from typing import Any

from ..search_space import Ask

FIRST: tuple[dict[str, Any], ...] = tuple({"bytes": 1 << shift} for shift in range(16, 10, -1))


def space(ask: Ask, features: int) -> dict[str, Any]:
    return {"bytes": ask.whole("bytes", 2048, max(2048, min(ask.budget, 262_144)))}

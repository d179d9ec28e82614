"""Random configurations of a method: one value is drawn from each list.

Bergstra, Bengio: Random Search for Hyper-Parameter Optimization, JMLR 13, 2012.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

Grid = dict[str, Sequence[Any]]

SQRT = "sqrt(features)"  # a value that depends on the stream


def draw(grid: Grid, count: int, seed: object) -> list[dict[str, Any]]:
    """Return this many different configurations, or all if there are fewer.

    A longer draw with the same seed begins with the same configurations.
    """
    rng = random.Random(str(seed))
    most = min(count, math.prod(len(values) for values in grid.values()))
    result: list[dict[str, Any]] = []
    while len(result) < most:
        drawn = {name: rng.choice(values) for name, values in grid.items()}
        if drawn not in result:
            result.append(drawn)
    return result


def settled(settings: Mapping[str, Any], features: int) -> dict[str, Any]:
    """Return the settings for a stream with this many features: SQRT becomes a rounded number."""
    root = max(1, round(math.sqrt(features)))
    return {name: root if value == SQRT else value for name, value in settings.items()}

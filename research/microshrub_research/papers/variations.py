"""Random configurations of a method: one value is drawn from each list.

Bergstra, Bengio: Random Search for Hyper-Parameter Optimization, JMLR 13, 2012.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

Grid = dict[str, Sequence[Any]]

SQRT = "sqrt(features)"  # a value that is known once the stream is


def draw(grid: Grid, count: int, seed: object) -> list[dict[str, Any]]:
    """That many different configurations, or all there are if they are fewer.

    A longer draw with the same seed begins with the same ones.
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
    """The settings on a stream of so many features: SQRT is a number, rounded to a whole one."""
    root = max(1, round(math.sqrt(features)))
    return {name: root if value == SQRT else value for name, value in settings.items()}

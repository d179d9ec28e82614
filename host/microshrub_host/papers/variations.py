"""Random configurations of a method: lists of values, of which one each is drawn.

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
    """So many different configurations, or all that there are if they are no more.

    The first ones of a longer draw with the same seed are the same.
    """
    rng = random.Random(str(seed))
    most = min(count, math.prod(len(values) for values in grid.values()))
    found: list[dict[str, Any]] = []
    while len(found) < most:
        drawn = {name: rng.choice(values) for name, values in grid.items()}
        if drawn not in found:
            found.append(drawn)
    return found


def settled(settings: Mapping[str, Any], features: int) -> dict[str, Any]:
    """The settings on a stream of so many features: SQRT is a number, rounded to a whole one."""
    root = max(1, round(math.sqrt(features)))
    return {name: root if value == SQRT else value for name, value in settings.items()}

"""A learner of numbers looked at from outside, and taught."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np


def held(model: Any) -> dict[str, Any]:
    """Its buffers, by name, as integers that do not overflow."""
    return {name: np.array(buffer).astype(int) for name, _, buffer in model.buffers()}


def learn(model: Any, codes: Any, targets: Any) -> Any:
    """What it predicts for each row of 16-bit codes before it learns the row's target."""
    values = array("H", bytes(2 * len(targets)))
    model.run(array("H", codes.ravel().tolist()), array("H", targets.tolist()), values)
    return np.array(values).astype(int)

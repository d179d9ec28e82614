"""The buffers of a regressor, and its training in tests."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np


def held(model: Any) -> dict[str, Any]:
    """Return the model's buffers, by name, as integers that do not overflow."""
    return {name: np.array(buffer).astype(int) for name, _, buffer in model.buffers()}


def learn(model: Any, codes: Any, targets: Any) -> Any:
    """Return the prediction for each row of 16-bit codes before the model learns its target."""
    values = array("H", bytes(2 * len(targets)))
    model.run(array("H", codes.ravel().tolist()), array("H", targets.tolist()), values)
    return np.array(values).astype(int)

"""Difficult sensor values."""

from __future__ import annotations

import numpy as np

from microshrub_host.simulation.engine_interface import Labels
from microshrub_host.streams.units import Raw


def draw_raw(seed: int, samples: int, features: int, classes: int) -> tuple[Raw, Labels]:
    """Draw rows with outliers, few-valued and missing values, and labels that depend on rows."""
    rng = np.random.default_rng(seed)
    raw = rng.normal(0, 1000, (samples, features)).astype(np.int32)
    raw[:, -1] //= 700
    raw[rng.random(raw.shape) < 0.02] *= 1000
    raw[rng.random(raw.shape) < 0.02] = -(2**29)  # missing
    labels = rng.integers(classes, size=samples)
    return raw, np.where(raw[:, 0] > 300, classes - 1, labels).astype(np.uint8)

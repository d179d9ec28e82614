"""What several test files use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"


def make_blobs(samples: int, seed: int = 3) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Two overlapping clouds of raw values: rows of 2 features, labels of 2 classes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, samples).astype(np.uint8)
    rows = rng.normal(labels[:, None] * 150, 100, (samples, 2)).astype(np.int32)
    return rows, labels

"""Trials of a leaf's features find the split with the highest merit, for any number of samples.

The merit is that of tree_growth.py: for the borders between at most 16 bins of equal width, in
fractions of 1/256 that get coarser from 2,048 samples on.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pool_support import buffer_of

from microshrub_host.library import loader

PLAIN = loader.load("python")
GROWTH, TREES = (
    sys.modules[f"{PLAIN.__name__}.thicket.{name}"] for name in ("tree_growth", "trees")
)
BINS = 16
MERIT, BY, AT = 8, 9, 10  # in the sprout's state

Ints = NDArray[np.int64]


def merits(codes: Ints, labels: Ints, classes: int) -> dict[int, int]:
    """Return the merit of each threshold at a border of the bins of one feature."""
    least, greatest = int(codes.min()), int(codes.max())
    width = 0
    while (greatest - least) >> width >= BINS:
        width += 1
    shift, size = 8, len(codes)
    while size >= 2048:
        shift, size = shift - 2, size >> 1
    results = {}
    for threshold in range(least + (1 << width) - 1, greatest, 1 << width):
        parts = [np.bincount(labels[side], minlength=classes) for side in
                 (codes <= threshold, codes > threshold)]  # fmt: skip
        results[threshold] = sum((int(part @ part) << shift) // int(part.sum()) for part in parts)
    return results


def planted(samples: int, classes: int) -> tuple[Any, Ints, Ints]:
    """Return a grove with a new tree of one leaf, the codes of its samples and their labels."""
    grove = PLAIN.Grove(4, classes, window=max(samples, 8), trees=1, leaves=8, every=1)
    rng = np.random.default_rng(samples + classes)
    ring = len(buffer_of(grove, "ring.labels"))
    labels = rng.integers(0, classes, ring)
    codes = rng.integers(0, 256, (ring, 4))
    codes[:, 1] = 100 + rng.integers(0, 5, ring)  # each code has its own bin
    codes[:, 2] = np.clip(rng.normal(40 + 20 * labels, 15), 0, 255)
    codes[:, 3] = np.where(labels == 0, 7, 250)
    memoryview(buffer_of(grove, "ring.labels"))[:] = labels.astype(np.uint8).tobytes()
    memoryview(buffer_of(grove, "ring.codes"))[:] = codes.astype(np.uint8).tobytes()
    buffer_of(grove, "ring.shape")[3] = ring
    buffer_of(grove, "store.state")[4] = 1000  # so no threshold is drawn at random
    TREES.plant(0, 0, grove._addresses, samples)
    line = np.array(buffer_of(grove, "sprout.line"))[:samples]
    return grove, codes[line], labels[line]


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("samples", [2, 3, 17, 255, 256, 1023, 1024, 1025, 2047, 2048, 5001])
def test_the_split_has_the_highest_merit_of_all(samples: int, classes: int) -> None:
    grove, codes, labels = planted(samples, classes)
    sprout = buffer_of(grove, "sprout.state")
    GROWTH.measure(0, 0, grove._addresses, 0)
    TREES.choose(grove._addresses)
    best = 0
    for drawn in range(4):
        GROWTH.attempt(grove._addresses)
        computed = merits(codes[:, buffer_of(grove, "sprout.order")[drawn]], labels, classes)
        best = max([best, *computed.values()])
        assert sprout[MERIT] == best
    if best:
        assert merits(codes[:, sprout[BY]], labels, classes)[sprout[AT]] == best

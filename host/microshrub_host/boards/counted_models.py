"""The models whose instructions are counted, and the streams that they learn."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..library import loader

WARMUP = 1000  # samples to learn before the count
COUNTED = 1000


@dataclass(frozen=True)
class CountedModel:
    """A model in the table, and the stream that it learns."""

    name: str
    learner: str
    parameters: Mapping[str, Any]
    codes: NDArray[np.uint16]  # (samples, features)
    labels: NDArray[np.uint8]
    warmup: int = WARMUP  # samples to learn before the count


_SHRUB = {"window": 16, "trees": 4, "depth": 4, "step": 8}
_TREE = {"depth": 8, "nodes": 63, "leaves": 8, "grace_period": 100, "split_confidence": 1e-3,
         "tie_threshold": 0.1, "adaptive": False, "bins": 16}  # fmt: skip

# name, learner, features, classes and the other parameters
TABLE: tuple[tuple[str, str, int, int, dict[str, Any]], ...] = (
    ("shrubs 16/4/4 (elec)", "ShrubEnsemble", 14, 2, _SHRUB),
    ("shrubs 32/8/5", "ShrubEnsemble", 8, 2, {"window": 32, "trees": 8, "depth": 5}),
    ("Hoeffding tree, nba", "HoeffdingTree", 8, 2, _TREE | {"leaf": "nba"}),
    ("adaptive boosted SVFDT-II", "HoeffdingTree", 8, 2,
     _TREE | {"policy": "svfdt2", "adaptive": True, "boost": True}),
    ("shrubs 32/8/5, 5 classes", "ShrubEnsemble", 8, 5, {"window": 32, "trees": 8, "depth": 5}),
    ("shrubs 128/8/5", "ShrubEnsemble", 8, 2, {"window": 128, "trees": 8, "depth": 5}),
)  # fmt: skip

# Thickets for elec's features: bytes, and the number of samples that fill all windows
THICKETS = ((16_384, 700), (65_536, 1_300))
THICKET_COUNTED = 4000


def configurations(samples: int = WARMUP + COUNTED) -> list[CountedModel]:
    """Return the models of the table, each with a stream of that many samples."""
    return [
        _model(name, learner, features, classes, samples, WARMUP, **parameters)
        for name, learner, features, classes, parameters in TABLE
    ]


def thickets() -> list[CountedModel]:
    """Return thickets, whose count begins once all windows are full."""
    return [
        _model(
            f"Thicket, {size >> 10} KB (elec)", "Thicket", 14, 2, full + THICKET_COUNTED, full,
            bytes=size,
        )
        for size, full in THICKETS
    ]  # fmt: skip


def for_anomalies() -> list[CountedModel]:
    """Return streams for the anomaly score, whose count begins once its window is full."""
    return [
        _model(f"{features} features", "ShrubEnsemble", features, 2, 600, 520)
        for features in (2, 5, 8, 14, 36)
    ]


def for_queries() -> list[CountedModel]:
    """Return codes that represent votes, for several numbers of classes."""
    return [
        _model(f"{classes} classes", "ShrubEnsemble", classes, 2, 300, 0) for classes in (2, 6, 32)
    ]


def for_rehearsals() -> list[CountedModel]:
    """Return thickets that have learned some samples before the count."""
    return [
        _model(f"{features} features, 4 KB", "Thicket", features, 2, 500, 300, bytes=4096)
        for features in (2, 8)
    ]


def _model(
    name: str, learner: str, features: int, classes: int, samples: int, warmup: int, **more: Any
) -> CountedModel:
    """Return a model of a shape, with a stream of that many samples."""
    codes, labels = stream(features, classes, samples)
    parameters = {"features": features, "classes": classes, **more}
    return CountedModel(name, learner, parameters, codes, labels, warmup)


def clustered(features: int, classes: int, size: int, seed: int = 5) -> CountedModel:
    """Return a thicket, and 2,600 samples in two clusters a class; 2,000 are the warm-up.

    The classes are well separated, so trees are smaller than with stream().
    """
    samples = 2600
    rng = np.random.default_rng(seed)
    centers = rng.integers(8000, 56000, (2 * classes, features))
    labels = rng.integers(0, classes, samples)
    which = labels * 2 + rng.integers(0, 2, samples)
    codes = np.clip(centers[which] + rng.normal(0, 6000, (samples, features)), 0, 65535)
    parameters = {"features": features, "classes": classes, "bytes": size}
    rows = codes.astype(np.uint16), labels.astype(np.uint8)
    return CountedModel("", "Thicket", parameters, *rows, warmup=2000)


def stream(
    features: int, classes: int, samples: int
) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Return codes and labels like a sensor's, from the library's own random generator.

    A label stays for 6 samples on average, about as in elec. Feature f is noise, which the label
    shifts by up to f % 4 eighths of the range; every fourth feature has only four values.
    """
    fixed = loader.load("python").fixed
    rng = array("i", (0, 0))
    fixed.seed_generator(rng, 1)
    generator = fixed.generator_table(rng)
    codes = np.zeros((samples, features), np.uint16)
    labels = np.zeros(samples, np.uint8)
    label = 0
    for i in range(samples):
        if not fixed.below(generator, 0, 6):
            label = fixed.below(generator, 0, classes)
        labels[i] = label
        for f in range(features):
            shift = label * 8192 * (f % 4) // (classes - 1)
            code = 8192 + shift + fixed.below(generator, 0, 32768)
            codes[i, f] = code if f % 4 != 3 else code >> 14 << 14
    return codes, labels

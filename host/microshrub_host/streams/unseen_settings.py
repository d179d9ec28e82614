"""The streams unseen_NAME: River's generators with seeds on which no constant was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SEED = 7
NOISE = 0.2
TAUGHT_SEED = 2611  # for the streams on which accuracy on unseen data is measured


@dataclass(frozen=True)
class UnseenSettings:
    """A generator of River with its settings in each turn, and the form of its samples."""

    generator: str
    turns: Sequence[Mapping[str, Any]]
    classes: int
    features: tuple[str, ...]  # as River yields them


def numbered(count: int) -> tuple[str, ...]:
    """Return names for unnamed features."""
    return tuple(f"x{i}" for i in range(count))


AGRAWAL_FEATURES = (
    "salary", "commission", "age", "elevel", "car", "zipcode", "hvalue", "hyears", "loan",
)  # fmt: skip
_SEEDED = {"seed": SEED}
_RBF_SEEDED = {"seed_model": SEED, "seed_sample": SEED}
_RBF_SHAPE = {"n_classes": 4, "n_features": 8}
_DRIFT_SHAPE = {"n_classes": 3, "n_features": 6, "n_centroids": 30, "n_drift_centroids": 30}
_VARIANT = {"noise": NOISE, **_SEEDED}
_TAUGHT = {"seed": TAUGHT_SEED}
_CLUSTERS = {
    "seed_model": TAUGHT_SEED, "seed_sample": TAUGHT_SEED, "n_classes": 6, "n_features": 12,
}  # fmt: skip
_TREE = {"seed_tree": TAUGHT_SEED, "seed_sample": TAUGHT_SEED, "n_classes": 4}

CHANGING: Mapping[str, Sequence[int]] = {  # numbers of the concepts, five in turn
    "agrawal": (7, 4, 7, 4, 7), "sea": (0, 3, 1, 2, 0), "sine": (0, 1, 2, 3, 0),
    "stagger": (0, 1, 2, 0, 1),
}  # fmt: skip

UNSEEN: Mapping[str, UnseenSettings] = {
    "agrawal": UnseenSettings(
        "Agrawal", [{"classification_function": f, **_SEEDED} for f in (5, 2)], 2,
        AGRAWAL_FEATURES,
    ),
    "led": UnseenSettings("LED", [{"noise_percentage": NOISE, **_SEEDED}], 10, numbered(7)),
    "rbf": UnseenSettings("RandomRBF", [_RBF_SHAPE | _RBF_SEEDED], 4, numbered(8)),
    "rbf_drift": UnseenSettings(
        "RandomRBFDrift", [_DRIFT_SHAPE | _RBF_SEEDED | {"change_speed": 5e-4}], 3, numbered(6),
    ),
    "sea": UnseenSettings("SEA", [{"variant": v, **_VARIANT} for v in (2, 0)], 2, numbered(3)),
    "sine": UnseenSettings(
        "Sine", [{"classification_function": f, **_SEEDED} for f in (1, 3)], 2, numbered(2),
    ),
    "clusters": UnseenSettings("RandomRBF", [_CLUSTERS], 6, numbered(12)),
    "hyperplane": UnseenSettings("Hyperplane", [{"n_features": 8, **_TAUGHT}], 2, numbered(8)),
    "mixed": UnseenSettings("Mixed", [_TAUGHT], 2, numbered(4)),
    "random_tree": UnseenSettings("RandomTree", [_TREE], 4, numbered(10)),
    "waveform": UnseenSettings("Waveform", [_TAUGHT], 3, numbered(21)),
}  # fmt: skip

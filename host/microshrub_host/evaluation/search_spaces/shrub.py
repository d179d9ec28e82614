"""Where `tune` searches for a ShrubEnsemble."""

from __future__ import annotations

import math
from typing import Any

from ..search_space import Ask

_FEW = 4  # members with which an ensemble hardly ever gets stuck, whatever the step
_MAX_FEATURES = ("all", "half", "root")

_USUAL: dict[str, Any] = {
    "train_every": 1,
    "trigger": "sample",
    "max_features": "all",
    "feature_bits": 8,
    "splitter": "best",
    "loss": "mse",
    "leaf": "proba",
}
# Small ensembles for runs of one label and for noise, then large ones for structured concepts
FIRST: tuple[dict[str, Any], ...] = (
    _USUAL | {"window": 32, "trees": 8, "depth": 5, "step": 0.5, "feature_bits": 16},
    _USUAL | {"window": 16, "trees": 4, "depth": 4, "step": 8.0},
    _USUAL | {"window": 32, "trees": 16, "depth": 2, "step": 0.05, "train_every": 8},
    _USUAL
    | {"window": 256, "trees": 20, "depth": 7, "step": 0.37, "train_every": 6, "trigger": "error"},
    _USUAL
    | {
        "window": 256,
        "trees": 32,
        "depth": 5,
        "step": 0.26,
        "train_every": 3,
        "splitter": "random",
        "leaf": "class",
    },
    _USUAL | {"window": 512, "trees": 32, "depth": 5, "step": 0.1, "train_every": 32},
    _USUAL
    | {
        "window": 512,
        "trees": 32,
        "depth": 7,
        "step": 0.3,
        "train_every": 4,
        "trigger": "error",
        "max_features": "root",
    },
    _USUAL
    | {
        "window": 1024,
        "trees": 24,
        "depth": 6,
        "step": 0.94,
        "train_every": 6,
        "splitter": "random",
        "leaf": "class",
    },
)


def least_step(trees: int) -> float:
    """Return the step with which a shrub that is right half of the time replaces a wrong one.

    A new shrub begins with the weight 0, and a step changes the weight by at most the step times
    the share of wrong samples in the window. In a full ensemble, a new shrub stays only if its
    weight is above the least weight there. With one to three members, the least weight is so large
    that with small steps the first shrubs, grown on a few samples, may never be replaced. Four or
    more members differ enough, so that any step will do: the result is 0.
    """
    return 2 / trees if trees < _FEW else 0.0


def space(ask: Ask, features: int) -> dict[str, Any]:
    drawn = ask.one_of("max_features", *_MAX_FEATURES)
    trees = ask.whole("trees", 1, 64)
    step = ask.number("step", 1 / 64, 32)
    return {
        "window": ask.whole("window", 8, 1024),
        "trees": trees,
        "depth": ask.whole("depth", 1, 10, log=False),
        "step": max(step, least_step(trees)),
        "train_every": ask.whole("train_every", 1, 32),
        "trigger": ask.one_of("trigger", "sample", "error"),
        "max_features": {
            "all": 0,
            "half": max(1, features // 2),
            "root": max(1, math.isqrt(features)),
        }[drawn],
        "feature_bits": ask.one_of("feature_bits", 8, 16),
        "splitter": ask.one_of("splitter", "best", "random"),
        "loss": ask.one_of("loss", "mse", "cross_entropy"),
        "leaf": ask.one_of("leaf", "proba", "class"),
    }

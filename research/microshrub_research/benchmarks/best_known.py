"""The best known models of a small memory, by stream and budget.

The parameters come from random searches and hill climbing on the same streams that the page shows,
which favours them; `tune` searches on a user's stream, and guards against that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..compare.contender import Contender


@dataclass(frozen=True)
class Pick:
    """A stream, the limit of model bytes in the search, and the parameters found."""

    stream: str
    budget: int
    model: str
    parameters: Mapping[str, Any]

    def contender(self) -> Contender:
        """Return the pick as a contender for compare()."""
        name = f"{self.model}, {self.budget >> 10} KB"
        return Contender(name, "ours", self.model, self.parameters)


_ELEC = {"window": 16, "trees": 4, "depth": 4, "step": 8.0}
_ELEC_TREE = {
    "depth": 8, "nodes": 15, "leaves": 12, "split_confidence": 0.2, "tie_threshold": 0.1,
    "grace_period": 100, "adaptive": True, "leaf": "nb", "boost": True, "lambda_min": 0.5,
    "lambda_max": 4.0, "bins": 12,
}  # fmt: skip
_WEATHER_16 = {
    "depth": 3, "nodes": 47, "leaves": 10, "tie_threshold": 0.1, "grace_period": 10,
    "criterion": "gini", "policy": "svfdt1", "regularization": 0.5, "adaptive": True, "bins": 8,
}  # fmt: skip
_WEATHER_64 = {
    "window": 1024, "trees": 24, "depth": 6, "step": 0.94, "splitter": "random",
    "train_every": 6, "leaf": "class", "feature_bits": 8,
}  # fmt: skip
_AGRAWAL = {
    "depth": 8, "nodes": 31, "leaves": 10, "split_confidence": 1e-3, "tie_threshold": 0.1,
    "grace_period": 25, "adaptive": True, "leaf": "nb", "bins": 12,
}  # fmt: skip
_LED = {"depth": 0, "nodes": 1, "leaves": 1, "leaf": "nb", "adaptive": True}
_RBF = {
    "window": 512, "trees": 32, "depth": 7, "step": 0.3, "max_features": 4, "feature_bits": 8,
    "trigger": "error", "train_every": 4,
}  # fmt: skip
_RBF_TREE = {
    "depth": 4, "nodes": 15, "leaves": 10, "split_confidence": 0.1, "tie_threshold": 0.3,
    "grace_period": 10, "adaptive": True, "leaf": "nb", "boost": True, "lambda_min": 0.5,
    "lambda_max": 8.0, "bins": 16,
}  # fmt: skip
_SEA_16 = {
    "depth": 6, "nodes": 47, "leaves": 32, "split_confidence": 0.1, "tie_threshold": 0.2,
    "grace_period": 25, "policy": "svfdt2", "adaptive": True, "leaf": "nb", "bins": 5,
}  # fmt: skip
_SEA_64 = {
    "window": 512, "trees": 32, "depth": 5, "step": 0.1, "train_every": 32, "feature_bits": 8,
}  # fmt: skip
_WISDM = {
    "window": 256, "trees": 20, "depth": 7, "step": 0.37, "trigger": "error", "train_every": 6,
    "feature_bits": 8,
}  # fmt: skip
_ROOM = {
    "window": 256, "trees": 32, "depth": 5, "step": 0.26, "splitter": "random",
    "train_every": 3, "leaf": "class", "feature_bits": 8,
}  # fmt: skip

SMALL = 16 << 10
LARGE = 64 << 10
PICKS = (
    Pick("elec", SMALL, "shrub", _ELEC),
    Pick("elec", SMALL, "hoeffding", _ELEC_TREE),
    Pick("weather", SMALL, "hoeffding", _WEATHER_16),
    Pick("agrawal_a", SMALL, "hoeffding", _AGRAWAL),
    Pick("led_a", SMALL, "hoeffding", _LED),
    Pick("sea_a", SMALL, "hoeffding", _SEA_16),
    Pick("elec", LARGE, "shrub", _ELEC),
    Pick("agrawal_a", LARGE, "hoeffding", _AGRAWAL),
    Pick("led_a", LARGE, "hoeffding", _LED),
    Pick("wisdm", LARGE, "shrub", _WISDM),
    Pick("sea_a", LARGE, "shrub", _SEA_64),
    Pick("weather", LARGE, "shrub", _WEATHER_64),
    Pick("roomocc", LARGE, "shrub", _ROOM),
    Pick("rbf_m", LARGE, "shrub", _RBF),
    Pick("rbf_m", LARGE, "hoeffding", _RBF_TREE),
)

# The learners of MOA that the picks of a budget are compared with: defaults, and ten trees.
RIVALS = {SMALL: ("moa:HoeffdingTree", "moa:EFDT"), LARGE: ("moa:ARF", "moa:SRP")}

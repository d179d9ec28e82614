"""What `tune` searches: the ranges of each model's parameters, and configurations to begin with.

A trial is whatever has Optuna's suggest_int, suggest_float and suggest_categorical. What depends
on another parameter is asked for only where it counts, so all that comes out goes together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..engines.learners import MODELS, defaults

Choice = dict[str, Any]  # names as a trial has them: "model", "shrub window"

_MAX_FEATURES = ("all", "half", "root")

# Small and middling ones that are known to be of use on some stream
FIRST: tuple[Choice, ...] = (
    {
        "model": "shrub", "shrub window": 32, "shrub trees": 8, "shrub depth": 5,
        "shrub step": 0.5, "shrub train_every": 1, "shrub trigger": "sample",
        "shrub max_features": "all", "shrub feature_bits": 16, "shrub splitter": "best",
        "shrub loss": "mse", "shrub leaf": "proba",
    },
    {
        "model": "shrub", "shrub window": 16, "shrub trees": 4, "shrub depth": 4,
        "shrub step": 8.0, "shrub train_every": 1, "shrub trigger": "sample",
        "shrub max_features": "all", "shrub feature_bits": 8, "shrub splitter": "best",
        "shrub loss": "mse", "shrub leaf": "proba",
    },
    {
        "model": "shrub", "shrub window": 32, "shrub trees": 16, "shrub depth": 2,
        "shrub step": 0.05, "shrub train_every": 8, "shrub trigger": "sample",
        "shrub max_features": "all", "shrub feature_bits": 8, "shrub splitter": "best",
        "shrub loss": "mse", "shrub leaf": "proba",
    },
    {
        "model": "hoeffding", "hoeffding depth": 0, "hoeffding adaptive": True,
        "hoeffding leaf": "nb", "hoeffding bins": 8, "hoeffding boost": False,
    },
    {
        "model": "hoeffding", "hoeffding depth": 8, "hoeffding nodes": 31,
        "hoeffding leaves": 10, "hoeffding grace_period": 25,
        "hoeffding split_confidence": 1e-3, "hoeffding tie_threshold": 0.1,
        "hoeffding criterion": "infogain", "hoeffding policy": "vfdt",
        "hoeffding regularization": 1.0, "hoeffding adaptive": True, "hoeffding leaf": "nb",
        "hoeffding bins": 12, "hoeffding boost": False,
    },
)  # fmt: skip


def sample(trial: Any, features: int) -> tuple[str, dict[str, Any]]:
    """A model and all its parameters but those that the stream gives."""
    model = str(trial.suggest_categorical("model", list(MODELS)))
    ask = _Ask(trial, model)
    found = _shrub(ask, features) if model == "shrub" else _hoeffding(ask)
    return model, defaults(model) | found


def changed(model: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the parameters that are not the default: what has to be typed."""
    usual = defaults(model)
    return {name: value for name, value in parameters.items() if value != usual[name]}


class _Ask:
    """A trial whose parameters are called by the model, too."""

    def __init__(self, trial: Any, model: str) -> None:
        self._trial = trial
        self._model = model

    def whole(self, name: str, low: int, high: int, *, log: bool = True) -> int:
        return int(self._trial.suggest_int(f"{self._model} {name}", low, high, log=log))

    def number(self, name: str, low: float, high: float, *, log: bool = True) -> float:
        """Two digits of it: more would say nothing."""
        value = self._trial.suggest_float(f"{self._model} {name}", low, high, log=log)
        return min(high, max(low, float(f"{value:.2g}")))

    def one_of(self, name: str, *values: Any) -> Any:
        return self._trial.suggest_categorical(f"{self._model} {name}", list(values))


def _shrub(ask: _Ask, features: int) -> dict[str, Any]:
    drawn = ask.one_of("max_features", *_MAX_FEATURES)
    return {
        "window": ask.whole("window", 8, 1024),
        "trees": ask.whole("trees", 1, 64),
        "depth": ask.whole("depth", 1, 10, log=False),
        "step": ask.number("step", 1 / 64, 32),
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


def _hoeffding(ask: _Ask) -> dict[str, Any]:
    found: dict[str, Any] = {
        "depth": ask.whole("depth", 0, 12, log=False),
        "adaptive": ask.one_of("adaptive", False, True),
        "leaf": ask.one_of("leaf", "nba", "nb", "mc"),
        "bins": ask.whole("bins", 3, 32),
        "boost": ask.one_of("boost", False, True),
        "nodes": 1,
        "leaves": 1,
    }
    if found["boost"]:
        found["lambda_min"] = ask.number("lambda_min", 0.25, 2)
        found["lambda_max"] = ask.number("lambda_max", 2, 12)
    if not found["depth"]:  # a leaf that is the whole tree is never split
        return found
    nodes = ask.whole("nodes", 3, 255)
    policy = ask.one_of("policy", "vfdt", "efdt", "svfdt1", "svfdt2")
    return found | {
        "nodes": nodes,
        "leaves": min(ask.whole("leaves", 1, 64), nodes),
        "grace_period": ask.whole("grace_period", 10, 400),
        "split_confidence": ask.number("split_confidence", 1e-7, 0.5),
        "tie_threshold": ask.number("tie_threshold", 0.0, 0.5, log=False),
        "criterion": ask.one_of("criterion", "infogain", "gini"),
        "policy": policy,
        "regularization": ask.one_of("regularization", 1.0, 0.5),
    }

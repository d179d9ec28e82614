"""River's learners, run as River's users run them: a dict of floats in, a prediction out."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contender import NO_ANSWER
from .label_budgets import UNKNOWN, GivenLabels
from .tree_shape import Shape, river_shape

SCALED = "preprocessing.StandardScaler"

_Sample = tuple[dict[int, float], int]


class RiverLearner:
    """A classifier of River, for which all features are numeric, also those with two values."""

    def __init__(
        self,
        learner: str,
        settings: Mapping[str, Any],
        values: NDArray[np.float64],
        labels: GivenLabels,
    ) -> None:
        self._model = make(learner, settings)
        self._values = values
        self._labels = labels

    def prepare(self, part: slice) -> list[_Sample]:
        """Return (features by their numbers, class) of every sample."""
        rows = [dict(enumerate(row)) for row in self._values[part].tolist()]
        return list(zip(rows, self._labels[part].tolist(), strict=True))

    def run(self, samples: list[_Sample]) -> list[int]:
        predicted = []
        for x, label in samples:
            answer = self._model.predict_one(x)
            predicted.append(NO_ANSWER if answer is None else int(answer))
            if label != UNKNOWN:
                self._model.learn_one(x, label)
        return predicted

    def nbytes(self) -> int:
        """Return River's own measure: all Python objects that the model holds."""
        return int(self._model._raw_memory_usage)

    def shape(self) -> Shape | None:
        """Return the shape of a tree."""
        return river_shape(self._model)


def make(learner: str, settings: Mapping[str, Any]) -> Any:
    """Return the learner of that name, as in "tree.HoeffdingTreeClassifier".

    The settings are the constructor's; a `model` among them is a name, too. In "A | B", the
    learner B follows a transformer A, which has no settings.
    """
    before, pipe, last = learner.rpartition(" | ")
    if pipe:
        return make(before, {}) | make(last, settings)
    module, _, name = learner.partition(".")
    arguments = dict(settings)
    if "model" in arguments:
        arguments["model"] = make(arguments["model"], {})
    return getattr(importlib.import_module(f"river.{module}"), name)(**arguments)

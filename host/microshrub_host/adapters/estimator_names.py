"""The estimators' names: those that River and scikit-learn have, else the learner's own.

HoeffdingTree is a HoeffdingTreeClassifier, ThicketRegressor stays one, and a learner of one's own
called PassiveAggressive is a PassiveAggressiveClassifier.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from ..base.errors import AdapterError
from ..library.learners import MODELS, REGRESSORS

# Where River and scikit-learn call it something else
OF_RIVER = {
    "GaussianNaiveBayes": "GaussianNB",
    "HoeffdingRegressor": "HoeffdingTreeRegressor",
    "LinearRegressor": "LinearRegression",
    "NearestNeighbours": "KNNClassifier",
    "ShrubEnsemble": "ShrubClassifier",
    "SoftmaxRegression": "SoftmaxRegression",
}
OF_SKLEARN = OF_RIVER | {
    "NearestNeighbours": "KNeighborsClassifier",
    "SoftmaxRegression": "LogisticRegression",
}


class Estimators:
    """The classes of an adapter's module, one for each learner, made when they are first named.

    The module `home` beside it has the CLASSIFIER and the REGRESSOR. It is imported with the first
    class, so the names are there without River and scikit-learn.
    """

    def __init__(self, module: str, home: str, called: Mapping[str, str]) -> None:
        self._module = module
        self._home = home
        self._called = called

    def names(self) -> list[str]:
        """What the module exports, sorted."""
        return sorted([*self._models(), AdapterError.__name__])

    def listed(self) -> list[str]:
        """What the module's `dir()` shows."""
        own = [name for name in vars(sys.modules[self._module]) if name.startswith("__")]
        return sorted([*own, *self.names()])

    def found(self, name: str) -> Any:
        """What the module has under that name. Raises AttributeError; warns of a former name."""
        if name == "__all__":
            return self.names()
        models = self._models()
        former = {_former(model): now for now, model in models.items()}
        if name in former and name not in models:
            now = former[name]
            warnings.warn(f"{name} is now called {now}", FutureWarning, stacklevel=3)
            name = now
        if name == AdapterError.__name__:
            return AdapterError
        if name not in models:
            raise AttributeError(f"module {self._module!r} has no attribute {name!r}")
        parts = importlib.import_module(f"{self._module.rpartition('.')[0]}.{self._home}")
        kind = parts.REGRESSOR if models[name] in REGRESSORS else parts.CLASSIFIER
        return kind.estimator(name, self._module, models[name])

    def _models(self) -> dict[str, str]:
        """The learners by the names of their estimators."""
        return {
            self._called.get(kind, _name(kind)): model
            for models in (MODELS, REGRESSORS)
            for model, kind in models.items()
        }


def _name(kind: str) -> str:
    return kind if kind.endswith(("Classifier", "Regressor")) else f"{kind}Classifier"


def _former(model: str) -> str:
    """What the estimator of a learner was called before: the model's first word, and its kind."""
    kind = "Regressor" if model in REGRESSORS else "Classifier"
    return model.partition("-")[0].capitalize() + kind

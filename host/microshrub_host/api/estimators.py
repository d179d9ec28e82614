"""Estimators with the names that River and scikit-learn use, or else the learner's name.

HoeffdingTree becomes HoeffdingTreeClassifier, ThicketRegressor keeps its name, and your own
learner PassiveAggressive becomes PassiveAggressiveClassifier.

Each constructor has the learner's own parameters and the parameters that all estimators share.
River and scikit-learn read the constructor's signature and expect an attribute for each parameter.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.errors import AdapterError
from ..library.learners import MODELS, REGRESSORS, defaults, learner, learner_name
from ..streams.stream import MAX_FEATURES

# Learners that have another name in River or scikit-learn
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

    The module `home` in the same package has the CLASSIFIER and the REGRESSOR. That module is
    imported with the first class, so the names can be listed without River and scikit-learn.
    """

    def __init__(self, module: str, home: str, called: Mapping[str, str]) -> None:
        self._module = module
        self._home = home
        self._called = called

    def names(self) -> list[str]:
        """Return the names that the module exports, sorted."""
        return sorted([*self._models(), AdapterError.__name__])

    def listed(self) -> list[str]:
        """Return the names for the module's `dir()`, sorted."""
        dunders = [name for name in vars(sys.modules[self._module]) if name.startswith("__")]
        return sorted([*dunders, *self.names()])

    def attribute(self, name: str) -> Any:
        """Return the module's attribute of that name. Raises AttributeError if there is none."""
        if name == "__all__":
            return self.names()
        models = self._models()
        if name == AdapterError.__name__:
            return AdapterError
        if name not in models:
            raise AttributeError(f"module {self._module!r} has no attribute {name!r}")
        parts = importlib.import_module(f"{self._module.rpartition('.')[0]}.{self._home}")
        template = parts.REGRESSOR if models[name] in REGRESSORS else parts.CLASSIFIER
        return template.estimator(name, self._module, models[name])

    def _models(self) -> dict[str, str]:
        """Return the learners by the names of their estimators."""
        return {
            self._called.get(learner, _name(learner)): model
            for models in (MODELS, REGRESSORS)
            for model, learner in models.items()
        }


def _name(learner: str) -> str:
    return learner if learner.endswith(("Classifier", "Regressor")) else f"{learner}Classifier"


def of_learner(adapter: Any) -> dict[str, Any]:
    """Return the learner's own parameters from an adapter, with NumPy's numbers as Python's."""
    values = {name: getattr(adapter, name) for name in defaults(adapter._model)}
    return {n: v.item() if isinstance(v, np.generic) else v for n, v in values.items()}


def check_parameters(adapter: Any, classes: Sequence[int] = ()) -> None:
    """Raise AdapterError unless the parameters are valid for some number of features and classes.

    A small RAM limit may be enough for few features, and their number is known only after the
    warm-up. The error has the learner's message.
    """
    named = adapter.features
    if named is not None and (isinstance(named, str) or not isinstance(named, Collection)):
        raise AdapterError(f"features has to be a list of names, not {named!r}")
    refusals = []
    for features in (1, MAX_FEATURES) if named is None else (len(named),):
        for shape in [{"classes": number} for number in classes] or [{}]:
            try:
                learner(adapter._model).nbytes(features=features, **shape, **of_learner(adapter))
                return
            except ValueError as error:
                refusals.append(str(error))
    raise AdapterError(refusals[0])


@dataclass(frozen=True)
class Template:
    """The common part of an adapter's classifiers, or of its regressors.

    The docstring of a class is `doc`, with the name of the {learner} and the learner's own
    parameters, {others}, filled in.
    """

    base: type
    shared: Mapping[str, Any]
    doc: str

    def estimator(self, name: str, module: str, model: str) -> type:
        """Return the class of that name for a learner, with that module as its `__module__`."""
        return _made(name, module, self.base, tuple(self.shared.items()), self.doc, model)


@functools.cache
def _made(
    name: str, module: str, base: type, shared: tuple[tuple[str, Any], ...], doc: str, model: str
) -> type:
    """Make the class; its __init__ stores the parameters and calls `_check()`, if defined."""
    usual = defaults(model)
    parameters = {**dict(shared), **usual}
    signature = inspect.Signature(
        [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(
                inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, default=value)
                for each, value in parameters.items()
            ),
        ]
    )

    def __init__(self: Any, *args: Any, **given: Any) -> None:  # noqa: N807
        bound = signature.bind(self, *args, **given)
        bound.apply_defaults()
        for each in parameters:
            setattr(self, each, bound.arguments[each])
        if hasattr(self, "_check"):
            self._check()

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    others = ", ".join(f"{each}={value!r}" for each, value in usual.items())
    members = {
        "__doc__": doc.format(learner=learner_name(model), others=others),
        "__init__": __init__,
        "__module__": module,
        "__qualname__": name,
        "_model": model,
    }
    return type(name, (base,), members)

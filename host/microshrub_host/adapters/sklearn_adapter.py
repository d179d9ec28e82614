"""The learners as incremental estimators of scikit-learn, which has to be installed for it.

There is one of each learner, those of your own included; `dir()` of this module names them all.
"""

from __future__ import annotations

from typing import Any

from .estimator_names import OF_SKLEARN, Estimators

_ESTIMATORS = Estimators(__name__, "sklearn_estimators", OF_SKLEARN)


def __getattr__(name: str) -> Any:
    return _ESTIMATORS.found(name)


def __dir__() -> list[str]:
    return _ESTIMATORS.listed()

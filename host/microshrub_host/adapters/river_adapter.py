"""The learners as estimators of River: `StandardScaler() | ShrubClassifier(window=64)`.

There is one of each learner, those of your own included; `dir()` of this module names them all.
"""

from __future__ import annotations

from typing import Any

from .estimator_names import OF_RIVER, Estimators

_ESTIMATORS = Estimators(__name__, "river_estimators", OF_RIVER)


def __getattr__(name: str) -> Any:
    return _ESTIMATORS.found(name)


def __dir__() -> list[str]:
    return _ESTIMATORS.listed()

"""The learners as incremental estimators of scikit-learn, which has to be installed.

There is an estimator for each learner, your own learners included; `dir()` of this module lists
all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .estimators import OF_SKLEARN, Estimators

if TYPE_CHECKING:  # names for editors and type checkers; a test compares them
    from ..base.errors import AdapterError as AdapterError
    from .sklearn_estimators import _SklearnClassifier as _Classifier
    from .sklearn_estimators import _SklearnRegressor as _Regressor

    class BalancedThicketClassifier(_Classifier): ...

    class GaussianNB(_Classifier): ...

    class GroveClassifier(_Classifier): ...

    class HoeffdingTreeClassifier(_Classifier): ...

    class HoeffdingTreeRegressor(_Regressor): ...

    class KNeighborsClassifier(_Classifier): ...

    class LinearRegression(_Regressor): ...

    class LogisticRegression(_Classifier): ...

    class ShrubClassifier(_Classifier): ...

    class ShrubRegressor(_Regressor): ...

    class ThicketClassifier(_Classifier): ...

    class ThicketRegressor(_Regressor): ...


_ESTIMATORS = Estimators(__name__, "sklearn_estimators", OF_SKLEARN)


def __getattr__(name: str) -> Any:
    return _ESTIMATORS.attribute(name)


def __dir__() -> list[str]:
    return _ESTIMATORS.listed()

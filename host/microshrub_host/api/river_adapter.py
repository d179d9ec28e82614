"""The learners as estimators of River: `StandardScaler() | ShrubClassifier(window=64)`.

There is an estimator for each learner, your own learners included; `dir()` of this module lists
all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .estimators import OF_RIVER, Estimators

if TYPE_CHECKING:  # names for editors and type checkers; a test compares them
    from ..base.errors import AdapterError as AdapterError
    from .river_estimators import _RiverClassifier as _Classifier
    from .river_estimators import _RiverRegressor as _Regressor

    class BalancedThicketClassifier(_Classifier): ...

    class GaussianNB(_Classifier): ...

    class GroveClassifier(_Classifier): ...

    class HoeffdingTreeClassifier(_Classifier): ...

    class HoeffdingTreeRegressor(_Regressor): ...

    class KNNClassifier(_Classifier): ...

    class LinearRegression(_Regressor): ...

    class ShrubClassifier(_Classifier): ...

    class ShrubRegressor(_Regressor): ...

    class SoftmaxRegression(_Classifier): ...

    class ThicketClassifier(_Classifier): ...

    class ThicketRegressor(_Regressor): ...


_ESTIMATORS = Estimators(__name__, "river_estimators", OF_RIVER)


def __getattr__(name: str) -> Any:
    return _ESTIMATORS.attribute(name)


def __dir__() -> list[str]:
    return _ESTIMATORS.listed()

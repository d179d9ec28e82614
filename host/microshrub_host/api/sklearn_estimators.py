"""The common code of scikit-learn's estimators; sklearn_adapter.py makes one for each learner."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import AdapterError
from .estimators import Template, of_learner
from .online import Online, OnlineModel, Values
from .online_numbers import OnlineNumbers
from .online_spare import OnlineSpare
from .unit_losses import decimals

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.multiclass import check_classification_targets, unique_labels
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("this needs scikit-learn 1.6 or newer: pip install scikit-learn") from error

_NAN = {"ensure_all_finite": "allow-nan"}
_BLOCK = 8  # least mean length of blocks of one class, in rows
_ASKED = 32  # most rows of a class that are predicted for the check
_SHARED = {"warmup": 256, "digits": None, "engine": "fastest"}


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """The common part of classifiers and regressors."""

    online_: Online

    def _names_and_units(self, values: Values, whole: bool) -> tuple[list[str], dict[str, Any]]:
        """Return the features' names and other arguments; with whole, all rows set the ranges."""
        if type(self.warmup) is not int or self.warmup < 1:
            raise AdapterError(f"warmup has to be 1 or more samples, not {self.warmup!r}")
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{f}" for f in range(values.shape[1])]
        scale = None if self.digits is None else decimals(self.digits, values)
        warmup = None if whole else self.warmup
        units = {"warmup": warmup, "scale": scale, "engine": self.engine}
        return [str(name) for name in names], units

    def _tell_few_rows(self) -> None:
        """Warn if the first partial_fit() had fewer rows than the ranges need."""
        rows = self.online_.samples
        if rows < self.warmup and not self.online_.grows:
            warnings.warn(
                "the first call of partial_fit() sets the ranges, which then stay, and it has "
                f"only {rows} rows of {self.warmup}. Start with more rows, or with "
                f"warmup={rows} if these have the usual ranges",
                UserWarning,
                stacklevel=3,
            )

    def _values(self, X: Any) -> Values:  # noqa: N803
        """Return the rows to predict, checked."""
        return np.asarray(validate_data(self, X, reset=False, dtype=np.float64, **_NAN))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class _SklearnClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """The common part of all classifiers."""

    _model = ""
    classes_: NDArray[Any]
    known_classes_: int  # the number of classes in the first call, which come first
    online_: OnlineModel
    spare_classes: int
    guarantee: int | None

    if TYPE_CHECKING:  # estimators.py makes the constructor

        def __init__(self, **parameters: Any) -> None: ...

    def fit(self, X: Any, y: Any) -> _SklearnClassifier:  # noqa: N803
        """Forget everything, then learn the rows once, in their order; NaN is a missing value.

        All rows give the units and the ranges of the features. The order matters: on rows that
        come class after class, many learners forget the first classes over the last ones, and a
        warning names such a class. Shuffle the rows, unless they are in order of time.
        """
        values, labels = self._learn(X, y, None, fresh=True, whole=True)
        self.online_.settle()
        self._tell_forgotten(values, labels)
        return self

    def _tell_forgotten(self, values: Values, labels: NDArray[np.intp]) -> None:
        """Warn if rows come in blocks of one class and the learner has forgotten an earlier class.

        A class is forgotten if fewer than half of its rows are predicted correctly; of many rows,
        only some are predicted.
        """
        ends = np.flatnonzero(np.diff(labels, append=-1))  # ends of the blocks
        if len(labels) < _BLOCK * len(ends):
            return
        classes = np.unique(labels)
        for c in classes[classes != labels[-1]]:
            rows = np.flatnonzero(labels == c)
            asked = rows[np.linspace(0, len(rows) - 1, min(len(rows), _ASKED)).astype(int)]
            right = int(np.sum(self.online_.predict(values[asked])[0] == c))
            if 2 * right < len(asked):
                name = self.classes_.tolist()[c]
                warnings.warn(
                    f"the rows come in blocks of one class, {len(ends)} in all, and of the class "
                    f"{name!r}, learned before others, {right} of {len(asked)} rows are still "
                    "predicted correctly. Shuffle the rows, unless their order is that of time, "
                    "or choose a learner that forgets less, such as a ThicketClassifier",
                    UserWarning,
                    stacklevel=3,
                )
                return

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> _SklearnClassifier:  # noqa: N803
        """Learn the rows once, in their order.

        The first call names all classes, by default the classes in y. The rows of the first call
        give the units of the features, and the first `warmup` rows the ranges. Warns of a first
        call with fewer rows, and of later values that these units or ranges cannot hold. The last
        rows count most, so mix the classes in each call and over the calls.
        """
        fresh = not hasattr(self, "online_")
        self._learn(X, y, classes, fresh=fresh)
        if fresh:
            self._tell_few_rows()
        return self

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the classes of the rows, shape (rows,)."""
        predicted, _ = self._ask(X)
        return np.asarray(self.classes_[np.minimum(predicted, len(self.classes_) - 1)])

    def predict_proba(self, X: Any) -> Values:  # noqa: N803
        """Return the classes' shares of votes, shape (rows, classes), ordered as `classes_`."""
        votes = self._ask(X)[1][:, : len(self.classes_)]
        whole = votes.sum(axis=1, keepdims=True)
        even = np.full_like(votes, 1 / votes.shape[1])
        parts: Values = np.divide(votes, whole, out=even, where=whole > 0)
        return parts

    def predict_set(self, X: Any) -> NDArray[np.bool_]:  # noqa: N803
        """Return the rows' sets as a mask, shape (rows, classes), ordered as `classes_`.

        Of the sets of rows that are predicted before they are learned, `guarantee` percent hold
        the class, over any 500 in a row within two points. Raises AdapterError without a
        guarantee.
        """
        check_is_fitted(self)
        return self.online_.sets(self._values(X))[:, : len(self.classes_)]

    def save(self, path: Path | str) -> None:
        """Write the model's file, from which `microshrub build --model` makes a program.

        Raises UserError if it cannot be written.
        """
        check_is_fitted(self)
        self.online_.save(path, [str(y) for y in self.classes_], "scikit-learn")

    def _ask(self, X: Any) -> tuple[NDArray[np.intp], Values]:  # noqa: N803
        check_is_fitted(self)
        return self.online_.predict(self._values(X))

    def _learn(
        self,
        X: Any,  # noqa: N803
        y: Any,
        classes: Any,
        fresh: bool,
        whole: bool = False,
    ) -> tuple[Values, NDArray[np.intp]]:
        """Learn the rows; return them with the numbers of their classes."""
        values, labels = validate_data(self, X, y, reset=fresh, dtype=np.float64, **_NAN)
        check_classification_targets(labels)
        known = unique_labels(labels if classes is None else classes) if fresh else self.classes_
        first = known if fresh else known[: self.known_classes_]
        if classes is not None and not np.array_equal(first, unique_labels(classes)):
            raise AdapterError(f"classes={classes!r} are others than in the first call: {first}")
        strangers = labels[_numbers(labels, known) < 0]
        new = list(dict.fromkeys(strangers.tolist()))
        room = self.spare_classes - (len(known) - len(first))
        if len(new) > room:
            raise AdapterError(
                f"y has the class {new[max(room, 0)]!r}, not one of {known}"
                + ", and no spare class is left" * bool(self.spare_classes)
            )
        if fresh:
            self.online_ = self._start(values, known, whole)
            self.known_classes_ = len(known)
        self.classes_ = self._named(known, strangers, new)
        indices = _numbers(labels, self.classes_)
        self.online_.learn(values, indices.astype(np.uint8))
        return values, indices

    def _named(self, known: NDArray[Any], strangers: NDArray[Any], new: list[Any]) -> NDArray[Any]:
        """Name the new classes; return all classes, the new ones last."""
        for y in new:
            assert isinstance(self.online_, OnlineSpare)
            self.online_.name(str(y))
        samples = [strangers[strangers == y][:1] for y in new]
        return np.concatenate([known, *samples])

    def _start(self, values: Values, known: NDArray[Any], whole: bool) -> OnlineModel:
        names, units = self._names_and_units(values, whole)
        common = (self._model, of_learner(self), values, names)
        how = units | {"guarantee": self.guarantee}
        if self.spare_classes:
            return OnlineSpare(*common, list(map(str, known)), self.spare_classes, **how)
        return OnlineModel(*common, len(known), **how)


class _SklearnRegressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """The common part of all regressors."""

    _model = ""
    online_: OnlineNumbers

    if TYPE_CHECKING:  # estimators.py makes the constructor

        def __init__(self, **parameters: Any) -> None: ...

    def fit(self, X: Any, y: Any) -> _SklearnRegressor:  # noqa: N803
        """Forget everything, then learn the rows once, in their order; NaN is a missing value.

        All rows give the units and the ranges of features and target. The order matters: the last
        rows count most. Shuffle rows that are sorted, unless they are in order of time.
        """
        return self._learn(X, y, fresh=True, whole=True)

    def partial_fit(self, X: Any, y: Any) -> _SklearnRegressor:  # noqa: N803
        """Learn the rows once, in their order.

        The rows of the first call give the units of features and target, and the first `warmup`
        of them the ranges. Warns of a first call with fewer rows, and of later values that these
        units or ranges cannot hold.
        """
        fresh = not hasattr(self, "online_")
        self._learn(X, y, fresh=fresh)
        if fresh:
            self._tell_few_rows()
        return self

    def predict(self, X: Any) -> Values:  # noqa: N803
        """Return predictions for the rows, shape (rows,), within the range of learned targets."""
        check_is_fitted(self)
        return self.online_.predict(self._values(X))

    def save(self, path: Path | str) -> None:
        """Write the model's file, from which `microshrub build --model` makes a program.

        Raises UserError if it cannot be written.
        """
        check_is_fitted(self)
        self.online_.save(path, "scikit-learn")

    def _learn(
        self,
        X: Any,  # noqa: N803
        y: Any,
        fresh: bool,
        whole: bool = False,
    ) -> _SklearnRegressor:
        values, targets = validate_data(
            self, X, y, reset=fresh, dtype=np.float64, y_numeric=True, **_NAN
        )
        targets = targets.astype(np.float64)
        if fresh:
            names, units = self._names_and_units(values, whole)
            self.online_ = OnlineNumbers(
                self._model,
                of_learner(self),
                values,
                targets,
                names,
                **units,
            )
        self.online_.learn(values, targets)
        return self


def _numbers(labels: NDArray[Any], known: NDArray[Any]) -> NDArray[np.intp]:
    """Return each label's index among the known labels, sorted or not; -1 for an unknown label."""
    order = np.argsort(known, kind="stable")
    places = order[np.minimum(np.searchsorted(known, labels, sorter=order), len(known) - 1)]
    return np.where(known[places] == labels, places, -1)


_CLASSES = """spare_classes  room for so many classes that later calls bring; they take memory
    guarantee  percent of the sets of predict_set() that hold the class, 50..99; learning takes
              longer with it
    """
_DOC = """{learner} as a KIND of scikit-learn.

    All parameters are given by keyword:

    CLASSESwarmup    number of first rows of partial_fit() that decide the ranges of the features;
              in fit(), all rows do
    digits    decimal places that are kept of each feature; None: as many as in the first call
    engine    "fastest", "c", "llvm" or "python"

    The other parameters are the learner's, see microshrub.{learner}:

    {others}

    Invalid parameters raise AdapterError, a ValueError, at the first call that learns.
    """


CLASSIFIER = Template(
    _SklearnClassifier,
    {"spare_classes": 0, "guarantee": None, **_SHARED},
    _DOC.replace("KIND", "classifier").replace("CLASSES", _CLASSES),
)
REGRESSOR = Template(
    _SklearnRegressor, _SHARED, _DOC.replace("KIND", "regressor").replace("CLASSES", "")
)

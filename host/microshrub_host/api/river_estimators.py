"""The common code of the estimators of River; river_adapter.py makes one for each learner."""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import AdapterError
from ..streams.columns import MOST
from ..streams.units import Scale
from .early import Early, EarlyNumbers
from .estimators import Template, check_parameters, of_learner
from .online import OnlineModel, Row, Values, check_engine
from .online_numbers import OnlineNumbers
from .online_spare import OnlineSpare
from .sets import Sets
from .unit_losses import decimals

try:
    from river import base
except ImportError as error:
    raise ImportError("this needs River: pip install 'microshrub[river]'") from error

_Sample = Mapping[Any, Any]
_SHARED = {"features": None, "warmup": 256, "digits": None, "engine": "fastest"}
_SHOWN = 12  # most labels in a message, and most warnings about features
_OF_CLASSES = {"classes": None, "spare_classes": 0, "guarantee": None}


class _Named:
    """The common part of all estimators: names of features, and a warm-up that sets the ranges."""

    features: Any
    warmup: Any
    digits: Any
    engine: Any
    _online: Any
    _waiting: list[tuple[dict[Any, float], Any]]

    def _check_warmup(self) -> None:
        check_engine(self.engine)
        if type(self.warmup) is not int or self.warmup < 1:
            raise AdapterError(f"warmup has to be 1 or more samples, not {self.warmup!r}")

    def _begin(self) -> None:
        """Prepare for the first sample; the parameters have been checked."""
        self._waiting = []
        self._names: tuple[Any, ...] = () if self.features is None else tuple(self.features)
        self._named = frozenset(self._names)
        self._strangers: set[Any] = set()  # features after the warm-up, already warned of

    def _keep(self, known: dict[Any, float], y: Any) -> None:
        """Keep a sample of the warm-up; end the warm-up if there are enough samples, and features.

        A sample that is refused has no effect.
        """
        with self._names_unless_refused():
            self._note_names([known])
            if len(self._waiting) >= self.warmup:
                del self._waiting[0]  # no sample so far had a feature
            self._waiting.append((known, y))
            try:
                if self._names and len(self._waiting) >= self.warmup:
                    self._leave_warmup()
                else:
                    self._learn_early()
            except BaseException:
                del self._waiting[-1:]
                raise

    @contextmanager
    def _names_unless_refused(self) -> Iterator[None]:
        """Restore the features' names if the block raises an error."""
        before = self._names, self._named
        try:
            yield
        except BaseException:
            self._names, self._named = before
            raise

    def _learn_early(self) -> None:
        """Learn the newest sample of the warm-up provisionally."""
        raise NotImplementedError

    def _note_names(self, samples: list[dict[Any, float]]) -> None:
        """Note the features of a warm-up, unless the user has named the features."""
        new = {name for known in samples for name in known} - self._named
        if new and self.features is None:
            self._named |= new
            # Sorted, since the order in a dict must not matter.
            self._names = tuple(sorted(self._named, key=str))

    def _first(self, samples: list[dict[Any, float]]) -> tuple[Values, list[str], Scale | None]:
        """Return the rows for the ranges, the features' names, and the units for given digits."""
        if not samples:
            raise AdapterError("the warm-up has no samples")
        if not self._names:
            raise AdapterError("the samples of the warm-up have no features")
        values = self._rows(samples)
        scale = None if self.digits is None else decimals(self.digits, values)
        return values, [str(name) for name in self._names], scale

    def _tell_strangers(self, known: dict[Any, float]) -> None:
        """Warn once of each feature that the warm-up did not have."""
        if self.features is not None or known.keys() <= self._named:
            return
        for name in sorted(known.keys() - self._named - self._strangers, key=str):
            if len(self._strangers) == _SHOWN:
                return
            self._strangers.add(name)
            warnings.warn(
                f"the feature {name!r} came after the warm-up of {self.warmup} samples and is "
                "ignored. To learn it, name all features with features=, or give a larger warmup=",
                UserWarning,
                stacklevel=3,
            )

    @property
    def _raw_memory_usage(self) -> int:
        """The bytes of the model, and of the samples that wait for the end of the warm-up.

        River's own method would also count the compiler whose kernels the learner calls.
        """
        waiting = sum(sys.getsizeof(known) for known, _ in self._waiting)
        return waiting + (self._online.table_bytes() if self._online else 0)

    def _end_warmup(self) -> None:
        """End the warm-up and learn its samples. Raises AdapterError if there are no samples."""
        if not self._online:
            if not self._waiting:
                raise AdapterError("there is nothing to save: no sample has been learned yet")
            self._leave_warmup()

    def _leave_warmup(self) -> None:
        raise NotImplementedError

    def _rows(self, samples: list[dict[Any, float]]) -> Values:
        """Return the samples as rows; an absent feature is NaN, an unknown feature is left out."""
        return np.array([self._row(known) for known in samples], dtype=np.float64)

    def _row(self, known: dict[Any, float]) -> Row:
        return [known.get(name, math.nan) for name in self._names]


class _RiverClassifier(_Named, base.Classifier):  # type: ignore[misc]
    """The common part of all classifiers."""

    _model = ""

    if TYPE_CHECKING:  # estimators.py makes the constructor

        def __init__(self, **parameters: Any) -> None: ...

    def _check(self) -> None:
        """Raise AdapterError for invalid parameters, else prepare for the first sample."""
        self._check_warmup()
        self._labels: dict[Hashable, int] = {}
        self._most = 256
        if type(self.spare_classes) is not int or not 0 <= self.spare_classes <= 255:
            raise AdapterError(f"spare_classes has to be 0..255, not {self.spare_classes!r}")
        if self.spare_classes and isinstance(self.classes, int):
            raise AdapterError("with spare_classes=, classes is a list, or those of the warm-up")
        if isinstance(self.classes, int):
            self._most = self.classes
        elif isinstance(self.classes, str):
            raise AdapterError(f"classes has to be a list, or how many, not {self.classes!r}")
        elif self.classes is not None:
            self._labels = {label: c for c, label in enumerate(self.classes)}
            self._most = len(self._labels) + self.spare_classes
        Sets(self.guarantee)
        unknown = self.classes is None or bool(self.spare_classes)
        check_parameters(self, (max(2, len(self._labels)), 256) if unknown else (self._most,))
        self._begin()
        self._online: OnlineModel | None = None
        how = {"engine": self.engine, "guarantee": self.guarantee}
        self._early = Early(self._model, of_learner(self), **how)

    @property
    def _multiclass(self) -> bool:
        return True

    def warm_up(self, samples: Iterable[_Sample], scale: Scale | None = None) -> None:
        """Set features, units and ranges by samples whose labels are not known yet.

        From then on, every sample is learned at once. scale gives units of your own. The parameter
        `classes` is needed, since no label has been seen. Raises AdapterError if `classes` is
        missing, or if samples or another warm-up came before.
        """
        if self.classes is None:
            raise AdapterError("warm_up() comes before the labels: give classes=, a number or all")
        if self._online or self._waiting:
            raise AdapterError("warm_up() has to come before the first learn_one()")
        first = [_numbers(x) for x in samples]
        with self._names_unless_refused():
            self._note_names(first)
            self._start(first, scale)

    def learn_one(self, x: _Sample, y: Hashable) -> None:
        """Learn a sample. The first `warmup` samples are also kept until they set the units.

        Warns of features that the warm-up did not have, and of values that the units or ranges
        cannot hold. A sample that is refused has no effect.
        """
        known = _numbers(x)
        labels = len(self._labels)
        label = self._label(y)
        if self._online:
            self._tell_strangers(known)
            self._online.learn_row(self._row(known), label)
            return
        if self._early.online:
            self._early.online.judge(self._row(known), label)
        try:
            self._keep(known, label)
        except BaseException:
            if len(self._labels) > labels:
                del self._labels[y]
            raise

    def _learn_early(self) -> None:
        known, label = self._waiting[-1]
        most = len(self._labels) if self.classes is None else self._most
        if self._names and not self._early.take(self._row(known), label, self._names, most):
            values, _, scale = self._first([known for known, _ in self._waiting])
            labels = np.array([c for _, c in self._waiting], dtype=np.uint8)
            self._early.begin(values, self._names, scale, labels, most)

    def predict_proba_one(self, x: _Sample, **kwargs: Any) -> dict[Any, float]:
        """Return each label's share of the votes, for all labels so far."""
        known = _numbers(x)
        online = self._online or self._early.online
        if not online:
            count = Counter(c for _, c in self._waiting)
            return {y: count[c] / count.total() for y, c in self._labels.items() if count}
        parts = online.predict_following(self._row(known))[1][: len(self._labels)]
        whole = sum(parts)
        if not whole:
            return {y: 1 / len(parts) for y in self._labels}
        return {y: part / whole for y, part in zip(self._labels, parts, strict=True)}

    def predict_one(self, x: _Sample, **kwargs: Any) -> Any:
        """Return the predicted label of a sample; None if there is nothing to predict yet."""
        online = self._online or self._early.online
        if online:
            predicted, _ = online.predict_following(self._row(_numbers(x)))
            if predicted < len(self._labels):
                return list(self._labels)[predicted]
        return super().predict_one(x)

    def predict_set_one(self, x: _Sample) -> set[Any]:
        """Return the prediction set of a sample: more than one label where the model is unsure.

        Of the sets of samples that are predicted and then learned, `guarantee` percent hold the
        label, over any 500 in a row within two points. Raises AdapterError without a guarantee.
        """
        if self.guarantee is None:
            raise AdapterError("there are sets only with guarantee=, such as 90 (percent)")
        online = self._online or self._early.online
        if not online:
            return set(self._labels)
        members = online.set_following(self._row(_numbers(x)))
        return {y for y, c in self._labels.items() if members[c]}

    def save(self, path: Path | str) -> None:
        """Write the model's file, from which `microshrub build --model` makes a program.

        If the warm-up is still going on, it ends. Raises UserError if nothing was learned, or the
        file cannot be written.
        """
        self._end_warmup()
        assert self._online
        self._online.save(path, [str(y) for y in self._labels], "River")

    def _label(self, y: Hashable) -> int:
        if y is None or y != y:
            raise AdapterError(f"the label is missing: {y!r}. Ask with predict_one() instead")
        if y not in self._labels:
            if len(self._labels) >= self._most:
                known = ", ".join(map(repr, list(self._labels)[:_SHOWN]))
                more = ", ..." if len(self._labels) > _SHOWN else ""
                raise AdapterError(
                    f"the label {y!r} is new, and there is room for only {self._most}: "
                    f"{known}{more}. Say how many there will be with "
                    f"{'spare_classes' if self.spare_classes else 'classes'}="
                )
            if isinstance(self._online, OnlineSpare):
                self._online.name(str(y))
            self._labels[y] = len(self._labels)
        return self._labels[y]

    def _leave_warmup(self) -> None:
        self._start([known for known, _ in self._waiting], None)
        assert self._online
        values = self._rows([known for known, _ in self._waiting])
        labels = np.array([c for _, c in self._waiting], dtype=np.uint8)
        self._online.learn(values, labels, self._early.online)
        self._waiting = []
        self._early.online = None

    def _start(self, samples: list[dict[Any, float]], scale: Scale | None) -> None:
        values, names, units = self._first(samples)
        most = len(self._labels) if self.classes is None else self._most
        common = (self._model, of_learner(self), values, names)
        units = units if scale is None else scale
        how = {"scale": units, "engine": self.engine, "guarantee": self.guarantee}
        if self.spare_classes:
            known = list(map(str, self._labels))
            self._online = OnlineSpare(*common, known, self.spare_classes, **how)
        else:
            self._online = OnlineModel(*common, most, **how)
        self._most = self._online.classes

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"warmup": 20, "classes": 7}


class _RiverRegressor(_Named, base.Regressor):  # type: ignore[misc]
    """The common part of all regressors."""

    _model = ""

    if TYPE_CHECKING:  # estimators.py makes the constructor

        def __init__(self, **parameters: Any) -> None: ...

    def _check(self) -> None:
        """Raise AdapterError for invalid parameters, else prepare for the first sample."""
        self._check_warmup()
        check_parameters(self)
        self._begin()
        self._online: OnlineNumbers | None = None
        self._early = EarlyNumbers(self._model, of_learner(self), engine=self.engine)

    def learn_one(self, x: _Sample, y: float) -> None:
        """Learn a sample. The first `warmup` samples are also kept until they set the units.

        Warns of features and values, and refuses samples, as a classifier does.
        """
        known = _numbers(x)
        if not isinstance(y, (numbers.Real, np.bool_)) or not abs(_float(y)) <= MOST:
            raise AdapterError(f"the target has to be a number up to {MOST:g}, not {y!r}")
        if self._online:
            self._tell_strangers(known)
            self._online.learn_row(self._row(known), float(y))
            return
        self._keep(known, float(y))

    def _learn_early(self) -> None:
        known, target = self._waiting[-1]
        if self._names and not self._early.take(self._row(known), target, self._names):
            values, _, scale = self._first([known for known, _ in self._waiting])
            targets = np.array([y for _, y in self._waiting])
            self._early.begin(values, self._names, scale, targets)

    def predict_one(self, x: _Sample) -> float:
        """Return the prediction for a sample; without a model, the targets' mean so far, or 0."""
        known = _numbers(x)
        online = self._online or self._early.online
        if online:
            return online.predict_row(self._row(known))
        return math.fsum(y for _, y in self._waiting) / max(len(self._waiting), 1)

    def save(self, path: Path | str) -> None:
        """Write the model's file, from which `microshrub build --model` makes a program.

        The warm-up ends. Raises AdapterError if nothing was learned, and UserError if the file
        cannot be written.
        """
        self._end_warmup()
        assert self._online
        self._online.save(path, "River")

    def _leave_warmup(self) -> None:
        values, names, scale = self._first([known for known, _ in self._waiting])
        targets = np.array([y for _, y in self._waiting])
        self._online = OnlineNumbers(
            self._model, of_learner(self), values, targets, names, scale=scale, engine=self.engine
        )
        self._online.learn(values, targets)
        self._waiting = []
        self._early.online = None

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"warmup": 20}


def _numbers(x: _Sample) -> dict[Any, float]:
    """Return the sample's numbers; None is missing. Raises AdapterError for an invalid value."""
    features = {}
    for name, value in x.items():
        if type(value) is float and -math.inf < value < math.inf:
            features[name] = value
            continue
        if value is None:
            continue
        if type(value) is not float and not isinstance(value, (numbers.Real, np.bool_)):
            raise AdapterError(
                f"the feature {name!r} is {value!r}, not a number. {_advice(name, value)}"
            )
        number = _float(value)
        features[name] = math.nan if math.isnan(number) else number
        if abs(number) > MOST:
            raise AdapterError(
                f"the feature {name!r} is infinite, or beyond {MOST:g}. Give None if it is not "
                "known"
            )
    return features


def _float(value: Any) -> float:
    """Return the value as a float; infinity if the value is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _advice(name: Any, value: Any) -> str:
    """Return advice about a feature that is not a number."""
    if not isinstance(value, str):
        return "Turn it into a number first"
    try:
        float(value)
    except ValueError:
        return "Encode it first, as with River's preprocessing.OneHotEncoder"
    return f"Turn the text into one: River's iter_csv() does with converters={{{name!r}: float}}"


_CLASSES = """classes   the number of labels, or a list of them; None: those in the warm-up
    spare_classes  room for so many more labels, which may come at any time and take memory
    guarantee  percent of the sets of predict_set_one() that hold the label, 50..99; None: no sets
    """
_DOC = """{learner} as a KIND of River.

    All parameters are given by keyword:

    CLASSESfeatures  names of the features, in the board's order; None: those in the warm-up,
              sorted.
              Later, other features are ignored, of which a warning tells unless they are named
              here, and absent ones are missing values
    warmup    number of samples that decide the units and ranges of the features, before they
              are learned, too
    digits    decimal places that are kept of each feature; None: as many as in the warm-up
    engine    "fastest", "c", "llvm" or "python"

    The other parameters are the learner's, see microshrub.{learner}:

    {others}

    Raises AdapterError, a ValueError, for invalid parameters and samples.
    """


CLASSIFIER = Template(
    _RiverClassifier,
    {**_OF_CLASSES, **_SHARED},
    _DOC.replace("KIND", "classifier").replace("CLASSES", _CLASSES),
)
REGRESSOR = Template(
    _RiverRegressor, _SHARED, _DOC.replace("KIND", "regressor").replace("CLASSES", "")
)

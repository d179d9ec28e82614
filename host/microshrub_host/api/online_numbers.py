"""A regressor with its ranges on a PC: rows of decimals in, decimals out."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import AdapterError
from ..library.learners import REGRESSORS, number_parameters
from ..models import model_files
from ..simulation.engine_interface import States
from ..streams.units import Scale
from .one_at_a_time import one_at_a_time
from .online import FASTEST, Online, Row, Values
from .unit_losses import LossWarnings


class OnlineNumbers(Online):
    """A regressor with the ranges of the first samples and targets."""

    _UNPICKLED = (*Online._UNPICKLED, "_target")

    def __init__(
        self,
        model: str,
        parameters: Mapping[str, Any],
        first: Values,
        targets: Values,
        names: Sequence[str],
        *,
        warmup: int | None = None,
        scale: Scale | None = None,
        engine: str = FASTEST,
        warns: bool = True,
    ) -> None:
        """Take the arguments of Online, and the targets of the first rows, shape (rows,).

        Raises AdapterError if the learner refuses the parameters.
        """
        how: dict[str, Any] = {"warmup": warmup, "scale": scale, "engine": engine}
        super().__init__(model, first, names, warns=warns, **how)
        self._parameters = number_parameters(model, len(self._names), 0) | dict(parameters)
        self.target_scale = Scale.fit(targets[:, None])
        self._target_losses = LossWarnings(self.target_scale, ["the target"], quiet=not warns)
        self._begin()
        for raw in self._raw(targets)[:warmup]:
            self._target.observe(raw)
        self._target.freeze()
        low, high = self._target.ends
        self._target_losses.freeze([(low, high - low)], wide=True)
        self._away = 0.0  # sum of the absolute errors before learning

    @one_at_a_time
    def learn(self, values: Values, targets: Values) -> None:
        """Learn rows, shape (rows, features), with their targets, one after the other."""
        raw = self._raw(targets)
        predicted = array("H", bytes(2 * len(raw)))
        codes = array("H", [self._target.code(y) for y in raw])
        self._learner.run(self._codes(values), codes, predicted)
        for code, y, target in zip(predicted, raw, targets, strict=True):
            self._away += abs(self._value(code) - float(target))
            self._target.learn(y)
        self.samples += len(raw)

    @one_at_a_time
    def learn_row(self, row: Row, target: float) -> None:
        """Learn one row; faster than learn(), with the same result."""
        raw = self._target_losses.learned_row([target])[0]
        self._quantizer.encode_from(array("i", self._losses.learned_row(row)), self._row, 0)
        predicted = self._learner.learn(self._row, self._target.code(raw))
        self._away += abs(self._value(predicted) - target)
        self._target.learn(raw)
        self.samples += 1

    @one_at_a_time
    def predict_row(self, row: Row) -> float:
        """Return the prediction for one row."""
        return self._value(self._learner.predict(self._asked_row(row)))

    @one_at_a_time
    def predict(self, values: Values) -> Values:
        """Return the predictions for rows, shape (rows,)."""
        return np.array([self._value(self._learner.predict(x)) for x in self._asked(values)])

    @one_at_a_time
    def save(self, path: Path | str, source: str) -> None:
        """Write the model's file; the target is the last column.

        Raises UserError if the file cannot be written.
        """
        self._check_names("features", self._names)
        name = "target"
        while name in self._names:
            name += "_"
        columns = len(self._names) + 1
        numbers = {"columns": columns, "column": columns - 1, "ends": list(self._target.ends)}
        both = (self.scale, self.target_scale)
        file = model_files.ModelFile(
            learner=REGRESSORS[self._model],
            parameters=self._parameters,
            feature_names=(*self._names, name),
            class_names=(),
            scale=Scale(
                np.concatenate([scale.offset for scale in both]),
                np.concatenate([scale.digits for scale in both]),
            ),
            stream=source,
            samples=self.samples,
            accuracy=self._away / max(self.samples, 1),
            states=self._states(),
            regression=numbers | {"horizon": 0, "lags": 0, "interval": None},
        )
        model_files.write(Path(path), file)

    def _raw(self, targets: Values) -> list[int]:
        if not np.isfinite(targets).all():
            raise AdapterError("a target is missing or infinite")
        exact = self.target_scale.exact(targets[:, None])
        self._target_losses.look(targets[:, None], exact)
        return [int(raw) for raw in self.target_scale.rounded(exact)[:, 0]]

    def _value(self, code: int) -> float:
        return self._target_losses.value(0, self._target.predicted(code))

    def _build(self) -> None:
        super()._build()
        self._target = self._library.Target()

    def _restore(self, states: States) -> None:
        super()._restore(states)
        self._target.load(states.more["target"])

    def _states(self) -> States:
        more = {"target": self._target.save(), "interval": b"", "naive": b""}
        return States(self._learner.save(), self._quantizer.save(), more)

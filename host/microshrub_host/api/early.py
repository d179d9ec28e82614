"""Provisional models that predict while a River estimator warms up and has no final units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.errors import AdapterError
from ..streams.unit_losses import UnitLosses
from ..streams.units import Scale
from .online import Online, OnlineModel, Row, Values
from .online_numbers import OnlineNumbers

_Model = TypeVar("_Model", bound=Online)


class _Provisional(Generic[_Model]):
    """A model that learns the samples of a warm-up.

    The model learns all samples again whenever their number has doubled, and when the newest
    sample has a new feature or class, or a value that the units cannot hold. So the mean work for
    each sample stays the same, however many samples there are.
    """

    def __init__(self, model: str, parameters: Mapping[str, Any], **how: Any) -> None:
        """Store the parameters; how holds further arguments of the model's class."""
        self.online: _Model | None = None  # the model so far
        self._model, self._parameters, self._how = model, parameters, how
        self._made_for: object = None
        self._samples = 0

    def _is_due(self, made_for: object) -> bool:
        """Count the newest sample, and return whether all have to be learned again."""
        self._samples += 1
        doubled = not self._samples & (self._samples - 1)
        return doubled or made_for != self._made_for

    def _start(self, samples: int, made_for: object) -> None:
        """Note that a model for these samples is made."""
        self._samples, self._made_for = samples, made_for

    def _made(self, kind: Callable[..., _Model], *data: Any, scale: Scale | None) -> _Model | None:
        """Return a new model; None if the learner refuses, which the warm-up's end will report."""
        try:
            return kind(
                self._model, self._parameters, *data, scale=scale, warns=False, **self._how
            )
        except AdapterError:
            return None


class Early(_Provisional[OnlineModel]):
    """A provisional classifier; see OnlineModel.

    The caller has already judged the sets by the newest sample, if there was a model for it.
    """

    def take(self, row: Row, label: int, names: Sequence[str], classes: int) -> bool:
        """Learn the newest sample; return False if the caller has to begin() with all samples."""
        if self._is_due((tuple(names), classes)):
            return False
        if self.online:
            if any(self._losses.look(self.online.scale.exact(np.array([row])))):
                return False
            self.online.learn_row(row, label, self.online)
        return True

    def begin(
        self,
        values: Values,
        names: Sequence[str],
        scale: Scale | None,
        labels: NDArray[np.uint8],
        classes: int,
    ) -> None:
        """Begin with all samples so far; without a scale, these samples give the units."""
        self._start(len(labels), (tuple(names), classes))
        self._losses, units = _held(values, scale)
        before = self.online
        self.online = self._made(OnlineModel, values, names, max(classes, 2), scale=units)
        if self.online:
            self.online.learn(values, labels, before)


class EarlyNumbers(_Provisional[OnlineNumbers]):
    """A provisional regressor; see OnlineNumbers."""

    def take(self, row: Row, target: float, names: Sequence[str]) -> bool:
        """Learn the newest sample; return False if the caller has to begin() with all samples."""
        if self._is_due(tuple(names)):
            return False
        if self.online:
            exact = self.online.scale.exact(np.array([row]))
            exact_target = self.online.target_scale.exact(np.array([[target]]))
            if any(self._losses.look(exact)) or any(self._target_losses.look(exact_target)):
                return False
            self.online.learn_row(row, target)
        return True

    def begin(
        self, values: Values, names: Sequence[str], scale: Scale | None, targets: Values
    ) -> None:
        """Begin with all samples so far; without a scale, these samples give the units."""
        self._start(len(targets), tuple(names))
        self._losses, units = _held(values, scale)
        self._target_losses, _ = _held(targets[:, None], None)
        self.online = self._made(OnlineNumbers, values, targets, names, scale=units)
        if self.online:
            self.online.learn(values, targets)


def _held(values: Values, scale: Scale | None) -> tuple[UnitLosses, Scale]:
    """Return the UnitLosses after these values, and the units, by default chosen for them."""
    units = scale or Scale.fit(values)
    losses = UnitLosses(values.shape[1], meant=scale is not None)
    list(losses.look(units.exact(values)))
    return losses, units

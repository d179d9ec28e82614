"""A provisional model that predicts while a River estimator warms up and has no final units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import AdapterError
from ..streams.unit_losses import UnitLosses
from ..streams.units import Scale
from .online import OnlineModel, Row, Values


class Early:
    """A model that learns the samples of a warm-up; see OnlineModel.

    If the estimator predicted the newest sample, that prediction has already been judged.

    The model learns all samples again whenever their number has doubled, and when the newest
    sample has a new feature or class, or a value that the units cannot hold. So the mean work for
    each sample stays the same, however many samples there are.
    """

    def __init__(self, model: str, parameters: Mapping[str, Any], **how: Any) -> None:
        """Store the parameters; how holds further arguments of OnlineModel."""
        self.online: OnlineModel | None = None  # the model so far
        self._model, self._parameters, self._how = model, parameters, how
        self._made_for: object = None
        self._samples = 0

    def take(self, row: Row, label: int, names: Sequence[str], classes: int) -> bool:
        """Learn the newest sample; return False if the caller has to begin() with all samples."""
        self._samples += 1
        doubled = not self._samples & (self._samples - 1)
        if doubled or (tuple(names), classes) != self._made_for:
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
        units = scale or Scale.fit(values)
        self._losses = UnitLosses(len(names), meant=scale is not None)
        list(self._losses.look(units.exact(values)))
        self._samples, self._made_for = len(labels), (tuple(names), classes)
        before = self.online
        self.online = self._made(values, names, units, classes)
        if self.online:
            self.online.learn(values, labels, before)

    def _made(
        self, values: Values, names: Sequence[str], scale: Scale, classes: int
    ) -> OnlineModel | None:
        """Return a new model; None if the learner refuses, which the warm-up's end will report."""
        try:
            shape = values, names, max(classes, 2)
            return OnlineModel(
                self._model, self._parameters, *shape, scale=scale, warns=False, **self._how
            )
        except AdapterError:
            return None

"""A learner that answers while a River estimator warms up: until then, the units are not final."""

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
    """Learns the samples of a warm-up, of a model with these parameters; see OnlineModel.

    The newest one was judged by what was asked for it, if there was something.

    It begins anew with all samples whenever there are twice as many, and where the newest one
    names another feature or class, or has a value that the units cannot hold. So the work for
    each sample stays the same, however many there are.
    """

    def __init__(self, model: str, parameters: Mapping[str, Any], **how: Any) -> None:
        """how has more arguments of OnlineModel."""
        self.online: OnlineModel | None = None  # what it knows by now
        self._model, self._parameters, self._how = model, parameters, how
        self._made_for: object = None
        self._samples = 0

    def take(self, row: Row, label: int, names: Sequence[str], classes: int) -> bool:
        """Learn the newest sample. False: it has to begin() with all."""
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
        """Begin with all samples so far; scale None is to be found."""
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
        """A fresh one; None if it is refused, which the end of the warm-up will tell."""
        try:
            shape = values, names, max(classes, 2)
            return OnlineModel(
                self._model, self._parameters, *shape, scale=scale, warns=False, **self._how
            )
        except AdapterError:
            return None

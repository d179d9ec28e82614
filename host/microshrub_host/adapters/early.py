"""A learner that answers while a River estimator warms up: until then, the units are not final."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import AdapterError
from ..streams.units import Scale
from .online import OnlineModel, Values


class Early:
    """Learns the samples of a warm-up, of a model with these parameters; see OnlineModel.

    The newest one was judged by what was asked for it, if there was something.

    Where the samples so far give other units, or name another feature or class, and whenever
    there are twice as many, it begins anew with all of them.
    """

    def __init__(self, model: str, parameters: Mapping[str, Any], **how: Any) -> None:
        """how has more arguments of OnlineModel."""
        self.online: OnlineModel | None = None  # what it knows by now
        self._model, self._parameters, self._how = model, parameters, how
        self._made_for: object = None

    def learn(
        self,
        values: Values,
        names: Sequence[str],
        scale: Scale | None,
        labels: NDArray[np.uint8],
        classes: int,
    ) -> None:
        """Learn the newest of these samples, all there are so far; scale None is to be found."""
        scale = scale or Scale.fit(values)
        what = tuple(names), scale.units(), classes
        doubled = not len(labels) & (len(labels) - 1)
        before, new = self.online, 1
        if before is None or doubled or what != self._made_for:
            self.online = self._made(values, names, scale, classes)
            self._made_for, new = what, len(labels)
        if self.online:
            self.online.learn(values[-new:], labels[-new:], before)

    def _made(
        self, values: Values, names: Sequence[str], scale: Scale, classes: int
    ) -> OnlineModel | None:
        """A fresh one; None if it is refused, which the end of the warm-up will tell."""
        try:
            shape = values, names, max(classes, 2)
            return OnlineModel(self._model, self._parameters, *shape, scale=scale, **self._how)
        except AdapterError:
            return None

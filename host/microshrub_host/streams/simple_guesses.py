"""What is known of numbers' targets when a sample comes, and the two simplest guesses from it."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .kept_values import Floats


@dataclass(frozen=True)
class KnownTargets:
    """Of some samples, one after the other; all of shape (samples,).

    targets  NaN where one is missing
    last     the last target that is known when a sample comes; NaN: none is
    means    the mean of those known then; NaN: none is
    """

    targets: Floats
    last: Floats
    means: Floats

    @functools.cached_property
    def scored(self) -> NDArray[np.bool_]:
        """The samples that errors are about: their target and the last one are known."""
        return ~(np.isnan(self.last) | np.isnan(self.targets))


class SimpleGuesses:
    """The last target that came, and the mean of those that came, as they come in parts.

    A part is of shape (samples,), the target that came with each sample or NaN.
    """

    def __init__(self) -> None:
        self._last = math.nan
        self._count, self._total = 0, 0.0

    def last(self, came: Floats) -> Floats:
        """The last one that came up to each sample; NaN: none did."""
        known = came.copy()
        if np.isnan(known[0]):
            known[0] = self._last
        places = np.where(np.isnan(known), 0, np.arange(len(known)))
        found: Floats = known[np.maximum.accumulate(places)]
        self._last = float(found[-1])
        return found

    def means(self, came: Floats) -> Floats:
        """The mean of those that came up to each sample; NaN: none did."""
        there = ~np.isnan(came)
        counts = self._count + np.cumsum(there)
        totals = np.cumsum(np.concatenate([[self._total], np.where(there, came, 0.0)]))[1:]
        self._count, self._total = int(counts[-1]), float(totals[-1])
        return np.where(counts > 0, totals / np.maximum(counts, 1), math.nan)

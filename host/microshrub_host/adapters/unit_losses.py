"""Units of the adapters, and warnings of values that these units cannot hold.

A unit is chosen by the first samples. If all of these are whole, a later 0.37 becomes 0; if all of
them are small, a later 1e7 may be too large. Both are learned all the same, so a warning says it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np

from ..base.errors import AdapterError
from ..streams.unit_losses import UnitLosses, Values
from ..streams.units import RAW_MAX, Scale

_ADVICE = "let some of the first samples have such values, with a larger first call or warmup="
_LARGE = f"They are learned as the largest value that fits. If they are right, {_ADVICE}"
_FINE = f"To keep them apart, {_ADVICE}"


def decimals(digits: int, values: Values) -> Scale:
    """Units that keep so many digits behind the point of all features of these rows.

    Raises AdapterError if a value is too large for that.
    """
    if type(digits) is not int:
        raise AdapterError(f"digits has to be a whole number or None, not {digits!r}")
    most = float(np.max(np.abs(values), initial=0, where=np.isfinite(values)))
    if most and math.log10(most) + digits > math.log10(RAW_MAX):
        raise AdapterError(f"digits={digits} is too many for {most:g}: 29 bits have to hold it")
    features = values.shape[1]
    return Scale(np.zeros(features), np.full(features, digits, dtype=np.int64))


class LossWarnings:
    """Looks at all rows that are learned, and warns of a column once."""

    def __init__(
        self, scale: Scale, names: Sequence[str], more: str = "", meant: bool = False
    ) -> None:
        """names say which columns these are, such as "the feature 'a'"; more is further advice.

        If the units are meant to be so, nothing is said of what is rounded.
        """
        self._scale, self._names, self._more = scale, tuple(names), more
        self._losses = UnitLosses(len(names), meant)

    def look(self, values: Values, exact: Values) -> None:
        """Look at rows, shape (rows, columns), NaN missing, and at the same in their units.

        Warns with a UserWarning.
        """
        for column, row, too_large in self._losses.look(exact):
            what, advice = ("too large for", _LARGE) if too_large else ("rounded to", _FINE)
            value, unit = values[row, column], 10.0 ** -self._scale.digits[column]
            warnings.warn(
                f"{self._names[column]} has values such as {value:.6g}, which are {what} its unit "
                f"of {unit:g}. {advice}{self._more}.",
                UserWarning,
                stacklevel=4,
            )

"""The Forecaster of a saved regressor, between a recording's columns and the learner."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from ..library import loader
from ..simulation.engine_interface import States
from ..streams.units import Scale

_PARAMETERS = {"columns", "column", "ends", "horizon", "lags", "interval"}


def is_forecaster(value: Any) -> bool:
    """Return whether the value has exactly the parameters of firmware's Forecaster."""
    return isinstance(value, dict) and set(value) == _PARAMETERS


def forecaster_of(learner: Any, numbers: dict[str, Any], columns: int, states: States) -> Any:
    """Return a learner's Forecaster, with the states of target, interval and naive forecasts.

    Raises ValueError if these do not belong together.
    """
    if numbers["columns"] != columns:
        raise ValueError("config.json does not name as many columns as there are")
    forecaster = loader.load("python").Forecaster(learner, **numbers)
    forecaster.target.load(states.more["target"])
    if not forecaster.target.frozen:
        raise ValueError("the target has no range yet")
    for name, what in (("interval", "no interval"), ("naive", "no horizon")):
        part, state = getattr(forecaster, name), states.more[name]
        if part:
            part.load(state)
        elif state:
            raise ValueError(f"there is the state of an {name}, and {what}")
    return forecaster


def forecast(forecaster: Any, values: list[int]) -> tuple[int, int]:
    """Predict raw values without learning; return (prediction, half the interval's width or -1).

    With a horizon, the values are the first sample: earlier values are missing, and no earlier
    sample waits for its target.
    """
    row = array("i", values)
    if forecaster.horizon:
        forecaster.take(row)
    else:
        forecaster._arrange(row, 0, values[forecaster.column])
        forecaster._predict()
    return forecaster.prediction, forecaster.half


def coded(forecaster: Any) -> Any:
    """Return the codes of the last sample's features."""
    return next(b for name, _, b in forecaster.buffers() if name == "forecaster.codes")


def in_units(raw: int, scale: Scale, column: int) -> str:
    """Return a raw value in the unit of a column, as text."""
    place = slice(column, column + 1)
    unit = Scale(scale.offset[place], scale.digits[place])
    return f"{unit.values(np.array([[raw]], dtype=np.int32))[0, 0]:.10g}"

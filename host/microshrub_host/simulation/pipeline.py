"""The pipeline from readings to samples: features of windows, and the Forecaster."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..streams.stream import Extraction, modules_by_need
from .companion import BoardObjects, Companion
from .engine_interface import Plan
from .session import FORECASTER

_RATE = 50  # readings a second of a budget's sensor
_ROW = ("forecaster.row", "forecaster.codes")


@dataclass(frozen=True)
class Forecast(Companion):
    """The Forecaster of a regressor.

    `parameters` are the arguments of firmware's Forecaster except the model, as
    NumberStream.forecaster() returns these.
    """

    parameters: Mapping[str, Any]

    name = key = title = "forecaster"

    def plan(self) -> Plan:
        return "", FORECASTER, dict(self.parameters)

    def on_board(self, library: Any, learner: Any) -> BoardObjects:
        made = library.Forecaster(learner, **self.parameters)
        row = tuple(buffer for name, _, buffer in made.buffers() if name in _ROW)
        sample = array("i", bytes(4 * made.columns))
        elsewhere = (learner, made.quantizer, made.target, *row)
        note = "lags, samples that wait for their target"
        return BoardObjects(None, (made, sample), elsewhere, note)

    def program(self, classes: Sequence[str]) -> dict[str, Any]:
        # a quantizer for known ends comes with a learned model
        return {"regression": {**self.parameters, "ends": None}}

    @classmethod
    def modules(cls, config: Mapping[str, Any], learner: str) -> dict[str, bool]:
        numbers = config["regression"]
        return {
            "forecaster": True,
            "prediction_interval": bool(numbers["interval"]),
            "naive_forecasts": bool(numbers["horizon"]),
        }


@dataclass(frozen=True)
class Extracted(Companion):
    """The features of windows of a sensor's readings."""

    extraction: Extraction

    name = key = title = "features"
    cost = "the features of windows"

    def on_board(self, library: Any, learner: Any) -> BoardObjects:
        made = self._extractor(library)
        return BoardObjects(None, (made, made._signal), note="the window of readings")

    def columns(self, library: Any) -> int:
        """Return the number of values in each sample."""
        return int(self._extractor(library).features)

    def _extractor(self, library: Any) -> Any:
        channels = len(self.extraction.channels)
        return library.device.feature_extractor.FeatureExtractor(
            channels, **self.extraction.options
        )

    def program(self, classes: Sequence[str]) -> dict[str, Any]:
        sensor = self.sensor(len(self.extraction.channels))
        return {"sensor": sensor, "extraction": self.extraction.options}

    @staticmethod
    def sensor(channels: int) -> dict[str, Any]:
        """Return a budget's sensor with that many values."""
        return {"kind": "adc", "pins": list(range(channels)), "rate": _RATE}

    @classmethod
    def modules(cls, config: Mapping[str, Any], learner: str) -> dict[str, bool]:
        return dict(modules_by_need(config["extraction"]))


def pipeline(
    extraction: Extraction | None, forecaster: Mapping[str, Any] | None = None
) -> tuple[Companion, ...]:
    """Return the companions for the Forecaster and the features, where there are any."""
    forecast = (Forecast(forecaster),) if forecaster else ()
    return (*forecast, *((Extracted(extraction),) if extraction else ()))

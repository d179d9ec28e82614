"""What stands between a sensor and a learner: the features of windows, and the Forecaster."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..engines.interface import Plan
from ..engines.session import FORECASTER
from ..streams.stream import Extraction, modules_by_need
from .companion import BoardRoom, Companion

_RATE = 50  # readings a second of the sensor that a budget has
_ROW = ("forecaster.row", "forecaster.codes")


@dataclass(frozen=True)
class Forecast(Companion):
    """Around a regressor; `parameters` are those of firmware's Forecaster but the model.

    NumberStream.forecaster() gives them.
    """

    parameters: Mapping[str, Any]

    name = said = title = "forecaster"

    def plan(self) -> Plan:
        return "", FORECASTER, dict(self.parameters)

    def room(self, library: Any, learner: Any) -> BoardRoom:
        made = library.Forecaster(learner, **self.parameters)
        row = tuple(buffer for name, _, buffer in made.buffers() if name in _ROW)
        sample = array("i", bytes(4 * made.columns))
        elsewhere = (learner, made.quantizer, made.target, *row)
        return BoardRoom((made, sample), elsewhere, "lags, samples that wait for their target")

    def in_program(self, classes: Sequence[str]) -> dict[str, Any]:
        # the quantizer that goes with known ends comes with the learned model
        return {"numbers": {**self.parameters, "ends": None}}

    def modules(self, kind: str, beside: Collection[str]) -> tuple[str, ...]:
        parts = {"interval": self.parameters["interval"], "outlook": self.parameters["horizon"]}
        return ("forecaster", *(part for part, needed in parts.items() if needed))


@dataclass(frozen=True)
class Extracted(Companion):
    """The features of windows of a sensor's readings."""

    extraction: Extraction

    name = said = title = "features"
    cost = "the features of windows"

    def room(self, library: Any, learner: Any) -> BoardRoom:
        made = self._extractor(library)
        return BoardRoom((made, made._signal), (), "the window of readings")

    def columns(self, library: Any) -> int:
        return int(self._extractor(library).features)

    def _extractor(self, library: Any) -> Any:
        channels = len(self.extraction.channels)
        return library.device.extractor.FeatureExtractor(channels, **self.extraction.options)

    def in_program(self, classes: Sequence[str]) -> dict[str, Any]:
        pins = list(range(len(self.extraction.channels)))
        sensor = {"kind": "adc", "pins": pins, "rate": _RATE}
        return {"sensor": sensor, "extraction": self.extraction.options}

    def modules(self, kind: str, beside: Collection[str]) -> tuple[str, ...]:
        return tuple(
            name for name, needed in modules_by_need(self.extraction.options).items() if needed
        )


def between(
    extraction: Extraction | None, forecaster: Mapping[str, Any] | None = None
) -> tuple[Companion, ...]:
    """Those of these that there are."""
    forecast = (Forecast(forecaster),) if forecaster else ()
    return (*forecast, *((Extracted(extraction),) if extraction else ()))

"""What stands between a sensor and the learner: the features of windows, and the Forecaster."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from typing import Any

from ..engines import loader
from ..streams.extraction import Extraction
from .heap_sizes import heap_bytes


def modules_between(
    forecaster: Mapping[str, Any] | None, extraction: Extraction | None
) -> tuple[str, ...]:
    """The modules of the device library that they import."""
    found = {
        "forecaster": forecaster,
        "interval": forecaster and forecaster["interval"],
        "device.extractor": extraction,
        "device.filters": extraction and extraction.options["filters"],
        "device.spectrum": extraction and extraction.options["bands"],
    }
    return tuple(name for name, needed in found.items() if needed)


def forecaster_bytes(
    learner: Any, parameters: Mapping[str, Any], names: Collection[str] | None
) -> int:
    """A Forecaster's bytes on the heap, with a sample of all columns for it.

    The learner, a quantizer, a target and a row of features are not among them.

    names are the texts that are on the board anyway. Raises ValueError if it is not for that
    learner.
    """
    made = loader.load("python").Forecaster(learner, **parameters)
    row = {id(buffer) for name, _, buffer in made.buffers() if name in _ROW}
    elsewhere = {id(learner), id(made.quantizer), id(made.target)} | row
    sample = array("i", bytes(4 * made.columns))
    return heap_bytes(made, names, elsewhere) + heap_bytes(sample)


_ROW = ("forecaster.row", "forecaster.codes")


def extractor_bytes(extraction: Extraction, names: Collection[str] | None) -> int:
    """What makes the features takes of the heap, with a reading of all channels."""
    made = loader.load("python").device.extractor.FeatureExtractor(
        len(extraction.channels), **extraction.options
    )
    return heap_bytes(made, names) + heap_bytes(made._signal)

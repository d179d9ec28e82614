"""What is made of a sensor's readings before a learner sees them, as a board is told it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_FORM = 6  # the first of the statistics that are in outline.py


def modules_by_need(options: Mapping[str, Any] | None) -> dict[str, bool]:
    """The library's modules for extractions, and which a program with this one imports."""
    found = options or {"filters": (), "bands": (), "statistics": ()}
    return {
        "device.extractor": options is not None,
        "device.filters": bool(found["filters"]),
        "device.spectrum": bool(found["bands"]),
        "device.outline": max(found["statistics"], default=0) >= _FORM,
    }


@dataclass(frozen=True)
class Extraction:
    """The parameters of firmware's FeatureExtractor, and what they are for."""

    channels: tuple[str, ...]  # names of a reading's values
    rate: float | None  # readings a second; None where nothing depends on it
    options: dict[str, Any]  # all whole numbers, as config.json has them

    @property
    def words(self) -> str:
        """What samples are made of, in words."""
        window, hop = self.options["window"], self.options["hop"]
        rate = f", {self.rate:g} a second" if self.rate else ""
        return f"made of windows of {window:,} readings{rate}, one after every {hop:,}"

    def saved(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"channels": list(self.channels), "rate": self.rate, "options": self.options}

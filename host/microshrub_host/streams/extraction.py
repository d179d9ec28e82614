"""What is made of a sensor's readings before a learner sees them, as a board is told it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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

"""What an engine reports about a run so far: counts, ratios in percent, the state's hash."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Status:
    """The state of a run after its last sample.

    `clamped` counts the values outside the quantizer's range, `missing` the empty ones;
    `progress` is what the learner reports about itself, `state_crc32` the hash of its buffers.
    """

    samples: int
    clamped: int
    missing: int
    state_crc32: int
    progress: dict[str, int]
    beside: list[dict[str, Any]] = field(
        default_factory=list
    )  # what each companion says of itself
    accuracy: float = math.nan  # of classes; percent, like all that follow
    accuracy_nochange: float = math.nan
    accuracy_majority: float = math.nan
    kappa: float = math.nan
    kappa_temporal: float = math.nan

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Status:
        """The status that session.Session.status() gave on this PC or on a MicroPython."""
        ratios = ("accuracy", "accuracy_nochange", "accuracy_majority", "kappa", "kappa_temporal")
        in_percent = {name: percent(said[name]) for name in ratios if name in said}
        crc = said["state_crc32"] & 0xFFFFFFFF
        return cls(**{**said, **in_percent, "state_crc32": crc})


def percent(millionths: int) -> float:
    """A ratio that the device has in millionths, in percent."""
    return millionths / 10_000

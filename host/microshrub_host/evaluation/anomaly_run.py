"""What the anomaly score said of a stream, sample by sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.anomaly_options import AnomalyOptions
from ..engines.interface import Anomalies


@dataclass(frozen=True)
class AnomalyRun:
    """Scores, 0..255, and which were above the threshold of their time, shapes (samples,)."""

    options: AnomalyOptions
    window: int  # samples that each was compared with
    bytes: int  # of the buffers
    threshold: int  # after the last sample
    scores: NDArray[np.uint8] = field(repr=False)
    unlike: NDArray[np.bool_] = field(repr=False)

    @classmethod
    def of(
        cls, blocks: Sequence[Anomalies], options: AnomalyOptions, features: int, threshold: int
    ) -> AnomalyRun:
        """The run of these blocks, one after the other."""
        scores = np.concatenate([block.scores for block in blocks])
        unlike = np.concatenate([block.unlike for block in blocks])
        return cls(options, *options.size(features), threshold, scores, unlike)

    @property
    def alarms(self) -> NDArray[np.int64]:
        """The samples, from 0 on, with which an alarm began."""
        before = np.concatenate([[False], self.unlike[:-1]])
        return np.flatnonzero(self.unlike & ~before)

    def record(self) -> dict[str, Any]:
        """For --json: alarms by the numbers of their samples, and the score of each sample."""
        return {
            **self.options.parameters(),
            "window": self.window,
            "bytes": self.bytes,
            "threshold": self.threshold,
            "alarms": self.alarms.tolist(),
            "scores": self.scores.tolist(),
        }

    def rows(self) -> list[tuple[str, str]]:
        """For a table: names and values."""
        alarms = len(self.alarms)
        return [
            ("anomaly alarms", f"{alarms:,}; one in {self.options.period:,} samples is allowed"),
            ("  threshold now", f"{self.threshold} of 255"),
            ("  buffers", f"{self.bytes:,} bytes, for a window of {self.window:,} samples"),
        ]

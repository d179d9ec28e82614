"""The anomaly score of a stream without labels, for which no learner runs."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..library import loader
from ..simulation.anomaly import Anomaly, AnomalyRun
from ..streams.regression_streams import NumberStream

_ROWS = 2048  # rows scored at a time


@dataclass(frozen=True)
class Alone:
    """The result: scores, and how many values were out of the quantizer's range or missing."""

    stream: NumberStream
    run: AnomalyRun
    clamped: int
    missing: int

    def record(self) -> dict[str, Any]:
        """Return the result for --json."""
        rows, columns = self.stream.columns.shape
        return {
            "stream": self.stream.name,
            "samples": rows,
            "features": columns,
            "feature_names": list(self.stream.column_names),
            "clamped": self.clamped,
            "missing": self.missing,
            "anomaly": self.run.record(),
        }


def score_alone(
    stream: NumberStream,
    options: Anomaly,
    *,
    engine: str | None = None,
    warmup: int = 256,
    progress: Callable[[int, int], None] | None = None,
) -> Alone:
    """Score each row as `simulate --anomaly` does; all columns are features.

    `engine` is python, llvm or c; None selects the fastest. The quantizer is fitted on the first
    `warmup` rows.
    """
    rows, columns = stream.columns.shape
    library: Any = loader.load(engine or loader.fastest())
    quantizer = library.Quantizer(columns)
    score = library.AnomalyScore(columns, **options.parameters())
    quantizer.observe(array("i", stream.scale.apply(stream.columns[:warmup]).tobytes()))
    quantizer.freeze()
    blocks = []
    for at, raw in stream.scale.blocks(stream.columns, _ROWS):
        codes = array("H", bytes(2 * raw.size))
        scores, anomalous = bytearray(len(raw)), bytearray(len(raw))
        quantizer.encode(array("i", raw.tobytes()), codes)
        score.run(codes, scores, anomalous)
        blocks.append(np.frombuffer(scores + anomalous, np.uint8).reshape(2, -1))
        if progress:
            progress(at + len(raw), rows)
    both, marks = np.concatenate(blocks, axis=1)
    size = options.size(columns)
    run = AnomalyRun(options, *size, score.threshold, both, marks.astype(np.bool_))
    return Alone(stream, run, quantizer.clamped, quantizer.missing)

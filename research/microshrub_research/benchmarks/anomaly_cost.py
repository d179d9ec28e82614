"""Instructions of an anomaly score on emulated boards."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.boards import counted_models, instruction_counts
from microshrub_host.library import loader

_HEAD = ("board", "features", "window", "bytes", "mean", "most")


def novelty_rows(boards: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the table of anomaly_rows() for meet(x, label) of a NoveltyDetector."""
    return anomaly_rows(boards, "NoveltyDetector")


def anomaly_rows(boards: Sequence[str], detector: str = "AnomalyScore") -> list[tuple[str, ...]]:
    """Return the table, its head first: instructions of update(x) for several numbers of features.

    Raises UserError if a board ends up in another state than the simulator's.
    """
    whats = counted_models.for_anomalies()
    table: list[tuple[str, ...]] = [_HEAD]
    with showing("counting instructions", announce=True) as update:
        for board in boards:
            with instruction_counts.Counter(board, whats) as counter:
                for i, what in enumerate(whats):
                    counts, crc = counter.count_anomaly(i, detector)
                    score = _on_pc(what, detector)
                    if crc != score.state_crc32() & 0xFFFFFFFF:
                        raise UserError(f"{board}: another state than in the simulator")
                    size = table_bytes(score)
                    numbers = (score.window, size, round(counts.mean()), counts.max())
                    row = (board, str(score.features), *(f"{number:,}" for number in numbers))
                    table.append(row)
                    update(len(table) - 1, len(whats) * len(boards), f"{board}: {what.name}")
    return table


def table_bytes(part: Any) -> int:
    """Return the size of the detector's buffers in bytes."""
    return sum(memoryview(buffer).nbytes for _, _, buffer in part.buffers())


def _on_pc(what: counted_models.CountedModel, name: str) -> Any:
    library = loader.load(loader.fastest())
    rows = len(what.codes)
    if name == "NoveltyDetector":
        detector = library.NoveltyDetector(what.codes.shape[1], 2)
        for codes in what.codes:
            x = array("H", codes.tobytes())
            detector.meet(x, x[0] & 1)
        return detector
    score = library.AnomalyScore(what.codes.shape[1])
    score.run(array("H", what.codes.tobytes()), bytearray(rows), bytearray(rows))
    return score

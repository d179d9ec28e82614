"""Instructions of an anomaly score on emulated boards."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from ..base.errors import UserError
from ..base.progress import showing
from ..emulation import instruction_counts
from ..engines import loader

_HEAD = ("board", "features", "window", "bytes", "mean", "most")


def anomaly_rows(boards: Sequence[str]) -> list[tuple[str, ...]]:
    """The table, its head first: instructions of update(x) for some numbers of features.

    Raises UserError if a board ends up in another state than the simulator's.
    """
    whats = instruction_counts.for_anomalies()
    table: list[tuple[str, ...]] = [_HEAD]
    with showing("counting instructions", announce=True) as update:
        for board in boards:
            with instruction_counts.Counter(board, whats) as counter:
                for i, what in enumerate(whats):
                    counts, crc = counter.count_anomaly(i)
                    score = _on_pc(what)
                    if crc != score.state_crc32() & 0xFFFFFFFF:
                        raise UserError(f"{board}: another state than in the simulator")
                    size = score.nbytes(score.features, score.window)
                    numbers = (score.window, size, round(counts.mean()), counts.max())
                    row = (board, str(score.features), *(f"{number:,}" for number in numbers))
                    table.append(row)
                    update(len(table) - 1, len(whats) * len(boards), f"{board}: {what.name}")
    return table


def _on_pc(what: instruction_counts.CountedModel) -> Any:
    score = loader.load(loader.fastest()).AnomalyScore(what.codes.shape[1])
    rows = len(what.codes)
    score.run(array("H", what.codes.tobytes()), bytearray(rows), bytearray(rows))
    return score

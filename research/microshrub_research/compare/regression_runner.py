"""Regressors on the same samples in the same order, each in its own process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from microshrub_host.evaluation.regression import errors_of
from microshrub_host.streams.regression_streams import NumberStream

from . import regression_peers
from .comparison_runner import Progress, run_apart
from .contender import Contender
from .outcome import DIVERGED, AnyCell, Contest


@dataclass(frozen=True)
class NumberCell(AnyCell):
    """The result of one learner on one regression stream; errors in the unit of the target.

    Errors are None unless the whole stream was learned, and if they overflow.
    """

    mae: float | None = None  # mean absolute error
    rmse: float | None = None  # root of the mean squared error
    r2: float | None = None  # share of the targets' variance that is explained


class NumberContest(Contest[NumberCell]):
    """A running regressor, and its errors."""

    def __init__(self, work: Any, contender: Contender, stream: NumberStream) -> None:
        super().__init__(work, contender, stream)
        self._stream = stream
        self._targets, self._scored = stream.targets, stream.scored
        self._predictions: list[float] = []
        self._off = 0.0  # sum of the absolute errors of scored samples
        self._seen = 0

    def count(self, predicted: Sequence[Any]) -> None:
        part = slice(self.samples, self.samples + len(predicted))
        scored = self._scored[part]
        with np.errstate(all="ignore"):
            away = np.abs(np.array(predicted)[scored] - self._targets[part][scored])
            self._off += float(np.sum(away))
        self._seen += int(scored.sum())
        self._predictions += predicted

    def so_far(self) -> float:
        """Return the mean absolute error."""
        return self._off / max(self._seen, 1)

    def cell(self, **common: Any) -> NumberCell:
        return NumberCell(**common)

    def scored(self, cell: NumberCell) -> NumberCell:
        with np.errstate(all="ignore"):
            predicted = np.array(self._predictions)[self._scored]
            errors = errors_of(predicted, self._targets[self._scored])
        if not np.isfinite([errors.mae, errors.rmse, errors.r2]).all():
            failure = f"{DIVERGED}: its errors are beyond any number"
            known = [point for point in cell.curve if np.isfinite(point[1])]
            return replace(cell, failure=cell.failure or failure, curve=tuple(known))
        return replace(cell, mae=errors.mae, rmse=errors.rmse, r2=errors.r2)


def compare_numbers(
    contenders: Sequence[Contender],
    stream: NumberStream,
    *,
    ends: tuple[int, int] | None = None,
    warmup: int = 256,
    limit: float = 600,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[NumberCell]:
    """Run the contenders over the stream, as run_apart() does;
    `ends` is the targets' raw range.
    """
    return run_apart(
        contenders,
        stream,
        NumberContest,
        partial(regression_peers.start, ends=ends),
        warmup=warmup,
        limit=limit,
        jobs=jobs,
        progress=progress,
    )

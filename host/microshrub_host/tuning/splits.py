"""A stream in two parts: the first chooses among models, and the rest shows what became of it.

A trial runs the whole stream once, predicting each sample before it learns it. The score on the
first part is all that a choice may look at.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..beside.between import between
from ..beside.companion import Beside, around
from ..boards.usual_program import Names
from ..engines.interface import percent
from ..evaluation.prequential import evaluate
from ..evaluation.regression import evaluate_numbers
from ..library import loader
from ..library.learners import (
    BALANCED,
    DEFAULT,
    MODELS,
    REGRESSORS,
    number_parameters,
    regressor_for,
    stream_parameters,
)
from ..streams.number_streams import NumberStream, Values
from ..streams.stream import Stream
from .scores import ACCURACY, MAE, Measure, Scores, error_of_accuracy
from .trials import Candidate


class SearchedStream(Protocol):
    """What a search asks of a stream, be it of classes or of numbers."""

    @property
    def name(self) -> str:
        """The stream's."""

    @property
    def samples(self) -> int:
        """Of the whole stream."""

    @property
    def first(self) -> int:
        """Samples of the first part; the others are the rest."""

    @property
    def warmup(self) -> int | None:
        """Samples whose features give the ranges before a run; None: what is usual."""

    @property
    def features(self) -> int:
        """Of a sample."""

    @property
    def names(self) -> Names:
        """Of the columns and of the classes."""

    @property
    def measure(self) -> Measure:
        """Of the scores."""

    @property
    def default(self) -> str:
        """The model that needs no options."""

    @property
    def around(self) -> Beside:
        """What stands around each model on a board, as ram_budget.budget() takes it."""

    def sets(self) -> list[str]:
        """The sets of features that are tried; a single "" where there is nothing to choose."""

    def of(self, features: str) -> SearchedStream:
        """The stream with that set of features."""

    def models(self) -> list[str]:
        """The learners that are tried."""

    def parameters(self, candidate: Candidate) -> dict[str, Any]:
        """All parameters of its constructor on this stream."""

    def run(self, candidate: Candidate) -> Scores:
        """Learn the stream; raises ValueError for parameters that the learner refuses."""

    def baselines(self) -> dict[str, Scores]:
        """The simple guesses on the same parts."""

    def content(self) -> Iterator[bytes]:
        """All that makes the stream this one."""


@dataclass(frozen=True)
class StreamSplit:
    """A stream of classes, the samples whose features the quantizer sees, those that choose.

    `beside` are the companions of each trial on this stream.
    """

    stream: Stream
    warmup: int | None
    first: int
    beside: Beside = ()
    measure = ACCURACY
    default = DEFAULT

    @property
    def name(self) -> str:
        return self.stream.name

    @property
    def samples(self) -> int:
        return len(self.stream.labels)

    @property
    def features(self) -> int:
        return int(self.stream.values.shape[1])

    @property
    def names(self) -> Names:
        return self.stream.feature_names, self.stream.class_names

    @property
    def around(self) -> Beside:
        return [*self.beside, *between(self.stream.extraction)]

    def sets(self) -> list[str]:
        return [""]

    def of(self, features: str) -> StreamSplit:
        return self

    def models(self) -> list[str]:
        """Those that are made to be accurate."""
        return [model for model in MODELS if model != BALANCED]

    def parameters(self, candidate: Candidate) -> dict[str, Any]:
        shape = stream_parameters(candidate.model, self.stream, self.warmup)
        return around(shape | dict(candidate.settings), self.beside)

    def run(self, candidate: Candidate) -> Scores:
        wanted = self.parameters(candidate)
        result = evaluate(
            self.stream, candidate.model, wanted, warmup=self.warmup, beside=self.beside
        )
        first, rest = (100 * float(part.mean()) for part in np.split(result.right, [self.first]))
        return self._scores(round(first, 4), round(rest, 4), result.accuracy)

    def baselines(self) -> dict[str, Scores]:
        metrics = loader.load(loader.fastest()).Metrics(len(self.stream.class_names))
        total, first = self.samples, self.first
        said: list[tuple[float, float]] = []
        for part in (slice(0, first), slice(first, total)):
            labels = bytearray(self.stream.labels[part].tobytes())
            metrics.update_rows(labels, bytearray(len(labels)))
            said.append((percent(metrics.accuracy_nochange), percent(metrics.accuracy_majority)))
        return {
            name: self._scores(a, round((b * total - a * first) / (total - first), 4), b)
            for name, a, b in zip(("NoChange", "MajorityClass"), *said, strict=True)
        }

    def content(self) -> Iterator[bytes]:
        stream = self.stream
        yield from (stream.values.tobytes(), stream.labels.tobytes())
        yield json.dumps([stream.feature_names, stream.class_names]).encode()
        for each in self.beside:
            yield json.dumps(each.plan()[2]).encode()

    def _scores(self, first: float, rest: float, whole: float) -> Scores:
        return Scores(first, rest, whole, error_of_accuracy(first, self.first))


@dataclass(frozen=True)
class NumberSplit:
    """A regression stream, the rows that the ranges are taken from, the samples that choose.

    ends is the raw range of the target; None: that of the warm-up.
    """

    stream: NumberStream
    warmup: int
    first: int
    ends: tuple[int, int] | None = None
    measure = MAE

    @property
    def default(self) -> str:
        return regressor_for(DEFAULT)

    @property
    def name(self) -> str:
        return self.stream.name

    @property
    def samples(self) -> int:
        return self.stream.samples

    @property
    def features(self) -> int:
        return self.stream.features

    @property
    def names(self) -> Names:
        return self.stream.column_names, ()

    @property
    def around(self) -> Beside:
        return between(self.stream.extraction, self.stream.forecaster())

    def sets(self) -> list[str]:
        return [""]

    def of(self, features: str) -> NumberSplit:
        return self

    def models(self) -> list[str]:
        """All regressors."""
        return list(REGRESSORS)

    def parameters(self, candidate: Candidate) -> dict[str, Any]:
        stream = self.stream
        return number_parameters(candidate.model, stream.features, stream.late) | dict(
            candidate.settings
        )

    def run(self, candidate: Candidate) -> Scores:
        wanted = self.parameters(candidate)
        result = evaluate_numbers(
            self.stream, candidate.model, wanted, warmup=self.warmup, ends=self.ends
        )
        return self._scores(result.predictions)

    def baselines(self) -> dict[str, Scores]:
        guesses = {"NoChange": self.stream.known, "running mean": self.stream.running_means}
        return {name: self._scores(guess) for name, guess in guesses.items()}

    def content(self) -> Iterator[bytes]:
        stream = self.stream
        yield stream.columns.tobytes()
        names = [*stream.column_names, stream.place, stream.horizon, stream.lags, self.ends]
        yield json.dumps(names).encode()

    def _scores(self, predictions: Values) -> Scores:
        """The mean absolute errors, about the samples that are scored."""
        away = np.where(self.stream.scored, np.abs(predictions - self.stream.targets), np.nan)
        parts = (away[: self.first], away[self.first :], away)
        first, rest, whole = (float(np.nanmean(part)) for part in parts)
        known = int(np.count_nonzero(~np.isnan(parts[0])))
        return Scores(first, rest, whole, float(np.nanstd(parts[0])) / math.sqrt(known))

"""A stream in two parts: one to choose a model, one to measure the chosen model.

Models are chosen by the accuracy on unseen data that `simulate` prints, with the same draws of
whole stretches. Only the predictions for some of the stretches serve to choose; the predictions
for the others measure the chosen model. If the stream drifts, as measured with the default model,
both parts are among its last stretches.

Regression streams, and streams without stretches to hold out, are evaluated prequentially: the
score on the first samples serves to choose.
"""

from __future__ import annotations

import functools
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base.text import count
from ..boards.deployment import Names
from ..library import loader
from ..library.learners import (
    BALANCED,
    DEFAULT,
    MODELS,
    REGRESSORS,
    defaults,
    number_parameters,
    regressor_for,
    stream_parameters,
)
from ..simulation.companion import Companions, with_companions
from ..simulation.engine_interface import percent
from ..simulation.pipeline import pipeline
from ..streams.regression_streams import NumberStream, Values
from ..streams.stream import Stream
from . import holdout
from .holdout import ask, draws, held_out
from .holdout_scores import HoldoutScores, Scores
from .prequential import evaluate
from .regression import evaluate_numbers
from .trials import Candidate


@dataclass(frozen=True)
class Measure:
    """A measure of a model's quality: its name, its unit, and whether more is better."""

    name: str
    unit: str  # in a table's head, after "rest, "
    rising: bool  # whether more is better
    key: str  # in the JSON

    def worth(self, score: float) -> float:
        """Return the score, with its sign changed where less is better."""
        return score if self.rising else -score

    def difference(self, score: float, other: float) -> str:
        """Return how much better or worse a score is than another one, as text."""
        gain = self.worth(score) - self.worth(other)
        much = f"{abs(gain):.2f} points" if self.rising else f"{abs(gain):.4g}"
        return f"{much} {'better' if gain > 0 else 'worse'}"

    def text(self, score: float) -> str:
        """Return a score as tables show it."""
        return f"{score:.2f}" if self.rising else f"{score:.4g}"

    def score_text(self, score: float) -> str:
        """Return a score as sentences show it."""
        return f"{self.text(score)} %" if self.rising else f"MAE {self.text(score)}"


UNSEEN = Measure("accuracy on unseen data", "%", rising=True, key="accuracy")
AS_OF_NOW = Measure(f"{UNSEEN.name}, as of now", "%", rising=True, key="accuracy")
ACCURACY = Measure("accuracy", "%", rising=True, key="accuracy")
MAE = Measure("mean absolute error", "MAE", rising=False, key="mean_absolute_error")


def error_of_accuracy(percent: float, samples: int) -> float:
    """Return the standard error of an accuracy, in points."""
    return math.sqrt(percent * (100 - percent) / samples)


@dataclass(frozen=True)
class SearchedStream(ABC):
    """A stream of classes or a regression stream, as a search uses it.

    `warmup` is the number of samples whose features set the ranges before a run, None for the
    default. `first` is the number of samples to choose by; of unseen data, the share to choose by
    is `first` / `samples`. If several sets of features are compared, `made` has the stream of each
    set, by its value of --features, and this stream is the first of them.
    """

    stream: Stream | NumberStream
    warmup: int | None
    first: int
    made: Mapping[str, SearchedStream] = field(default_factory=dict, kw_only=True)

    @property
    @abstractmethod
    def measure(self) -> Measure:
        """The measure of the scores."""

    @property
    def samples_that_choose(self) -> int:
        """The number of samples to choose by."""
        return self.first

    @property
    def parts(self) -> str:
        """A description of the two scores, for users."""
        first, total = self.first, self.samples
        return (
            f"Chosen on the first {count(first, 'sample')}; the rest are the {total - first:,} "
            "after them, which did not influence the choice. The model goes on learning there, as "
            "it does on a board."
        )

    @property
    def name(self) -> str:
        """The stream's name."""
        return self.stream.name

    @property
    def samples(self) -> int:
        """The number of samples in the whole stream."""
        return self.stream.samples

    @property
    def features(self) -> int:
        """The number of features of a sample."""
        return len(self.stream.feature_names)

    @property
    @abstractmethod
    def names(self) -> Names:
        """The names of the columns and of the classes."""

    @property
    @abstractmethod
    def default(self) -> str:
        """The default model, which needs no options."""

    @property
    @abstractmethod
    def on_board(self) -> Companions:
        """The companions of each model on a board, as ram_budget.budget() takes them."""

    def sets(self) -> list[str]:
        """Return the sets of features to try; a single "" where there is no choice."""
        return list(self.made) or [""]

    def of(self, features: str) -> SearchedStream:
        """Return the stream with that set of features."""
        return self.made[features] if self.made else self

    @abstractmethod
    def models(self) -> list[str]:
        """Return the models to try."""

    def parameters(self, candidate: Candidate) -> dict[str, Any]:
        """Return all of the constructor's parameters on the stream with a candidate's features."""
        return self.of(candidate.features)._parameters(candidate)

    @abstractmethod
    def _parameters(self, candidate: Candidate) -> dict[str, Any]:
        """Return all of the constructor's parameters on this stream."""

    def run(self, candidate: Candidate) -> Scores:
        """Run a candidate over the stream with its set of features.

        Raises ValueError for parameters that the learner refuses.
        """
        return self.of(candidate.features)._run(candidate.model, self.parameters(candidate))

    @abstractmethod
    def _run(self, model: str, parameters: dict[str, Any]) -> Scores:
        """Run a model over this stream."""

    @abstractmethod
    def baselines(self) -> dict[str, Scores]:
        """Return the scores of baselines on the same parts, with a batch forest if available."""

    def content(self) -> Iterator[bytes]:
        """Yield the bytes that identify the stream, with all sets of features."""
        for words in self.sets():
            yield words.encode()
            yield from self.of(words)._content()

    @abstractmethod
    def _content(self) -> Iterator[bytes]:
        """Yield the bytes that identify this stream alone."""


@dataclass(frozen=True)
class StreamSplit(SearchedStream):
    """A stream of classes; `companions` run in each trial on this stream."""

    stream: Stream
    companions: Companions = ()

    default = DEFAULT

    @functools.cached_property
    def holdout(self) -> HoldoutScores | None:
        """The held-out stretches to score models on; None if none can be used to choose."""
        known = (
            held_out(self.stream) if all(each.can_be_asked for each in self.companions) else None
        )
        if known is None:
            return None
        usual = self._parameters(Candidate(-1, DEFAULT, defaults(DEFAULT)))
        how: dict[str, Any] = {"warmup": self.warmup, "companions": self.companions}
        unseen = holdout.measure(self.stream, DEFAULT, usual, **how)
        last = known.stretches.last()
        now = [last] if last and unseen and unseen.now and unseen.headline is unseen.now else []
        drawn = now or list(draws(known.stretches))
        scores = HoldoutScores(known, drawn, self.first / self.samples, bool(now))
        return scores if scores.can_choose else None

    @property
    def measure(self) -> Measure:
        if not self.holdout:
            return ACCURACY
        return AS_OF_NOW if self.holdout.now else UNSEEN

    @property
    def samples_that_choose(self) -> int:
        return self.holdout.samples[0] if self.holdout else self.first

    @property
    def parts(self) -> str:
        return self.holdout.words if self.holdout else f"Nothing can be held out. {super().parts}"

    @property
    def names(self) -> Names:
        return self.stream.feature_names, self.stream.class_names

    @property
    def on_board(self) -> Companions:
        return [*self.companions, *pipeline(self.stream.extraction)]

    def models(self) -> list[str]:
        """Return the classifiers made for accuracy."""
        return [model for model in MODELS if model != BALANCED]

    def _parameters(self, candidate: Candidate) -> dict[str, Any]:
        shape = stream_parameters(candidate.model, self.stream, self.warmup)
        return with_companions(shape | dict(candidate.settings), self.companions)

    def _run(self, model: str, parameters: dict[str, Any]) -> Scores:
        if self.holdout:
            how: dict[str, Any] = {"warmup": self.warmup, "companions": self.companions}
            known, drawn = self.holdout.known, self.holdout.draws
            return self.holdout.scores(
                [ask(known, d, model, parameters, **how).predictions for d in drawn]
            )
        result = evaluate(
            self.stream, model, parameters, warmup=self.warmup, companions=self.companions
        )
        first, rest = (100 * float(part.mean()) for part in np.split(result.right, [self.first]))
        return self._scores(round(first, 4), round(rest, 4), result.accuracy)

    def baselines(self) -> dict[str, Scores]:
        if self.holdout:
            return self.holdout.baselines()
        metrics = loader.load(loader.fastest()).Metrics(len(self.stream.class_names))
        total, first = self.samples, self.first
        percentages: list[tuple[float, float]] = []
        for part in (slice(0, first), slice(first, total)):
            labels = bytearray(self.stream.labels[part].tobytes())
            metrics.update_rows(labels, bytearray(len(labels)))
            percentages.append(
                (percent(metrics.accuracy_nochange), percent(metrics.accuracy_majority))
            )
        return {
            name: self._scores(a, round((b * total - a * first) / (total - first), 4), b)
            for name, a, b in zip(("NoChange", "MajorityClass"), *percentages, strict=True)
        }

    def _content(self) -> Iterator[bytes]:
        stream = self.stream
        yield from (stream.values.tobytes(), stream.labels.tobytes())
        yield json.dumps([stream.feature_names, stream.class_names]).encode()
        for part in (stream.times, stream.groups):
            yield b"" if part is None else part.tobytes()
        for each in self.companions:
            yield json.dumps(each.plan()[2]).encode()

    def _scores(self, first: float, rest: float, whole: float) -> Scores:
        return Scores(first, rest, whole, error_of_accuracy(first, self.first))


@dataclass(frozen=True)
class NumberSplit(SearchedStream):
    """A regression stream; ends is the raw range of the target, None for the warm-up's range."""

    stream: NumberStream
    warmup: int
    ends: tuple[int, int] | None = None

    @property
    def measure(self) -> Measure:
        return MAE

    @property
    def default(self) -> str:
        return regressor_for(DEFAULT)

    @property
    def names(self) -> Names:
        return self.stream.column_names, ()

    @property
    def on_board(self) -> Companions:
        return pipeline(self.stream.extraction, self.stream.forecaster())

    def models(self) -> list[str]:
        """Return all regressors."""
        return list(REGRESSORS)

    def _parameters(self, candidate: Candidate) -> dict[str, Any]:
        shape = number_parameters(candidate.model, self.features, self.stream.late)
        return shape | dict(candidate.settings)

    def _run(self, model: str, parameters: dict[str, Any]) -> Scores:
        result = evaluate_numbers(
            self.stream, model, parameters, warmup=self.warmup, ends=self.ends
        )
        return self._scores(result.predictions)

    def baselines(self) -> dict[str, Scores]:
        baselines = {"NoChange": self.stream.known, "running mean": self.stream.running_means}
        return {name: self._scores(baseline) for name, baseline in baselines.items()}

    def _content(self) -> Iterator[bytes]:
        stream = self.stream
        yield stream.columns.tobytes()
        names = [*stream.column_names, stream.place, stream.horizon, stream.lags, self.ends]
        yield json.dumps(names).encode()

    def _scores(self, predictions: Values) -> Scores:
        """Return the mean absolute errors over the samples that are scored."""
        away = np.where(self.stream.scored, np.abs(predictions - self.stream.targets), np.nan)
        parts = (away[: self.first], away[self.first :], away)
        first, rest, whole = (float(np.nanmean(part)) for part in parts)
        known = int(np.count_nonzero(~np.isnan(parts[0])))
        return Scores(first, rest, whole, float(np.nanstd(parts[0])) / math.sqrt(known))

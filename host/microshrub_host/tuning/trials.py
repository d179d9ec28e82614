"""One configuration on one stream: what it takes on a board, and its accuracy on two parts.

A trial runs the whole stream once, predicting each sample before it learns it. The accuracy over
the first part is all that a choice may look at; that over the rest shows what became of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..boards import ram_budget, sample_time
from ..boards.board_files import Board
from ..emulation.latency import Clock
from ..engines import loader
from ..engines.learners import MODELS, learner, options_text, stream_parameters
from ..engines.status import percent
from ..evaluation.prequential import evaluate
from ..streams.stream import Stream
from .search_space import changed


@dataclass(frozen=True)
class StreamSplit:
    """A stream, the samples whose features the quantizer sees, and those that choose."""

    stream: Stream
    warmup: int
    first: int  # samples of the first part; the others are the rest


@dataclass(frozen=True)
class Accuracies:
    """In percent: on the first part, on the rest, and on the whole stream."""

    first: float
    rest: float
    whole: float


@dataclass(frozen=True)
class Candidate:
    """A model by the command line's name and all its parameters but those of the stream."""

    number: int  # of its trial
    model: str
    settings: Mapping[str, Any]

    @property
    def options(self) -> str:
        """As one would type it: the model, and what is not the default."""
        words = options_text(changed(self.model, self.settings))
        return f"--model {self.model} {words}".rstrip()


@dataclass(frozen=True)
class Limits:
    """What a model may take: bytes of its buffers, milliseconds of a sample (None: any time).

    Without a clock only the board's file says how long one takes.
    """

    board: Board
    budget: int
    max_latency: float | None = None
    clock: Clock | None = None


@dataclass(frozen=True)
class Size:
    """What a model takes: bytes of its buffers, of RAM, and milliseconds of a predict and a learn.

    The time is the 99th percentile, None if nothing is known of such a model.
    """

    model_bytes: int
    ram_bytes: int
    latency: float | None


def run(split: StreamSplit, configuration: Candidate) -> Accuracies:
    """Learn the stream; raises ValueError for parameters that the learner refuses."""
    wanted = parameters(split, configuration)
    result = evaluate(split.stream, configuration.model, wanted, warmup=split.warmup)
    right = result.right
    return Accuracies(
        first=round(100 * float(right[: split.first].mean()), 4),
        rest=round(100 * float(right[split.first :].mean()), 4),
        whole=result.accuracy,
    )


def parameters(split: StreamSplit, configuration: Candidate) -> dict[str, Any]:
    """All parameters of its constructor on this stream."""
    shape = stream_parameters(configuration.model, split.stream, split.warmup)
    return shape | dict(configuration.settings)


def size_within(split: StreamSplit, configuration: Candidate, limits: Limits) -> Size | None:
    """What the model takes, None if that is more than the limits or it is refused as such."""
    model, wanted = configuration.model, parameters(split, configuration)
    try:
        if learner(model).nbytes(**wanted) > limits.budget:
            return None
    except ValueError:
        return None
    budget = ram_budget.budget(wanted, limits.board, MODELS[model])
    time = sample_time.sample_time(limits.board, model, wanted)
    latency = None if time is None else (time.predict[1] + time.learn[1]) / 1000
    if not budget.fits:
        return None
    most = limits.max_latency
    if most is not None:
        if latency is None and limits.clock:
            latency = limits.clock.milliseconds(model, wanted, most)
        if latency is not None and latency > most:
            return None
    return Size(budget.model_bytes, budget.ram_bytes, latency)


def baselines(split: StreamSplit) -> dict[str, Accuracies]:
    """NoChange and MajorityClass on the same parts."""
    metrics = loader.load(loader.fastest()).Metrics(len(split.stream.class_names))
    total, first = len(split.stream.labels), split.first
    said: list[tuple[float, float]] = []
    for part in (slice(0, first), slice(first, total)):
        labels = bytearray(split.stream.labels[part].tobytes())
        metrics.update_rows(labels, bytearray(len(labels)))
        said.append((percent(metrics.accuracy_nochange), percent(metrics.accuracy_majority)))
    return {
        name: Accuracies(a, round((b * total - a * first) / (total - first), 4), b)
        for name, a, b in zip(("NoChange", "MajorityClass"), *said, strict=True)
    }

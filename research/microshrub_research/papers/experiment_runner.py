"""The part that all experiments share: do the runs, store each result, continue later.

Every run has a time limit; runs of other systems have their own processes (see
compare/comparison_runner.py). The runs are spread over processes of this machine or of a cluster
(base/cluster.py).
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from microshrub_host.base.cluster import Outcome, spread
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.base.text import count
from microshrub_host.base.versions import version_of, versions
from microshrub_host.evaluation import prequential
from microshrub_host.streams.stream import Stream

from ..compare.comparison_runner import Cell, compare, compare_here
from ..compare.contender import Contender
from ..compare.our_learners import model_bytes
from ..compare.outcome import Curve
from . import variations
from .experiment import (
    Experiment,
    ExperimentResults,
    Extent,
    Method,
    RunOutcome,
    StreamSource,
    is_ours,
)
from .kept_results import KeptResults

WARMUP = 256  # samples that our quantizer observes before the run
_SIZES = 20  # measurements of a model's bytes along the way: Java's are slow
_PEERS = ("river", "capymoa", "torch")  # packages whose versions are part of the results' head
_SYSTEMS_WITH_REFERENCE = ("moa", "river")

Key = tuple[str, str, int]


@dataclass(frozen=True)
class PlannedRun:
    """A method in one configuration on one stream."""

    method: str
    configuration: int
    contender: Contender
    source: StreamSource
    samples: int | None  # of the stream
    seconds: int  # time limit
    most_bytes: int | None = None  # limit for one of ours

    @property
    def key(self) -> Key:
        """The identity of this run: method, stream and configuration."""
        return self.method, self.source.name, self.configuration


@dataclass(frozen=True)
class Plan:
    """All runs of an experiment, and where they run."""

    experiment: Experiment
    extent: Extent
    methods: Sequence[Method]
    sources: Mapping[str, StreamSource]
    seed: int
    jobs: int = 1
    scheduler: str | None = None
    notes: Sequence[str] = field(default=())
    method_seconds: int | None = None  # for all runs of a method on one stream, each one started
    peer_samples: int | None = None  # limit for methods of others; None: as for ours
    peer_seconds: int | None = None  # their method_seconds; None: as for ours

    def runs(self) -> list[PlannedRun]:
        """Return all runs, by configuration first, so that an early stop leaves some of
        each method.
        """
        numbers = range(max((len(m.contenders) for m in self.methods), default=0))
        return [
            PlannedRun(
                method=method.name,
                configuration=number,
                contender=method.contenders[number],
                source=source,
                samples=self._samples(method),
                seconds=self.extent.seconds,
                most_bytes=self.experiment.most_bytes,
            )
            for number in numbers
            for source in self.sources.values()
            for method in self.methods
            if number < len(method.contenders)
        ]

    def _samples(self, method: Method) -> int | None:
        limits = [self.extent.samples, None if is_ours(method) else self.peer_samples]
        return min((limit for limit in limits if limit is not None), default=None)

    def seconds_by_method(self) -> dict[str, int | None]:
        """Return the time limit for all runs of a method on one stream; None: no limit."""
        theirs = self.method_seconds if self.peer_seconds is None else self.peer_seconds
        return {m.name: self.method_seconds if is_ours(m) else theirs for m in self.methods}

    def head(self) -> dict[str, Any]:
        """Return the options that change results, and the versions: see KeptResults."""
        return {
            "experiment": self.experiment.name,
            "--limit": self.extent.samples,
            **({"--peer-limit": self.peer_samples} if self.peer_samples else {}),
            "--time-limit": self.extent.seconds,
            "--seed": self.seed,
            **versions(),
            **{name: version_of(name) for name in _PEERS},
        }


def reproduce(plan: Plan, folder: Path) -> ExperimentResults:
    """Do the runs without a result in the folder; return all requested results.

    If a worker crashes, its run counts as failed, but is not stored, and is repeated next time. A
    method whose time on a stream is up starts no more runs on the stream: `results` has the runs
    so far. Raises UserError for a folder with results of other options.
    """
    runs = plan.runs()
    with KeptResults(folder, plan.head()) as kept:
        results = {_key(result): result for result in map(_result, kept.records)}
        left = [run for run in runs if not _is_done(run, results.get(run.key))]
        in_time = _InTime(plan, results.values())
        for run, outcome in _progress(plan, in_time.of(left), len(runs), len(left)):
            if outcome.value:
                kept.append(outcome.value.record())
            results[run.key] = outcome.value or _failed(run, outcome.failure)
            in_time.count(results[run.key])
    return ExperimentResults(
        methods=plan.methods,
        streams=list(plan.sources),
        results=[results[run.key] for run in sorted(runs, key=_order(plan)) if run.key in results],
        notes=plan.notes,
    )


class _InTime:
    """The runs of methods that have time left on a stream."""

    def __init__(self, plan: Plan, results: Iterable[RunOutcome]) -> None:
        self._plan = plan
        self._taken: Counter[tuple[str, str]] = Counter()
        for result in results:
            self.count(result)

    def count(self, result: RunOutcome) -> None:
        """Add the time of a run; a failed run without a time was at its limit, or never ran."""
        stopped = 0 if result.too_large else self._plan.extent.seconds
        seconds = stopped if result.seconds is None else math.ceil(result.seconds)
        self._taken[result.method, result.stream] += seconds

    def of(self, runs: Iterable[PlannedRun]) -> Iterator[PlannedRun]:
        """Yield the runs that still have time when their turn comes."""
        seconds = self._plan.seconds_by_method()
        for run in runs:
            most = seconds[run.method]
            if most is None or self._taken[run.method, run.source.name] < most:
                yield run


def _order(plan: Plan) -> Any:
    streams, methods = list(plan.sources), [method.name for method in plan.methods]

    def place(run: PlannedRun) -> tuple[int, int, int]:
        return streams.index(run.source.name), methods.index(run.method), run.configuration

    return place


def _result(record: dict[str, Any]) -> RunOutcome:
    try:
        return RunOutcome.of_record(record)
    except TypeError as error:
        raise UserError(f"a kept result is not of this version: {error}") from None


def _key(result: RunOutcome) -> Key:
    return result.method, result.stream, result.configuration


def _is_done(run: PlannedRun, result: RunOutcome | None) -> bool:
    """Return whether a run has a result.

    Raises UserError for a result of another learner, as after Java was installed or removed.
    """
    if result is None:
        return False
    if (result.contender, result.system) != (run.contender.name, run.contender.system):
        raise UserError(
            f"--output has results of {result.contender}, where {run.contender.name} is asked "
            "for: results of both cannot be mixed. Use another --output."
        )
    return True


def _progress(
    plan: Plan, runs: Iterator[PlannedRun], total: int, left: int
) -> Iterator[tuple[PlannedRun, Outcome]]:
    """Yield the results as they come; the progress also counts earlier ones."""
    done = total - left
    if left:
        _prepare_streams(plan)
    with showing(plan.experiment.name) as update:
        update(done, total, f"{done} of {count(total, 'run')}")
        if not left:
            return
        for outcome in spread(run_one, runs, jobs=plan.jobs, scheduler=plan.scheduler):
            run: PlannedRun = outcome.task
            done += 1
            update(done, total, f"{done} of {count(total, 'run')}, {run.method} {run.source.name}")
            yield run, outcome


def _prepare_streams(plan: Plan) -> None:
    """Generate the synthetic streams, once; raises UserError for a file that is not a stream."""
    for source in plan.sources.values():
        with showing(f"reading {source.name}"):
            source.open(plan.extent.samples)


# --- One run -------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=2)
def _opened(source: StreamSource, samples: int | None) -> Stream:
    return source.open(samples)


def run_one(run: PlannedRun) -> RunOutcome:
    """Learn the stream; a failure of the learner becomes the result's failure.

    Raises UserError if the stream cannot be read.
    """
    stream = _opened(run.source, run.samples)
    settings = variations.settled(run.contender.settings, stream.values.shape[1])
    contender = replace(run.contender, settings=settings)
    refused = _prepare(replace(run, contender=contender), stream)
    if refused:
        return refused
    how: dict[str, Any] = {"warmup": WARMUP, "limit": run.seconds, "sizes": _SIZES}
    if contender.system == "ours":
        return _of_cell(run, compare_here(contender, stream, **how), stream)
    (cell,) = compare([contender], stream, **how)
    return _of_cell(run, cell, stream)


def _prepare(run: PlannedRun, stream: Stream) -> RunOutcome | None:
    """Compile our learner's kernels, outside its time limit; return a result if it cannot run."""
    contender, most = run.contender, run.most_bytes
    if contender.system != "ours":
        return None
    try:
        size = model_bytes(contender, stream, WARMUP)
    except UserError as error:
        return _failed(run, str(error))
    if most is not None and size > most:
        words = f"takes {size:,} bytes, and {most:,} is the most"
        return replace(_failed(run, words), too_large=True)
    prequential.compile_kernels(contender.learner, contender.settings)
    return None


def _failed(run: PlannedRun, failure: str) -> RunOutcome:
    return RunOutcome(
        method=run.method,
        stream=run.source.name,
        configuration=run.configuration,
        contender=run.contender.name,
        system=run.contender.system,
        settings=dict(run.contender.settings),
        failure=failure or "gave nothing",
        samples=0,
        features=0,
        classes=0,
    )


def _of_cell(run: PlannedRun, cell: Cell, stream: Stream) -> RunOutcome:
    return replace(
        _failed(run, cell.failure),
        settings=dict(cell.settings),
        failure=cell.failure,
        samples=cell.samples,
        features=stream.values.shape[1],
        classes=len(stream.class_names),
        accuracy=cell.accuracy,
        running_average_accuracy=cell.running_average_accuracy,
        kappa=cell.kappa,
        model_bytes=cell.model_bytes,
        average_bytes=average_size(cell.system, cell.sizes),
        seconds=cell.seconds,
        accuracies=cell.curve,
        sizes=cell.sizes,
        shapes=cell.shapes,
    )


def average_size(system: str, sizes: Curve) -> float | None:
    """Return the mean of the bytes over time, as defined in the Shrub Ensembles paper.

    For models that are objects of a virtual machine (MOA's, River's), the size before the first
    sample is subtracted, since such objects take that anyway. None if it was not measured.
    """
    later = [size for samples, size in sizes if samples]
    if not later:
        return None
    reference = sizes[0][1] if system in _SYSTEMS_WITH_REFERENCE and not sizes[0][0] else 0
    return max(0.0, sum(later) / len(later) - reference)

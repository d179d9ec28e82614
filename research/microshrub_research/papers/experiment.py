"""An experiment of a paper: its methods, its streams, and the results of its runs.

An experiment is a list of runs: a method in one of its configurations on one stream. Its module
defines the methods, and makes tables and pictures of the results; the rest is the same for all
experiments (experiment_runner.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from microshrub_host.streams.stream import Stream

from ..compare.contender import Contender
from ..compare.tree_shape import Shape
from . import paper_streams

RUNNING = "running_average_accuracy"  # the papers': the running accuracy's mean over time
TRUE = "accuracy"  # the share of correct predictions


@dataclass(frozen=True)
class Method:
    """A method: a column in the tables, with its configurations, the same on all streams."""

    name: str  # its name in the paper's tables
    title: str  # a description, with the system
    contenders: Sequence[Contender]


def is_ours(method: Method) -> bool:
    """Return whether the method's learners are this project's."""
    return all(contender.system == "ours" for contender in method.contenders)


@dataclass(frozen=True)
class Extent:
    """The size of an experiment's run, unless options change it."""

    streams: Sequence[str]
    configurations: int  # of a method, at most
    samples: int | None  # of a stream; None: a whole file, 100,000 of a generated stream
    seconds: int  # time limit of one run


@dataclass(frozen=True)
class RunOutcome:
    """The result of one run; accuracies in percent, None if it did not finish."""

    method: str
    stream: str
    configuration: int  # from 0 on
    contender: str
    system: str
    settings: Mapping[str, Any]
    failure: str  # as a text; "" if it finished
    samples: int
    features: int
    classes: int
    accuracy: float | None = None
    running_average_accuracy: float | None = None
    kappa: float | None = None
    model_bytes: int | None = None  # at the end
    average_bytes: float | None = None  # over time: see average_size()
    seconds: float | None = None
    accuracies: Sequence[tuple[int, float]] = ()  # running accuracy after a number of samples
    sizes: Sequence[tuple[int, float]] = ()  # bytes after a number of samples
    shapes: Sequence[tuple[int, Shape]] = ()  # the shape of a tree after a number of samples
    too_large: bool = False  # the run was skipped, as the model takes too many bytes

    def record(self) -> dict[str, Any]:
        """Return the result as JSON holds it."""
        return dataclasses.asdict(self)

    @staticmethod
    def of_record(record: Mapping[str, Any]) -> RunOutcome:
        """Return the result of a record(); raises TypeError for any other record."""
        return RunOutcome(**record)

    def measure(self, name: str) -> float:
        """Return the accuracy of that name, RUNNING or TRUE, of a run that has one."""
        result: float = getattr(self, name)
        return result


@dataclass(frozen=True)
class ExperimentResults:
    """The content of the tables and pictures, in the order of the options."""

    methods: Sequence[Method]
    streams: Sequence[str]
    results: Sequence[RunOutcome]
    notes: Sequence[str] = ()  # methods and streams that were left out, and the reasons

    def of(self, stream: str, method: str) -> list[RunOutcome]:
        """Return the runs that finished, by configuration."""
        return [
            result
            for result in self.results
            if (result.stream, result.method) == (stream, method) and result.accuracy is not None
        ]

    def best(
        self,
        stream: str,
        method: str,
        *,
        measure: str = RUNNING,
        within: float | None = None,
    ) -> RunOutcome | None:
        """Return the most accurate run with an average size below `within` bytes,
        by default of any size; None if there is none.
        """
        outcome = [
            result
            for result in self.of(stream, method)
            if within is None
            or (result.average_bytes is not None and result.average_bytes < within)
        ]
        return max(outcome, key=lambda result: result.measure(measure), default=None)


@dataclass(frozen=True)
class ReportTable:
    """A table of a report; the cells (row, column) of `best` are bold."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: Collection[tuple[int, int]] = ()
    notes: Sequence[str] = ()  # sentences above the table


@dataclass(frozen=True)
class Picture:
    """A matplotlib figure of a report; `name` is its file's name without a suffix."""

    name: str
    figure: Any = field(repr=False)
    caption: str


class StreamSource(Protocol):
    """The source of a stream; picklable, so that another process can open it, and hashable."""

    @property
    def name(self) -> str:
        """The stream's name in the tables."""

    @property
    def origin(self) -> str:
        """A description: a file, a generator, a data set of OpenML."""

    def open(self, limit: int | None) -> Stream:
        """Open the stream; raises UserError if it cannot be read."""

    def __hash__(self) -> int:
        """Return the hash of all fields."""


Sources = tuple[dict[str, StreamSource], list[str]]  # by name, and notes about streams left out
Chosen = tuple[Sequence[Method], Sequence[str]]  # with notes about methods left out


@dataclass(frozen=True)
class Experiment:
    """One experiment: the data and functions of its module."""

    name: str
    text: str  # a line for the help
    streams: Sequence[str]  # streams that --streams accepts
    full: Extent
    quick: Extent
    methods: Callable[[int, int], Chosen]  # (configurations, seed)
    tables: Callable[[ExperimentResults], Sequence[ReportTable]]
    pictures: Callable[[ExperimentResults], Sequence[Picture]]
    most_bytes: int | None = None  # larger models of ours are refused
    find: Callable[[Sequence[str], Path | None], Sources] = paper_streams.find  # with --data

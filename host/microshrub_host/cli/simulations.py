"""What `microshrub simulate` does in one way for classes and in another for numbers."""

from __future__ import annotations

import argparse
import dataclasses
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic

from ..base.progress import showing
from ..beside.between import between
from ..beside.companion import Beside
from ..boards import sample_time
from ..boards.board_files import Board
from ..boards.sample_time import SampleTime
from ..evaluation import kept_aside, prequential, regression
from ..evaluation.classes import Result
from ..evaluation.regression import NumberResult
from ..evaluation.task import R
from ..library.learners import WARMUP
from ..reports import plots
from ..reports.class_report import of_classes
from ..reports.number_plots import draw_numbers
from ..reports.number_report import of_numbers
from ..reports.report import RunReport
from ..streams.number_streams import NumberStream
from ..streams.stream import Stream
from .companion_options import beside_stream, companions
from .energy_options import with_energy
from .number_options import open_numbers_arguments
from .stream_options import open_with_parameters


class Simulation(ABC, Generic[R]):
    """A stream and the model that is to learn it, as the options ask for them."""

    options: ClassVar[tuple[str, ...]]  # those that say how the stream was read
    stream: Stream | NumberStream
    parameters: dict[str, Any]  # all of the model's
    around: Beside  # what stands beside the model on a board

    @abstractmethod
    def learn(self, engine: str) -> R:
        """Run the model over the stream."""

    @abstractmethod
    def told(self, result: R) -> RunReport:
        """What there is to say of it."""

    @abstractmethod
    def figure(self, result: R) -> Any:
        """Its picture."""

    def time(self, board: Board) -> SampleTime | None:
        """How long a sample takes there, if that is known."""
        return None

    def record(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """How the stream was read, what is in it, and whether there was a --board, for JSON."""
        record = {name: getattr(arguments, name) for name in self.options}
        if self.stream.extraction:
            record["extraction"] = self.stream.extraction.saved()
        return record | {
            "feature_names": list(self.stream.feature_names),
            "board_given": arguments.board is not None,
        }


class ClassSimulation(Simulation[Result]):
    """Of samples with a class."""

    options = ("limit", "warmup", "shuffle", "label")
    stream: Stream

    def __init__(self, arguments: argparse.Namespace) -> None:
        companions(arguments)  # before what takes long
        self._arguments = arguments
        self.stream, parameters = open_with_parameters(arguments)
        self._beside, self.parameters = beside_stream(arguments, self.stream, parameters)
        self.around = [*self._beside, *between(self.stream.extraction)]

    def learn(self, engine: str) -> Result:
        given = self._arguments
        with showing(f"{engine}: learning") as update:
            result = prequential.evaluate(
                self.stream,
                given.model,
                self.parameters,
                engine=engine,
                warmup=given.warmup,
                progress=lambda done, total, acc: update(done, total, f"accuracy {acc:.2f} %"),
                beside=self._beside,
            )
        with showing("without labels"):
            alone = kept_aside.measure(
                self.stream,
                given.model,
                self.parameters,
                warmup=given.warmup,
                beside=self._beside,
            )
        return dataclasses.replace(result, alone=alone)

    def told(self, result: Result) -> RunReport:
        return of_classes(result, shuffled=self._arguments.shuffle is not None)

    def figure(self, result: Result) -> Any:
        return plots.draw_run(result)

    def time(self, board: Board) -> SampleTime | None:
        found = sample_time.sample_time(board, self._arguments.model, self.parameters)
        return with_energy(self._arguments, board, sample_time.of_learner(found, self.around))

    def record(self, arguments: argparse.Namespace) -> dict[str, Any]:
        return super().record(arguments) | {"class_names": list(self.stream.class_names)}


class NumberSimulation(Simulation[NumberResult]):
    """Of samples with a number."""

    options = ("limit", "warmup", "lags")
    stream: NumberStream

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self.stream, self.parameters, self._target = open_numbers_arguments(arguments)
        self.around = between(self.stream.extraction, self._target)

    def learn(self, engine: str) -> NumberResult:
        with showing(f"{engine}: learning") as update:
            return regression.evaluate_numbers(
                self.stream,
                self._arguments.model,
                self.parameters,
                engine=engine,
                warmup=self._arguments.warmup or WARMUP,
                ends=self._target["ends"],
                interval=self._target["interval"],
                progress=lambda done, total, mae: update(done, total, f"MAE {mae:.5g}"),
            )

    def told(self, result: NumberResult) -> RunReport:
        return of_numbers(result)

    def figure(self, result: NumberResult) -> Any:
        return draw_numbers(result, self.stream)

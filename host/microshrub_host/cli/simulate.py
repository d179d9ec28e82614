"""`microshrub simulate`: a learner on a stream, with accuracy, bytes and time."""

from __future__ import annotations

import argparse
import dataclasses
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic

from ..base import files
from ..base.errors import UserError
from ..base.terminal import console, showing
from ..boards import board_files, ram_budget, sample_time
from ..boards.board_files import Board
from ..boards.deployment import Deployment, Names
from ..boards.emits import chosen
from ..boards.ram_budget import Budget, Kernels
from ..boards.sample_time import SampleTime
from ..boards.usual_budget import usual_budget
from ..evaluation import holdout, prequential, regression
from ..evaluation.classes import Result
from ..evaluation.regression import NumberResult
from ..evaluation.task import R
from ..library import loader
from ..library.learners import WARMUP, learner_name
from ..models import model_files
from ..reports import plots, result_tables
from ..reports.plots import draw_numbers
from ..reports.result_tables import RunReport
from ..reports.run_report import of_classes, of_numbers
from ..simulation import engines
from ..simulation.companion import Companions
from ..simulation.pipeline import pipeline
from ..streams.regression_streams import NumberStream
from ..streams.stream import Stream
from .budget import too_large
from .energy_options import add_energy_options, check_energy, with_energy
from .options import (
    add_companion_options,
    add_model_options,
    companions_of,
    companions_on_stream,
    is_model_file,
)
from .outputs import (
    add_outputs,
    check_outputs,
    is_quiet,
    write,
    write_figure,
    write_json,
    write_page,
)
from .plain_parser import show_first
from .regression_options import add_number_options, open_numbers_arguments, wants_numbers
from .simulate_anomaly import run_alone
from .simulate_saved import run_saved
from .stream_options import (
    DEFAULT_BOARD,
    STREAM_OPTIONS,
    add_board_option,
    add_no_label_option,
    add_stream_options,
    check_no_label,
    compile_kernels,
    open_with_parameters,
)

_MQTT_BYTES = 32768  # more than a program's part for an MQTT broker


class Simulation(ABC, Generic[R]):
    """A stream and the model to learn it, from the options."""

    options: ClassVar[tuple[str, ...]]  # options for reading the stream
    stream: Stream | NumberStream
    parameters: dict[str, Any]  # all parameters of the model
    on_board: Companions  # the model's companions, and the features of its samples

    @property
    @abstractmethod
    def names(self) -> Names:
        """The names of the features and of the classes."""

    @abstractmethod
    def learn(self, engine: str) -> R:
        """Run the model over the stream."""

    @abstractmethod
    def report_of(self, result: R) -> RunReport:
        """Return the parts of a result's report."""

    @abstractmethod
    def figure(self, result: R) -> Any:
        """Return a result's picture."""

    def time(self, board: Board, kernels: Kernels) -> SampleTime | None:
        """Return the time of a sample on the board, with these kernels; None if unknown."""
        return None

    def record(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """Return a JSON record of the options for reading, the features, and --board."""
        record = {name: getattr(arguments, name) for name in self.options}
        if self.stream.extraction:
            record["extraction"] = self.stream.extraction.saved()
        return record | {
            "feature_names": list(self.stream.feature_names),
            "board_given": arguments.board is not None,
        }


class ClassSimulation(Simulation[Result]):
    """A simulation of samples with classes."""

    options = ("limit", "warmup", "shuffle", "label")
    stream: Stream

    def __init__(self, arguments: argparse.Namespace) -> None:
        companions_of(arguments)  # checked before slow work
        self._arguments = arguments
        self.stream, parameters = open_with_parameters(arguments)
        self._companions, self.parameters = companions_on_stream(
            arguments, self.stream, parameters
        )
        self.on_board = [*self._companions, *pipeline(self.stream.extraction)]

    @property
    def names(self) -> Names:
        return self.stream.feature_names, self.stream.class_names

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
                companions=self._companions,
            )
        with showing("unseen data"):
            unseen = holdout.measure(
                self.stream,
                given.model,
                self.parameters,
                warmup=given.warmup,
                companions=self._companions,
                forest=True,
            )
        return dataclasses.replace(result, unseen=unseen)

    def report_of(self, result: Result) -> RunReport:
        return of_classes(result, shuffled=self._arguments.shuffle is not None)

    def figure(self, result: Result) -> Any:
        return plots.draw_run(result)

    def time(self, board: Board, kernels: Kernels) -> SampleTime | None:
        model, emit = self._arguments.model, chosen(board)
        result = sample_time.sample_time(board, model, self.parameters, emit)
        result = result and result.with_kernels(kernels)
        result = sample_time.of_learner(result, board, self.on_board)
        return with_energy(self._arguments, board, result)

    def record(self, arguments: argparse.Namespace) -> dict[str, Any]:
        return super().record(arguments) | {"class_names": list(self.stream.class_names)}


class NumberSimulation(Simulation[NumberResult]):
    """A simulation of samples with numbers."""

    options = ("limit", "warmup", "lags")
    stream: NumberStream

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self.stream, self.parameters, self._target = open_numbers_arguments(arguments)
        self.on_board = pipeline(self.stream.extraction, self._target)

    @property
    def names(self) -> Names:
        return self.stream.column_names, ()

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

    def report_of(self, result: NumberResult) -> RunReport:
        return of_numbers(result)

    def figure(self, result: NumberResult) -> Any:
        return draw_numbers(result, self.stream)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_stream_options(parser)
    add_board_option(
        parser,
        None,
        "the board: its RAM and time; models that do not fit are refused (default: none)",
    )
    add_energy_options(parser)
    parser.add_argument(
        "--engine",
        choices=(*engines.NAMES, engines.CHECKED),
        help="what runs the learner (default: c if there is a C compiler, else llvm); checked is "
        "python that stops where a kernel goes outside a buffer or beyond 32 bits",
    )
    parser.add_argument(
        "--details",
        action="store_true",
        help="print all figures: recalls, kappas, times and energy with their sources, the votes "
        "of an ensemble's members, the checksum of the state (default: the main ones)",
    )
    add_companion_options(parser, simulated=True)
    add_no_label_option(parser, "with --anomaly, samples are scored, and nothing is learned")
    add_outputs(
        parser,
        json="write the result as one JSON object",
        plot="draw accuracy over time",
        html="write a report as one HTML page",
        save="save the learned model",
    )
    add_number_options(parser)
    add_model_options(parser, files=True, numbers=True)
    show_first(
        parser,
        *STREAM_OPTIONS,
        "--board",
        "--model",
        "--balance",
        "--anomaly",
        "--target",
        "--horizon",
        "--details",
        "--plot",
        "--save",
    )


def run(arguments: argparse.Namespace) -> int:
    """Learn the stream, then print and write the result."""
    check_outputs(arguments)
    if is_model_file(arguments.model):
        return run_saved(arguments)
    _check_energy(arguments)
    if check_no_label(arguments):
        return run_alone(arguments)
    board = board_files.load(arguments.board or DEFAULT_BOARD)
    made: Simulation[Any] = (
        NumberSimulation(arguments) if wants_numbers(arguments) else ClassSimulation(arguments)
    )
    model, parameters = arguments.model, made.parameters
    asked = Deployment(
        parameters, board, learner_name(model), made.on_board,
        fixed_ranges=bool(arguments.warmup), names=made.names,
    )  # fmt: skip
    budget = _budget(arguments, asked)
    if arguments.board and not budget.fits:
        raise UserError(too_large(budget, asked))
    time = made.time(board, budget.kernels) if arguments.board else None
    if arguments.save is not None:
        files.check_room("--save", arguments.save, budget.model_bytes)
    engine = arguments.engine or loader.fastest()
    if engine in loader.COMPILED:
        compile_kernels(model, parameters, engine)
    result = made.learn(engine)
    if arguments.save is not None:
        write(arguments, "save", model_files.packed(model_files.of_run(result, made.stream)))
    report = made.report_of(result)
    named = budget if arguments.board else None
    rows = result_tables.run_rows(result, report, budget, board if named else None, time)
    summary = result_tables.summary(report, named, time)
    if not is_quiet(arguments):
        console.say(f"{result.stream}: {report.size}")
        notes = result_tables.board_notes(budget) if named else []
        result_tables.print_run(report, rows, summary, notes, details=arguments.details)
        if arguments.board:
            grown = board.grown_bytes(budget.machine_code_bytes)  # not free with Wi-Fi on
            left = budget.free_bytes - budget.ram_bytes - grown
            if board.wifi and left < _MQTT_BYTES and not wants_numbers(arguments):
                _warn_of_mqtt(usual_budget(dataclasses.replace(asked, network=("mqtt",))))
    if arguments.plot is not None:
        write_figure(arguments, made.figure(result))
    if arguments.html is not None:
        from ..reports import simulation_page

        figure = made.figure(result)
        write_page(
            arguments,
            simulation_page.make_page(
                result, report, rows, summary, figure, arguments.command_line
            ),
        )
    if arguments.json is not None:
        key = arguments.board or DEFAULT_BOARD
        record = made.record(arguments)
        write_json(arguments, result_tables.run_record(result, budget, board, key, record, time))
    return 0


def _budget(arguments: argparse.Namespace, asked: Deployment) -> Budget:
    """Return the RAM of the program on the board, or of the learner alone if that is enough.

    A program has to be compiled first, by a C compiler that may have to be fetched.
    """
    if arguments.board or arguments.json is not None:
        return usual_budget(asked, exact=bool(arguments.board))
    return ram_budget.budget(
        asked.parameters, asked.board, asked.learner, code=[], companions=asked.companions,
        frozen=asked.fixed_ranges,
    )  # fmt: skip


def _warn_of_mqtt(budget: Budget) -> None:
    """Print a note if the model, which fits, does not fit together with --mqtt."""
    if not budget.fits:
        console.say(
            f"With `build --mqtt`, it takes {budget.ram_bytes:,} bytes, which does not fit: "
            "`microshrub budget --mqtt` says what to do."
        )


def _check_energy(arguments: argparse.Namespace) -> None:
    """Raise UserError for --battery and --sample-rate if no time of a sample is reported."""
    check_energy(arguments)
    for name in ("battery", "sample_rate"):
        option = name.replace("_", "-")
        if getattr(arguments, name) is not None:
            if not arguments.board:
                raise UserError(f"--{option} needs --board NAME.")
            if arguments.no_label or wants_numbers(arguments):
                raise UserError(f"--{option} is for samples with a class that the board learns.")

"""`microshrub simulate`: a learner on a stream, with its accuracy, its bytes and its time."""

from __future__ import annotations

import argparse
from typing import Any

from ..base import files
from ..base.errors import UserError
from ..base.terminal import console
from ..boards import board_files, ram_budget
from ..engines import engines
from ..library import loader
from ..library.learners import kind_of
from ..models import model_files
from ..reports import page, report
from .budget import too_large
from .companion_options import add_companion_options
from .energy_options import add_energy_options
from .no_label_option import add_no_label_option, check_no_label
from .number_options import add_number_options, wants_numbers
from .options import add_model_options
from .outputs import (
    add_outputs,
    check_outputs,
    is_quiet,
    write,
    write_figure,
    write_json,
    write_page,
)
from .simulate_anomaly import run_alone
from .simulations import ClassSimulation, NumberSimulation, Simulation
from .stream_options import (
    DEFAULT_BOARD,
    add_board_option,
    add_stream_options,
    compile_kernels,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_stream_options(parser)
    assumed = (
        f"refuse models that do not fit this board (default: refuse none, show {DEFAULT_BOARD})"
    )
    add_board_option(parser, None, assumed)
    add_energy_options(parser)
    parser.add_argument(
        "--engine",
        type=loader.present_name,
        choices=(*engines.NAMES, engines.CHECKED),
        help="what runs the learner (default: c if there is a C compiler, else llvm); checked is "
        "python that stops where a kernel leaves a buffer or 32 bits",
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
    add_model_options(parser, numbers=True)


def run(arguments: argparse.Namespace) -> int:
    """Learn the stream, then print and write what came of it."""
    check_outputs(arguments)
    _check_energy(arguments)
    if check_no_label(arguments):
        return run_alone(arguments)
    board = board_files.load(arguments.board or DEFAULT_BOARD)
    made: Simulation[Any] = (
        NumberSimulation(arguments) if wants_numbers(arguments) else ClassSimulation(arguments)
    )
    model, parameters = arguments.model, made.parameters
    budget = ram_budget.budget(parameters, board, kind_of(model), beside=made.around)
    if arguments.board and not budget.fits:
        raise UserError(too_large(budget, board, model, parameters))
    time = made.time(board) if arguments.board else None
    if arguments.save is not None:
        files.check_room("--save", arguments.save, budget.model_bytes)
    engine = arguments.engine or loader.fastest()
    if engine in loader.COMPILED:
        compile_kernels(model, parameters, engine)
    result = made.learn(engine)
    if arguments.save is not None:
        write(arguments, "save", model_files.packed(model_files.of_run(result, made.stream)))
    told = made.told(result)
    rows = report.run_rows(result, told, budget, board, time)
    if not is_quiet(arguments):
        report.print_run(result, told, rows, budget, board)
        if arguments.board:
            console.say(report.fitting(budget))
    if arguments.plot is not None:
        write_figure(arguments, made.figure(result))
    if arguments.html is not None:
        figure = made.figure(result)
        write_page(arguments, page.make_page(result, told, rows, figure, arguments.command_line))
    if arguments.json is not None:
        key = arguments.board or DEFAULT_BOARD
        record = made.record(arguments)
        write_json(arguments, report.run_record(result, budget, board, key, record, time))
    return 0


def _check_energy(arguments: argparse.Namespace) -> None:
    """Raise UserError for --battery and --sample-rate where no time of a sample is told."""
    for name in ("battery", "sample_rate"):
        option = name.replace("_", "-")
        if getattr(arguments, name) is not None:
            if not arguments.board:
                raise UserError(f"--{option} needs --board NAME.")
            if arguments.no_label or wants_numbers(arguments):
                raise UserError(f"--{option} is for samples with a class that the board learns.")

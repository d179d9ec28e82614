"""`microshrub simulate`: a learner on a stream, with its accuracy, its bytes and its time."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from ..base import files
from ..base.errors import UserError
from ..base.progress import showing
from ..base.terminal import console
from ..beside.between import between
from ..beside.companion import Beside
from ..boards import board_files, ram_budget, sample_time
from ..engines import engines
from ..evaluation import kept_aside, prequential
from ..evaluation.classes import Result
from ..library import loader
from ..library.learners import MODELS
from ..models import model_files
from ..reports import page, plots, report
from ..streams.stream import Stream
from .budget import too_large
from .companion_options import add_companion_options, beside_stream, companions
from .energy_options import add_energy_options, with_energy
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
from .simulate_numbers import run_numbers
from .stream_options import (
    DEFAULT_BOARD,
    add_board_option,
    add_stream_options,
    compile_kernels,
    open_with_parameters,
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
    if wants_numbers(arguments):
        return run_numbers(arguments)
    companions(arguments)  # before what takes long
    board = board_files.load(arguments.board or DEFAULT_BOARD)
    stream, parameters = open_with_parameters(arguments)
    beside, parameters = beside_stream(arguments, stream, parameters)
    kind = MODELS[arguments.model]
    around = [*beside, *between(stream.extraction)]
    budget = ram_budget.budget(parameters, board, kind, beside=around)
    time = None
    if arguments.board:
        found = sample_time.sample_time(board, arguments.model, parameters)
        time = sample_time.of_learner(found, around)
        time = with_energy(arguments, board, time)
    if arguments.board and not budget.fits:
        raise UserError(too_large(budget, board, arguments.model, parameters))
    if arguments.save is not None:
        files.check_room("--save", arguments.save, budget.model_bytes)
    result = _learn(arguments, stream, parameters, beside)
    if arguments.save is not None:
        write(arguments, "save", model_files.packed(model_files.of_run(result, stream)))
    if not is_quiet(arguments):
        shuffled = arguments.shuffle is not None
        report.print_run(result, budget, board, shuffled=shuffled, time=time)
        if arguments.board:
            console.say(report.fitting(budget))
    if arguments.plot is not None:
        write_figure(arguments, plots.draw_run(result))
    if arguments.html is not None:
        rows = report.run_rows(result, budget, board, time)
        said = report.verdict(result, shuffled=arguments.shuffle is not None)
        write_page(arguments, page.make_page(result, rows, said, arguments.command_line))
    if arguments.json is not None:
        key = arguments.board or DEFAULT_BOARD
        options = report.stream_record(vars(arguments), stream)
        record = report.run_record(result, budget, board, key, options, time)
        write_json(arguments, record)
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


def _learn(
    arguments: argparse.Namespace,
    stream: Stream,
    parameters: dict[str, Any],
    beside: Beside,
) -> Result:
    engine = arguments.engine or loader.fastest()
    if engine in loader.COMPILED:
        compile_kernels(arguments.model, parameters, engine)
    with showing(f"{engine}: learning") as update:
        result = prequential.evaluate(
            stream,
            arguments.model,
            parameters,
            engine=engine,
            warmup=arguments.warmup,
            progress=lambda done, total, acc: update(done, total, f"accuracy {acc:.2f} %"),
            beside=beside,
        )
    with showing("without labels"):
        alone = kept_aside.measure(
            stream, arguments.model, parameters, warmup=arguments.warmup, beside=beside
        )
    return dataclasses.replace(result, alone=alone)

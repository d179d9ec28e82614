"""`microshrub simulate`: a learner on a stream, with its accuracy, its bytes and its time."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..base import files
from ..base.errors import UserError
from ..base.progress import showing
from ..base.terminal import console, messages
from ..boards import board_files, ram_budget, sample_time
from ..engines import engines
from ..engines.learners import MODELS
from ..evaluation import prequential
from ..models import model_files
from ..render.page import check_html_target
from ..reports import page, plots, report
from ..streams.stream import Stream
from .commands import (
    DEFAULT_BOARD,
    add_board_option,
    add_parser,
    add_stream_options,
    compile_kernels,
    open_with_parameters,
    too_large,
    write_json,
)
from .options import add_model_options


def add_command(commands: Any) -> None:
    """Add the subcommand to argparse's subparsers."""
    parser = add_parser(commands, "simulate", "Learn a stream as the board would.", _simulate)
    add_stream_options(parser)
    add_model_options(parser)
    assumed = f"refuse what does not fit there (default: refuse nothing, assume {DEFAULT_BOARD})"
    add_board_option(parser, None, assumed)
    parser.add_argument(
        "--engine", choices=engines.NAMES, default="numba", help="what runs it (default numba)"
    )
    parser.add_argument(
        "--json", metavar="FILE|-", help="write the result as one JSON object (default: do not)"
    )
    parser.add_argument(
        "--plot", metavar="FILE.png", type=Path, help="draw accuracy over time (default: do not)"
    )
    parser.add_argument(
        "--html", metavar="FILE", type=Path, help="write all of it as one page (default: do not)"
    )
    parser.add_argument(
        "--save", metavar="FILE.mshrub", type=Path, help="keep the model (default: do not)"
    )


def _simulate(arguments: argparse.Namespace) -> int:
    if arguments.plot is not None:
        plots.check_plot_file(arguments.plot)
    if arguments.json is not None:
        report.check_json_target(arguments.json)
    if arguments.html is not None:
        check_html_target(arguments.html)
    if arguments.save is not None:
        files.check_target("--save", arguments.save)
    board = board_files.load(arguments.board or DEFAULT_BOARD)
    stream, parameters = open_with_parameters(arguments)
    budget = ram_budget.budget(parameters, board, MODELS[arguments.model])
    time = sample_time.sample_time(board, arguments.model, parameters) if arguments.board else None
    if arguments.board and not budget.fits:
        raise UserError(too_large(budget, board, arguments.model, parameters))
    if arguments.save is not None:
        files.check_room("--save", arguments.save, budget.model_bytes)
    result = _learn(arguments, stream, parameters)
    if arguments.save is not None:
        model_files.write(arguments.save, model_files.of_run(result, stream))
        messages.say(f"written to {arguments.save}")
    if arguments.json != "-":
        shuffled = arguments.shuffle is not None
        report.print_run(result, budget, board, shuffled=shuffled, time=time)
        if arguments.board:
            console.say(report.fitting(budget))
    if arguments.plot is not None:
        plots.plot_run(result, arguments.plot)
        messages.say(f"written to {arguments.plot}")
    if arguments.html is not None:
        rows = report.run_rows(result, budget, board, time)
        said = report.verdict(result, shuffled=arguments.shuffle is not None)
        made = page.make_page(result, rows, said, arguments.command_line)
        made.write(arguments.html)
        messages.say(f"written to {arguments.html}")
    if arguments.json is not None:
        key = arguments.board or DEFAULT_BOARD
        options = report.stream_record(vars(arguments), stream)
        record = report.run_record(result, budget, board, key, options, time)
        write_json(record, arguments.json)
    return 0


def _learn(
    arguments: argparse.Namespace, stream: Stream, parameters: dict[str, Any]
) -> prequential.Result:
    if arguments.engine == "numba":
        compile_kernels(arguments.model, parameters)
    with showing(f"{arguments.engine}: learning") as update:
        return prequential.simulate(
            stream,
            arguments.model,
            parameters,
            engine=arguments.engine,
            warmup=arguments.warmup,
            progress=lambda done, total, acc: update(done, total, f"accuracy {acc:.2f} %"),
        )

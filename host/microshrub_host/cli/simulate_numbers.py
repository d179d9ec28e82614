"""`microshrub simulate --target`: a learner of numbers on a stream, with its errors."""

from __future__ import annotations

import argparse

from ..base import files
from ..base.errors import UserError
from ..base.progress import showing
from ..beside.between import between
from ..boards import board_files, ram_budget
from ..evaluation import regression
from ..library import loader
from ..library.learners import WARMUP, kind_of
from ..models import model_files
from ..reports.number_plots import draw_numbers
from ..reports.number_report import number_record, print_numbers
from .budget import too_large
from .number_options import open_numbers_arguments
from .outputs import is_quiet, write, write_figure, write_json
from .stream_options import DEFAULT_BOARD, compile_kernels


def run_numbers(arguments: argparse.Namespace) -> int:
    """Learn the stream, then print and write what came of it."""
    key = arguments.board or DEFAULT_BOARD
    board = board_files.load(key)
    stream, parameters, target = open_numbers_arguments(arguments)
    model = arguments.model
    beside = between(stream.extraction, target)
    budget = ram_budget.budget(parameters, board, kind_of(model), beside=beside)
    if arguments.save is not None:
        files.check_room("--save", arguments.save, budget.model_bytes)
    if arguments.board and not budget.fits:
        raise UserError(too_large(budget, board, model, parameters))
    engine = arguments.engine or loader.fastest()
    if engine in loader.COMPILED:
        compile_kernels(model, parameters, engine)
    with showing(f"{engine}: learning") as update:
        result = regression.evaluate_numbers(
            stream,
            model,
            parameters,
            engine=engine,
            warmup=arguments.warmup or WARMUP,
            ends=target["ends"],
            interval=target["interval"],
            progress=lambda done, total, mae: update(done, total, f"MAE {mae:.5g}"),
        )
    if arguments.save is not None:
        write(arguments, "save", model_files.packed(model_files.of_number_run(result, stream)))
    if not is_quiet(arguments):
        print_numbers(result, budget, board)
    if arguments.plot is not None:
        write_figure(arguments, draw_numbers(result, stream))
    if arguments.json is not None:
        options = {name: getattr(arguments, name) for name in ("limit", "warmup", "lags")}
        if stream.extraction:
            options["extraction"] = stream.extraction.saved()
        options |= {"feature_names": list(stream.feature_names), "board": key}
        write_json(arguments, number_record(result, budget, board, options))
    return 0

"""`microshrub budget`: what a model takes of a board's RAM."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from ..base.errors import UserError
from ..base.terminal import console, messages
from ..boards import board_files, ram_budget, sample_time
from ..boards.beside_learner import modules_between
from ..boards.what_to_lower import which_to_lower
from ..engines import native_files
from ..engines.learners import REGRESSORS, check_parameters, kind_of, number_parameters
from ..engines.spare_options import with_spare
from ..reports import report
from ..streams.number_streams import MOST_AHEAD
from .anomaly_option import add_anomaly_option, anomaly_options
from .asking_option import add_asking_option, asking_options
from .energy_options import add_energy_options, with_energy
from .number_options import add_ahead_options, checked_interval
from .options import add_model_options, model_parameters
from .outputs import add_outputs, check_outputs, is_quiet, write_json
from .parsed import whole_number
from .spare_option import add_spare_option, spare_options
from .stream_options import DEFAULT_BOARD, add_board_option


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--features",
        type=whole_number,
        metavar="D",
        required=True,
        help="features of a sample (required)",
    )
    parser.add_argument(
        "--classes",
        type=whole_number,
        metavar="C",
        help="number of classes (required, but for a learner of numbers)",
    )
    add_board_option(parser, DEFAULT_BOARD, f"the board (default {DEFAULT_BOARD})")
    parser.add_argument(
        "--native",
        action="store_true",
        help="with the code that `build --native` makes (default: off)",
    )
    add_energy_options(parser)
    add_anomaly_option(parser)
    add_spare_option(parser)
    add_asking_option(parser)
    add_outputs(parser, json="write the budget as one JSON object")
    add_ahead_options(parser.add_argument_group("options of learners of numbers"))
    add_model_options(parser, numbers=True)


def run(arguments: argparse.Namespace) -> int:
    """Print the budget; 1 if the model does not fit."""
    check_outputs(arguments)
    board = board_files.load(arguments.board)
    shape = _shape(arguments)
    parameters = shape | model_parameters(arguments)
    check_parameters(arguments.model, parameters, also=shape)
    kind = kind_of(arguments.model)
    native = arguments.native and native_files.can_be_made(board.arch, messages.say)
    anomaly = anomaly_options(arguments)
    options = spare_options(arguments)
    spare = options.of_shape(_known(arguments)) if options else None
    asking = asking_options(arguments)
    parameters = with_spare(parameters, spare)
    beside = {"anomaly": bool(anomaly), "spare": bool(spare), "asking": bool(asking)}
    forecaster = _forecaster(arguments)
    between = modules_between(forecaster, None)
    code = ram_budget.code_parts(board, kind, parameters, native, **beside, more=between)
    budget = ram_budget.budget(
        parameters,
        board,
        kind,
        code,
        anomaly=anomaly,
        spare=spare,
        asking=asking,
        forecaster=forecaster,
    )
    time = sample_time.of_learner(
        sample_time.sample_time(board, arguments.model, parameters), **beside
    )
    time = with_energy(arguments, board, time)
    advice = "" if budget.fits else too_large(budget, board, arguments.model, parameters)
    if not is_quiet(arguments):
        report.print_budget(budget, board, time)
        console.say(report.fitting(budget) if budget.fits else "It does not fit. " + advice)
    if arguments.json is not None:
        record = report.budget_record(budget, board, arguments.board, time)
        record |= {"advice": advice}
        write_json(arguments, record)
    return 0 if budget.fits else 1


def _shape(arguments: argparse.Namespace) -> dict[str, int]:
    """The features of a sample and, for a learner of classes, how many there are."""
    numbers = arguments.model in REGRESSORS
    if numbers and arguments.classes is not None:
        raise UserError(f"--classes is for classes, and {arguments.model} predicts numbers.")
    if not numbers and arguments.classes is None:
        raise UserError(f"--model {arguments.model} needs --classes C.")
    shape = {"features": arguments.features}
    if not numbers:
        return shape | {"classes": arguments.classes}
    return number_parameters(arguments.model, arguments.features, max(_horizon(arguments) - 1, 0))


def _horizon(arguments: argparse.Namespace) -> int:
    horizon = 0 if arguments.horizon is None else int(arguments.horizon)
    if not 0 <= horizon <= MOST_AHEAD:
        raise UserError(f"--horizon has to be 1 to {MOST_AHEAD:,}, not {horizon:,}")
    return horizon


def _forecaster(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """The parameters of what stands around a learner of numbers; None for one of classes."""
    if arguments.model not in REGRESSORS:
        for name in ("horizon", "lags", "interval"):
            if vars(arguments)[name] is not None:
                raise UserError(
                    f"--{name} is for numbers, and {arguments.model} predicts classes."
                )
        return None
    horizon = _horizon(arguments)
    if arguments.lags is not None and not horizon:
        raise UserError("--lags needs --horizon N.")
    lags = (1 if arguments.lags is None else arguments.lags) if horizon else 0
    if horizon and not 1 <= lags <= arguments.features:
        raise UserError(
            f"--lags has to be 1 to {arguments.features:,}, as many as there are features, "
            f"not {lags:,}"
        )
    return {
        "columns": arguments.features + 1 - lags,
        "column": 0,
        "horizon": horizon,
        "lags": lags,
        "interval": checked_interval(arguments.interval),
    }


def _known(arguments: argparse.Namespace) -> int:
    """How many classes have a name from the start."""
    if arguments.classes is None:
        raise UserError(f"--spare-classes is for classes, and {arguments.model} predicts numbers.")
    classes: int = arguments.classes
    return classes


def too_large(
    budget: ram_budget.Budget, board: board_files.Board, model: str, parameters: dict[str, Any]
) -> str:
    """What to say of a model that does not fit, and what to lower."""
    said = report.shortage("The model", budget)
    waits = sum(part.bytes for part in budget.overhead if part.owner == "forecaster")
    if 2 * waits > budget.ram_bytes:
        return (
            f"{said} The samples that wait for their target, and the lags, take {waits:,} of "
            "them: lower --horizon or --lags."
        )
    alone = ram_budget.budget(parameters, board, kind_of(model))
    beside = max(0, budget.ram_bytes - alone.ram_bytes)
    rest = dataclasses.replace(board, heap_free_bytes=board.heap_free_bytes - beside)
    return f"{said} {which_to_lower(parameters, rest, kind_of(model))}"

"""`microshrub budget`: the RAM of a model on a board."""

from __future__ import annotations

import argparse
import contextlib
from typing import Any

from ..base.errors import UserError
from ..base.terminal import console
from ..boards import board_files, ram_budget, sample_time
from ..boards.default_bytes import NoRoom
from ..boards.deployment import Deployment
from ..boards.emits import NATIVE, chosen
from ..boards.fit_advice import options_to_lower
from ..boards.program import DATAGRAMS, check_espnow, check_wifi, usual_program
from ..boards.usual_budget import usual_budget
from ..library.learners import REGRESSORS, check_parameters, learner_name, number_parameters
from ..reports import result_tables
from ..simulation.companion import Companions, with_companions
from ..simulation.pipeline import pipeline
from ..streams.regression_streams import MOST_AHEAD
from .energy_options import add_energy_options, check_energy, with_energy
from .options import add_companion_options, add_model_options, companions_of, model_parameters
from .outputs import add_outputs, check_outputs, is_quiet, write_json
from .parsed import whole_number
from .plain_parser import show_first
from .regression_options import add_ahead_options, checked_interval
from .stream_options import DEFAULT_BOARD, add_board_option, add_emit_option, with_board_bytes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--features",
        type=whole_number,
        metavar="D",
        required=True,
        help="how many features a sample has (required)",
    )
    parser.add_argument(
        "--classes",
        type=whole_number,
        metavar="C",
        help="how many classes there are (required, but for a regressor)",
    )
    add_board_option(parser, DEFAULT_BOARD, f"the board (default {DEFAULT_BOARD})")
    add_emit_option(parser)
    for name, what in (
        ("mqtt", "that reports to an MQTT broker"),
        ("tcp", "whose link runs over TCP"),
        ("share", "that shares samples with other boards, by MQTT"),
        ("udp", "that shares them by UDP instead"),
        ("espnow", "that shares them by ESP-NOW instead"),
    ):
        parser.add_argument(
            f"--{name}",
            action="append_const",
            dest="network",
            const=name,
            help=f"with the part of a program {what} (default: off)",
        )
    parser.add_argument(
        "--own-program",
        action="store_true",
        help="the model in a program of your own, which imports the library's modules one by one "
        "(default: in the program that `build` makes)",
    )
    parser.add_argument(
        "--buffers",
        action="store_true",
        help="list every buffer (default: buffers of one thing in one line)",
    )
    add_energy_options(parser)
    add_companion_options(parser)
    add_outputs(parser, json="write the budget as one JSON object")
    add_ahead_options(parser.add_argument_group("options of regression"))
    add_model_options(parser, numbers=True)
    show_first(
        parser,
        "--board",
        "--model",
        "--features",
        "--classes",
        "--mqtt",
        "--buffers",
        "--json",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the budget; return 1 if the model does not fit."""
    check_outputs(arguments)
    check_energy(arguments)
    board = board_files.load(arguments.board)
    _check_program(arguments, board)
    shape = _shape(arguments)
    parameters = shape | model_parameters(arguments)
    check_parameters(arguments.model, parameters, also=shape)
    if arguments.classes is not None:
        with contextlib.suppress(NoRoom):  # the budget shows the shortage
            parameters = with_board_bytes(parameters, arguments)
    emit = chosen(board, arguments.emit)
    companions = _companions(arguments)
    parameters = with_companions(parameters, companions)
    asked = Deployment(
        parameters, board, learner_name(arguments.model), companions, arguments.network or (), emit
    )
    if arguments.own_program:
        native = emit == NATIVE
        budget = ram_budget.budget(
            parameters, board, asked.learner, companions=companions, native=native
        )
    else:
        budget = usual_budget(asked)
    time = sample_time.sample_time(board, arguments.model, parameters, emit)
    time = sample_time.of_learner(time and time.with_kernels(budget.kernels), board, companions)
    time = with_energy(arguments, board, time)
    advice = ""
    if not budget.fits:
        advice = too_large(budget, asked, own_program=arguments.own_program)
    if not is_quiet(arguments):
        from ..reports.budget_table import print_budget  # simulate imports this file

        print_budget(budget, board, time, every=arguments.buffers)
        console.say(result_tables.fitting(budget) if budget.fits else "It does not fit. " + advice)
    if arguments.json is not None:
        record = result_tables.budget_record(budget, board, arguments.board, time)
        record |= {"advice": advice}
        write_json(arguments, record)
    return 0 if budget.fits else 1


def _check_program(arguments: argparse.Namespace, board: board_files.Board) -> None:
    """Raise UserError for an impossible program."""
    wanted = arguments.network or ()
    by = [name for name in DATAGRAMS if name in wanted]
    if len(by) > 1 or (by and "share" not in wanted):
        raise UserError(f"--{by[-1]} is for --share, and only one carrier of it")
    for name in wanted:
        check_wifi(board, f"--{name}")
        if name == "espnow":
            check_espnow(board)
        if arguments.own_program:
            raise UserError(f"--{name} is a part of build's program: leave --own-program out")
    if "share" in wanted and "mqtt" not in wanted and not by:
        raise UserError("--share needs --mqtt, whose broker keeps the packets, --udp or --espnow")


def _shape(arguments: argparse.Namespace) -> dict[str, int]:
    """Return the number of features and, for a classifier, of classes."""
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
    """Return the parameters of a regressor's Forecaster; None for a classifier."""
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


def _companions(arguments: argparse.Namespace) -> Companions:
    """Return the requested companions, and a regressor's forecast."""
    wanted = companions_of(arguments)
    if arguments.classes is None and wanted:
        flag = wanted[0].options[0].flag
        raise UserError(f"{flag} is for classes, and {arguments.model} predicts numbers.")
    return [each.on_shape(arguments.classes) for each in wanted] + [
        *pipeline(None, _forecaster(arguments))
    ]


def too_large(budget: ram_budget.Budget, asked: Deployment, *, own_program: bool = False) -> str:
    """Return the message for a model that does not fit, with options to lower."""
    message = result_tables.shortage("The model", budget)
    waits = sum(part.bytes for part in budget.overhead if part.owner == "forecaster")
    if 2 * waits > budget.ram_bytes:
        return (
            f"{message} The samples that wait for their target, and the lags, take {waits:,} of "
            "them: lower --horizon or --lags."
        )
    frozen = ""
    if not own_program:
        from ..boards.program_budget import frozen_advice

        frozen = frozen_advice(usual_program(asked), asked.board)
    return f"{message} {options_to_lower(asked, budget, frozen)}"

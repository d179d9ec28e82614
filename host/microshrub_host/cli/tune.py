"""`microshrub tune`: the models that are worth their bytes for a stream and a board."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..api.planning import tune
from ..base import cluster
from ..base.errors import UserError
from ..base.files import check_target
from ..base.terminal import messages, showing
from ..base.text import count
from ..boards import board_files
from ..evaluation.search_space import weighed
from ..evaluation.study import RULE
from ..evaluation.trials import AHEAD
from ..library.learners import option
from ..reports.tuning_report import TuningReport
from ..simulation.label_budget import LabelBudget
from ..simulation.spare_classes import SpareClasses
from ..streams.regression_streams import NumberStream
from ..streams.source_file import STANDARD_INPUT
from ..streams.stream import Stream, source_names
from .features_option import feature_options
from .options import add_companion_options, companions_of
from .outputs import (
    add_outputs,
    check_outputs,
    is_quiet,
    write_figure,
    write_json,
    write_page,
)
from .parsed import parsed, whole_number
from .plain_parser import show_first
from .regression_options import (
    add_number_options,
    open_number_stream,
    open_readings,
    target_range,
    wants_numbers,
)
from .run_options import add_worker_options, jobs_of
from .stream_options import (
    STREAM_OPTIONS,
    add_board_option,
    add_emit_option,
    add_stream_options,
    made_of,
    open_arguments,
    open_rows,
)

_COMPANIONS = (SpareClasses.name, LabelBudget.name)  # options of a search for every model
_TRIALS = 60
_CHOOSE_ON = 0.5


class _RefuseModel(argparse.Action):
    """An option that only names the alternatives."""

    def __call__(self, *_: object) -> None:
        raise UserError(
            "tune has no --model: it searches among fresh models of all kinds. `microshrub "
            "simulate DATA --model FILE` shows a saved one on DATA, beside a fresh one of its "
            "kind; `microshrub compare DATA --model FILE` beside all other learners."
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Search for models that are accurate and small. Models are chosen by their accuracy on "
        "unseen data, whole stretches that a model has not learned, as `simulate` prints it; with "
        "--target by their mean absolute error on the first part of the stream. The score on the "
        f"rest is only shown. The choice is {RULE}; what fewer bytes would cost is shown. With "
        "--features, sets of features are compared as models are. "
        "With --label-budget or --spare-classes, every trial learns as `simulate` does with them. "
        "Run the same command again to continue with the trials that are missing."
    )
    add_stream_options(parser)
    parser.add_argument("--model", nargs="?", action=_RefuseModel, help=argparse.SUPPRESS)
    add_companion_options(parser, simulated=True, only=_COMPANIONS)
    add_number_options(parser, interval=False)
    add_board_option(parser, None, "the board (required)", required=True)
    parser.add_argument(
        "--bytes",
        type=whole_number,
        metavar="BYTES",
        help="the most that a model may take (default, and at most: what the board's file "
        "recommends)",
    )
    parser.add_argument(
        "--max-latency",
        type=parsed(float),
        metavar="MS",
        help="skip models whose predict and learn together take longer (p99); if the board's file "
        "has no times, instructions are counted on an emulated Cortex-M; for boards with other "
        "processors, only the times in the file count (default: no limit)",
    )
    add_emit_option(parser)
    parser.add_argument(
        "--choose-on",
        type=parsed(float),
        default=_CHOOSE_ON,
        metavar="PART",
        help="share of the unseen data, in whole stretches, on which models are chosen; with "
        f"--target, of the stream from its start (default {_CHOOSE_ON})",
    )
    parser.add_argument(
        "--trials",
        type=whole_number,
        default=_TRIALS,
        metavar="N",
        help=f"how many models to try, in this run and earlier ones (default {_TRIALS})",
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        default=0,
        metavar="N",
        help=f"seed of the search (default 0); with more than {AHEAD} workers, or a cluster, it "
        "also depends on which trials finish first",
    )
    add_worker_options(
        parser,
        "worker processes on this machine",
        "the Dask cluster that runs the trials, tcp://HOST:8786; its workers need microshrub, "
        "not DATA",
    )
    parser.add_argument(
        "--study",
        metavar="FILE",
        type=Path,
        help="the file that keeps the trials (default: named after DATA and the board)",
    )
    add_outputs(
        parser,
        plot="draw accuracy, or the error, against bytes",
        html="write a report as one HTML page",
        json="write everything as one JSON object",
    )
    show_first(
        parser,
        *STREAM_OPTIONS,
        "--board",
        "--trials",
        "--choose-on",
        "--study",
        "--jobs",
        "--plot",
        "--target",
        "--horizon",
    )


def run(arguments: argparse.Namespace) -> int:
    """Search, then print and write the results."""
    _check(arguments)
    board = board_files.load(arguments.board)
    key = f"{board.key}-{arguments.emit}" if arguments.emit else board.key
    study = arguments.study or Path(_study_name(source_names(arguments.data)[0], key))
    jobs = jobs_of(arguments, arguments.trials, "trials")
    numbers = wants_numbers(arguments)
    stream = open_targets(arguments) if numbers else open_classes(arguments)
    with showing("trials") as update:

        def progress(done: int, total: int, note: str) -> None:
            if done and not note:
                messages.say(f"{study} has {count(done, 'finished trial')}")
            update(done, total, note)

        result = tune(
            stream,
            arguments.board,
            max_bytes=arguments.bytes,
            max_latency=arguments.max_latency,
            choose_on=arguments.choose_on,
            trials=arguments.trials,
            seed=arguments.seed,
            jobs=jobs,
            scheduler=arguments.scheduler,
            warmup=arguments.warmup,
            ends=target_range(arguments) if numbers else None,
            companions=companions_of(arguments),
            emit=arguments.emit,
            study=study,
            progress=progress,
        )
    simulated, built = _of_labels(arguments)
    shown = dataclasses.replace(
        result,
        sources=source_names(arguments.data),
        reading=_reading(arguments, sets=isinstance(stream, dict)),
        only_simulate=simulated,
        only_build=[*built, *(["--emit", arguments.emit] if arguments.emit else [])],
    )
    _tell(shown, arguments)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    for name in ("bytes", "trials", "max_latency"):
        value = getattr(arguments, name)
        if value is not None and not value > 0:
            raise UserError(f"--{name.replace('_', '-')} has to be above 0, not {value}")
    if not 0 < arguments.choose_on < 1:
        raise UserError(f"--choose-on has to be between 0 and 1, not {arguments.choose_on:g}")
    if not 0 <= arguments.seed < 1 << 31:
        raise UserError(f"--seed has to be 0..{(1 << 31) - 1}, not {arguments.seed}")
    check_outputs(arguments)
    if arguments.study is not None:
        check_target("--study", arguments.study)
    cluster.check_packages("tune")


def _study_name(source: str, board: str) -> str:
    name = "standard-input" if source == STANDARD_INPUT else source
    name = name.rpartition("/")[2].replace(":", "-")
    for suffix in (".gz", ".csv", ".arff"):
        name = name.removesuffix(suffix)
    return f"{name}-{board}.tune"


def _reading(arguments: argparse.Namespace, *, sets: bool) -> list[str]:
    """Return the given options of add_stream_options, and --board, as words.

    If sets of features were compared, --features comes with the model.
    """
    given: list[str] = []
    for name, usual in (
        ("label", None), ("label_from", None), ("classes", None), ("group", None),
        ("decimal", None), ("limit", None), ("warmup", None), ("shuffle", None),
        ("target", None), ("horizon", None), ("lags", None), ("target_range", None),
    ):  # fmt: skip
        value = getattr(arguments, name)
        if value != usual:
            given += [option(name), str(value)]
    given += ["--no-header"] if arguments.no_header else []
    for name in ("columns", "drop"):
        given += [option(name), *vars(arguments)[name]] if vars(arguments)[name] else []
    given += ["--wide", *arguments.wide] if arguments.wide is not None else []
    if arguments.features is not None and not sets:
        given += ["--features", *arguments.features]
    return [*given, "--board", arguments.board]


def _of_labels(arguments: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return the options about labels for `simulate`, and for `build`, which simulates none."""
    given = []
    if arguments.label_budget is not None:
        given += ["--label-budget", arguments.label_budget]
    late = []
    for name in ("label_delay", "unanswered"):
        if vars(arguments)[name] is not None:
            late += [option(name), str(vars(arguments)[name])]
    spare = arguments.spare_classes or []
    simulated = ["--spare-classes", *spare] if spare else []
    built = [word for word in simulated if not word.startswith("new=")]
    return [*given, *late, *simulated], [*given, *built]


def _tell(result: TuningReport, arguments: argparse.Namespace) -> None:
    if not is_quiet(arguments):
        result.print()
    if arguments.plot is not None:
        write_figure(arguments, result.draw())
    if arguments.html is not None:
        write_page(arguments, result.page(arguments.command_line))
    if arguments.json is not None:
        write_json(arguments, result.record())


S = TypeVar("S")


def open_classes(arguments: argparse.Namespace) -> Stream | dict[str, Stream]:
    """Return the stream, or several streams by the words of --features, if these are incomplete.

    Raises UserError for invalid options.
    """
    if arguments.features is None:
        return open_arguments(arguments)
    rows = open_rows(arguments)
    shape = rows.feature_names, len(rows.class_names), rows.rate, rows.readings
    sets = weighed(arguments.features, feature_options(arguments, *shape))
    return _each(arguments, sets, lambda given: made_of(given, rows))


def open_targets(arguments: argparse.Namespace) -> NumberStream | dict[str, NumberStream]:
    """Return the regression stream or streams; sets without the target are left out.

    Raises UserError for invalid options.
    """
    if arguments.features is None:
        return open_number_stream(arguments)
    readings = open_readings(arguments)
    options = feature_options(arguments, readings.column_names)
    sets = weighed(arguments.features, options)
    return _each(arguments, sets, lambda given: open_number_stream(given, readings))


def _each(
    arguments: argparse.Namespace, sets: Sequence[str], made: Callable[[argparse.Namespace], S]
) -> S | dict[str, S]:
    if len(sets) == 1:
        return made(arguments)
    result: dict[str, S] = {}
    errors = []
    for words in sets:
        try:
            result[words] = made(
                argparse.Namespace(**vars(arguments) | {"features": words.split()})
            )
        except UserError as error:
            errors.append(error)
    if not result:
        raise errors[0]
    messages.say(f"Note: {count(len(result), 'set')} of features are compared as models are.")
    return result

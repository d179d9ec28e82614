"""`microshrub tune`: the models that are worth their bytes on a stream and a board."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import Any

from ..base import cluster
from ..base.errors import UserError
from ..base.files import check_target
from ..base.progress import showing
from ..base.terminal import messages
from ..base.text import count
from ..boards import board_files
from ..emulation.latency import Clock, can_count
from ..render.page import check_html_target
from ..reports import plots, report
from ..streams.stream import Stream
from ..tune.report import Report
from ..tune.study import RULE, Search
from ..tune.trials import Limits, Split, baselines
from .commands import add_board_option, add_stream_options, open_arguments, write_json
from .options import whole_number

_TRIALS = 60
_CHOOSE_ON = 0.5


def add_command(commands: Any) -> None:
    """Add the subcommand to argparse's subparsers."""
    text = (
        "Search for models of both kinds that are accurate and small. Every trial learns the "
        "whole stream once; the accuracy on its first part chooses, that on the rest, which no "
        f"choice looks at, is shown beside it. Taken is {RULE}. The same command again goes on "
        "with the trials that are missing."
    )
    parser = commands.add_parser(
        "tune", help="Search for models that are accurate and small.", description=text
    )
    add_stream_options(parser)
    add_board_option(parser, None, "the board (required)", required=True)
    parser.add_argument(
        "--budget",
        type=whole_number,
        metavar="BYTES",
        help="the most that a model may take (default, and at most: what the board's file "
        "recommends)",
    )
    parser.add_argument(
        "--max-latency",
        type=float,
        metavar="MS",
        help="leave out models of which a predict and a learn take longer, p99; what the board's "
        "file does not know is counted on an emulated Cortex-M, and of other boards only the file "
        "counts (default: none)",
    )
    parser.add_argument(
        "--choose-on",
        type=float,
        default=_CHOOSE_ON,
        metavar="PART",
        help=f"the first part of the stream, which chooses (default {_CHOOSE_ON})",
    )
    parser.add_argument(
        "--trials",
        type=whole_number,
        default=_TRIALS,
        metavar="N",
        help=f"finished trials of the study, those of earlier runs included (default {_TRIALS})",
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        default=0,
        metavar="N",
        help="of the search (default 0); with several workers the order of the trials, and with "
        "it the search, is chance",
    )
    parser.add_argument(
        "--jobs",
        type=whole_number,
        default=1,
        metavar="N",
        help="worker processes on this machine (default 1)",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="of a Dask cluster that runs the trials, tcp://HOST:8786; its workers need "
        "microshrub, not DATA (default: this machine)",
    )
    parser.add_argument(
        "--study",
        metavar="FILE",
        type=Path,
        help="the file of the trials (default: named after DATA and the board)",
    )
    parser.add_argument(
        "--plot", metavar="FILE.png", type=Path, help="draw bytes and accuracy (default: do not)"
    )
    parser.add_argument(
        "--html", metavar="FILE", type=Path, help="write a report as a page (default: do not)"
    )
    parser.add_argument(
        "--json", metavar="FILE|-", help="write everything as one JSON object (default: do not)"
    )
    parser.set_defaults(run=_tune)


def _tune(arguments: argparse.Namespace) -> int:
    _check(arguments)
    board = board_files.load(arguments.board)
    budget = min(arguments.budget or board.model_budget_bytes, board.model_budget_bytes)
    stream = open_arguments(arguments)
    split = Split(stream, arguments.warmup, _first(stream, arguments.choose_on))
    with contextlib.ExitStack() as stack:
        clock = None
        if arguments.max_latency is not None and can_count(board):
            clock = stack.enter_context(Clock(board, stream, arguments.warmup))
        limits = Limits(board, budget, arguments.max_latency, clock)
        _search(arguments, split, limits)
    return 0


def _search(arguments: argparse.Namespace, split: Split, limits: Limits) -> None:
    path = arguments.study or Path(_study_name(arguments.data, limits.board.key))
    with Search(path, split, limits, arguments.seed) as search:
        _run(search, path, arguments)
        found = search.found()
    if not found:
        raise UserError(f"{path}: no finished trial keeps to these limits; raise --trials")
    reading = _reading(arguments)
    result = Report(
        split, limits, found, baselines(split), arguments.data, reading, arguments.seed
    )
    _tell(result, arguments)


def _run(search: Search, path: Path, arguments: argparse.Namespace) -> None:
    before = search.finished()
    if before:
        messages.say(f"{path} has {count(before, 'finished trial')}")
    if before < arguments.trials:
        with showing("trials") as update:
            update(before, arguments.trials, "")
            search.run(
                arguments.trials,
                jobs=arguments.jobs,
                scheduler=arguments.scheduler,
                progress=update,
            )


def _check(arguments: argparse.Namespace) -> None:
    for name in ("budget", "trials", "jobs", "max_latency"):
        value = getattr(arguments, name)
        if value is not None and not value > 0:
            raise UserError(f"--{name.replace('_', '-')} has to be above 0, not {value}")
    if not 0 < arguments.choose_on < 1:
        raise UserError(f"--choose-on has to be between 0 and 1, not {arguments.choose_on:g}")
    if not 0 <= arguments.seed < 1 << 31:
        raise UserError(f"--seed has to be 0..{(1 << 31) - 1}, not {arguments.seed}")
    if arguments.plot is not None:
        plots.check_plot_file(arguments.plot)
    if arguments.html is not None:
        check_html_target(arguments.html)
    if arguments.json is not None:
        report.check_json_target(arguments.json)
    if arguments.study is not None:
        check_target("--study", arguments.study)
    cluster.check_packages()


def _first(stream: Stream, part: float) -> int:
    total = len(stream.labels)
    first = round(part * total)
    if not 0 < first < total:
        raise UserError(
            f"{count(total, 'sample')}: too few to choose on {part:g} of them and to show the rest"
        )
    return first


def _study_name(source: str, board: str) -> str:
    name = source.rpartition("/")[2].replace(":", "-")
    for suffix in (".gz", ".csv", ".arff"):
        name = name.removesuffix(suffix)
    return f"{name}-{board}.tune"


def _reading(arguments: argparse.Namespace) -> list[str]:
    """The options of add_stream_options that were given, and --board, as words."""
    given: list[str] = []
    for name, usual in (
        ("label", None), ("classes", None), ("limit", None), ("warmup", 256), ("shuffle", None),
    ):  # fmt: skip
        value = getattr(arguments, name)
        if value != usual:
            given += [f"--{name}", str(value)]
    given += ["--no-header"] if arguments.no_header else []
    return [*given, "--board", arguments.board]


def _tell(result: Report, arguments: argparse.Namespace) -> None:
    if arguments.json != "-":
        result.print()
    if arguments.plot is not None:
        result.draw().savefig(arguments.plot, dpi=110)
        messages.say(f"written to {arguments.plot}")
    if arguments.html is not None:
        result.write_page(arguments.html, arguments.command_line)
        messages.say(f"written to {arguments.html}")
    if arguments.json is not None:
        write_json(result.record(), arguments.json)

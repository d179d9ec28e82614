"""`microshrub budget` and `parity`, and what the subcommands share."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Mapping
from typing import Any

from ..base.errors import UserError
from ..base.progress import showing
from ..base.terminal import console, messages
from ..base.text import count
from ..boards import board_files, ram_budget, sample_time
from ..engines import engines
from ..engines.learners import MODELS, check_parameters, stream_parameters
from ..engines.micropython_binary import find_or_fetch
from ..evaluation import parity, prequential
from ..reports import report
from ..streams.open_stream import open_stream
from ..streams.stream import Stream
from .options import Parser, add_model_options, model_parameters, whole_number

DEFAULT_BOARD = "rpi_pico"
Command = Callable[[argparse.Namespace], int]


def add_commands(commands: Any) -> None:
    """Add the subcommands to argparse's subparsers; each sets `run` to what it does."""
    _add_budget(commands)
    _add_parity(commands)


def add_parser(commands: Any, name: str, text: str, run: Command) -> Parser:
    """Add a subcommand that does that."""
    parser: Parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    return parser


def add_stream_options(parser: Parser, *, nargs: str | None = None) -> None:
    """Add DATA and the options that say how to read it."""
    parser.add_late_help(parser.add_argument("data", metavar="DATA", nargs=nargs), _data_help)
    parser.add_argument(
        "--label", metavar="COLUMN", help="the column of the class (default: the last)"
    )
    parser.add_argument(
        "--classes", metavar="A,B,...", help="all classes, in order (default: those in the file)"
    )
    parser.add_argument(
        "--no-header",
        action="store_true",
        help="the first row of the file is a sample; the columns are called c1, c2, ...",
    )
    parser.add_argument(
        "--limit",
        type=whole_number,
        metavar="N",
        help="only the first N samples (default: all, and 100,000 of synth:)",
    )
    parser.add_argument(
        "--warmup",
        type=whole_number,
        metavar="N",
        default=256,
        help="samples whose features the quantizer sees before the run (default 256)",
    )
    parser.add_argument(
        "--shuffle",
        type=whole_number,
        metavar="SEED",
        help="shuffle the stream (default: its own order)",
    )


def _data_help() -> str:
    from ..streams import generators

    rivers = ", ".join(generators.river_names())
    synths = ", ".join(generators.SYNTH_NAMES)
    return f"a .csv, .csv.gz or .arff file; river: and one of {rivers}; synth: and one of {synths}"


def add_board_option(
    parser: Parser, default: str | None, text: str, *, required: bool = False
) -> None:
    """Add --board; text says what it is for."""
    names = ", ".join(board_files.names())
    parser.add_argument(
        "--board",
        metavar="NAME",
        default=default,
        required=required,
        help=f"{text}; {names}, or a .toml file",
    )


def open_arguments(arguments: argparse.Namespace) -> Stream:
    """The stream that the options of add_stream_options ask for."""
    with showing("reading") as update:
        stream = open_stream(
            arguments.data,
            label=arguments.label,
            classes=arguments.classes,
            header=not arguments.no_header,
            limit=arguments.limit,
            shuffle=arguments.shuffle,
            warmup=arguments.warmup,
            progress=update,
        )
    for note in stream.notes:
        messages.say(f"Note: {note}")
    return stream


def open_with_parameters(arguments: argparse.Namespace) -> tuple[Stream, dict[str, Any]]:
    """The stream, and all parameters of the model that is to learn it.

    Raises UserError for options that the model does not have or refuses.
    """
    options = model_parameters(arguments)
    stream = open_arguments(arguments)
    parameters = stream_parameters(arguments.model, stream, arguments.warmup) | options
    check_parameters(arguments.model, parameters)
    if arguments.warmup >= len(stream.labels):
        messages.say(
            f"Note: with --warmup {arguments.warmup} the quantizer sees all "
            f"{count(len(stream.labels), 'sample')} before the run."
        )
    return stream, parameters


def compile_kernels(model: str, parameters: Mapping[str, Any]) -> None:
    """Have the numba engine ready, and say what takes so long the first time."""
    known = prequential.are_compiled(model, parameters)
    what = "loading the kernels" if known else "compiling the kernels (once)"
    with showing(what, announce=not known):
        prequential.compile_kernels(model, parameters)


def write_json(record: dict[str, Any], target: str) -> None:
    """Write it where --json says, and say so."""
    report.write_json(record, target)
    if target != "-":
        messages.say(f"written to {target}")


def too_large(
    budget: ram_budget.Budget, board: board_files.Board, model: str, parameters: dict[str, Any]
) -> str:
    """What to say of a model that does not fit, and what to lower."""
    subject, _, rest = budget.complaint.partition(" ")  # "it takes", "its largest buffer"
    subject = {"it": "The model", "its": "The model's"}.get(subject, subject)
    return f"{subject} {rest}. {ram_budget.which_to_lower(parameters, board, MODELS[model])}"


def _add_budget(commands: Any) -> None:
    parser = add_parser(commands, "budget", "What a model takes of a board's RAM.", _budget)
    parser.add_argument(
        "--features",
        type=whole_number,
        metavar="D",
        required=True,
        help="of a sample (required)",
    )
    parser.add_argument(
        "--classes", type=whole_number, metavar="C", required=True, help="how many (required)"
    )
    add_model_options(parser)
    add_board_option(parser, DEFAULT_BOARD, f"the board (default {DEFAULT_BOARD})")
    parser.add_argument(
        "--json", metavar="FILE|-", help="write it as one JSON object (default: do not)"
    )


def _budget(arguments: argparse.Namespace) -> int:
    if arguments.json is not None:
        report.check_json_target(arguments.json)
    board = board_files.load(arguments.board)
    shape = {"features": arguments.features, "classes": arguments.classes}
    parameters = shape | model_parameters(arguments)
    check_parameters(arguments.model, parameters, also=shape)
    budget = ram_budget.budget(parameters, board, MODELS[arguments.model])
    time = sample_time.sample_time(board, arguments.model, parameters)
    advice = "" if budget.fits else too_large(budget, board, arguments.model, parameters)
    if arguments.json != "-":
        report.print_budget(budget, board, time)
        console.say(report.fitting(budget) if budget.fits else "It does not fit. " + advice)
    if arguments.json is not None:
        record = report.budget_record(budget, board, arguments.board, time)
        record |= {"advice": advice}
        write_json(record, arguments.json)
    return 0 if budget.fits else 1


def _add_parity(commands: Any) -> None:
    parser = add_parser(commands, "parity", "Prove that all engines hold the same bits.", _parity)
    add_stream_options(parser)
    add_model_options(parser)
    parser.add_argument(
        "--every",
        type=whole_number,
        default=200,
        metavar="N",
        help="compare after each N samples (default 200)",
    )


def _parity(arguments: argparse.Namespace) -> int:
    if arguments.every < 1:
        raise UserError(f"--every has to be at least 1, not {arguments.every}")
    stream, parameters = open_with_parameters(arguments)
    find_or_fetch(messages.say)
    compile_kernels(arguments.model, parameters)
    kind = MODELS[arguments.model]
    starters = {
        name: functools.partial(engines.start, name, kind, parameters) for name in engines.NAMES
    }
    rows = prequential.raw_rows(stream)
    console.say(f"{'samples':>9}  " + "  ".join(f"{n:>11}" for n in engines.NAMES))
    steps = parity.check(
        starters, rows, stream.labels, warmup=arguments.warmup, every=arguments.every
    )
    for step in steps:
        if isinstance(step, parity.Difference):
            console.say(str(step))
            return 1
        crcs = "  ".join(f"{step.crcs[name]:08x}".rjust(11) for name in engines.NAMES)
        console.say(f"{step.samples:>9,}  {crcs}")
    console.say(
        f"All three engines are identical: {count(len(rows), 'sample')}, compared after "
        f"every {arguments.every:,}."
    )
    return 0

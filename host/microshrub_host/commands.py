"""The host's subcommands of `microshrub`: simulate, budget, parity, micropython."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import boards, engines, micropython_binary, parity, plots, ram, report, simulate
from .errors import UserError
from .options import (
    MODELS,
    add_model_options,
    check_parameters,
    model_parameters,
    whole_number,
)
from .progress import messages, showing
from .streams import Stream, open_stream

_DEFAULT_BOARD = "rpi_pico"
_Command = Callable[[argparse.Namespace], int]


def add_commands(commands: Any) -> None:
    """Add the subcommands to argparse's subparsers; each sets `run` to what it does."""
    _add_simulate(commands)
    _add_budget(commands)
    _add_parity(commands)
    _add_micropython(commands)


def _add(commands: Any, name: str, text: str, run: _Command) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    return parser


def add_stream_options(parser: argparse.ArgumentParser) -> None:
    """Add DATA and the options that say how to read it."""
    parser.add_argument(
        "data",
        metavar="DATA",
        help="a .csv, .csv.gz or .arff file, river:NAME or synth:NAME",
    )
    parser.add_argument("--label", metavar="COLUMN", help="the class (default: the last column)")
    parser.add_argument("--classes", metavar="A,B,...", help="all classes, in order")
    parser.add_argument("--limit", type=whole_number, metavar="N", help="only the first N samples")
    parser.add_argument(
        "--warmup",
        type=whole_number,
        metavar="N",
        default=256,
        help="samples whose features the quantizer sees before the run (default 256)",
    )
    parser.add_argument("--shuffle", type=whole_number, metavar="SEED", help="shuffle the stream")


def open_arguments(arguments: argparse.Namespace) -> Stream:
    """The stream that the options of add_stream_options ask for."""
    with showing("reading") as update:
        return open_stream(
            arguments.data,
            label=arguments.label,
            classes=arguments.classes,
            limit=arguments.limit,
            shuffle=arguments.shuffle,
            warmup=arguments.warmup,
            progress=update,
        )


def _add_simulate(commands: Any) -> None:
    parser = _add(commands, "simulate", "Learn a stream as the board would.", _simulate)
    add_stream_options(parser)
    add_model_options(parser)
    parser.add_argument("--board", metavar="NAME", help="refuse what does not fit there")
    parser.add_argument("--engine", choices=engines.NAMES, default="numba")
    parser.add_argument("--json", metavar="FILE|-", help="write the result as one JSON object")
    parser.add_argument("--plot", metavar="FILE.png", type=Path, help="draw accuracy over time")


def _simulate(arguments: argparse.Namespace) -> int:
    if arguments.plot:
        plots.check_plot_file(arguments.plot)
    if arguments.json:
        report.check_json_target(arguments.json)
    parameters = model_parameters(arguments)
    board = boards.load(arguments.board or _DEFAULT_BOARD)
    stream = open_arguments(arguments)
    budget = _checked_budget(arguments.model, _shape(stream) | parameters, board)
    if arguments.board and not budget.fits:
        raise UserError(_too_large(budget, board, _shape(stream) | parameters))
    with showing(f"{arguments.engine}: learning") as update:
        result = simulate.simulate(
            stream,
            arguments.model,
            parameters,
            engine=arguments.engine,
            warmup=arguments.warmup,
            progress=lambda done, total, acc: update(done, total, f"accuracy {acc:.2f} %"),
        )
    if arguments.plot:
        plots.plot_run(result, arguments.plot)
    if arguments.json != "-":
        report.print_run(result, budget, board)
    if arguments.json:
        record = report.run_record(result, budget, arguments.board or _DEFAULT_BOARD)
        report.write_json(record, arguments.json)
    return 0


def _shape(stream: Stream) -> dict[str, Any]:
    return {"features": stream.values.shape[1], "classes": len(stream.class_names)}


def _checked_budget(model: str, parameters: dict[str, Any], board: boards.Board) -> ram.Budget:
    check_parameters(model, parameters)
    return ram.budget(parameters, board, MODELS[model])


def _too_large(budget: ram.Budget, board: boards.Board, parameters: dict[str, Any]) -> str:
    return f"{budget.complaint}. {ram.which_to_lower(parameters, board)}"


def _add_budget(commands: Any) -> None:
    parser = _add(commands, "budget", "What a model takes of a board's RAM.", _budget)
    parser.add_argument("--features", type=whole_number, metavar="D", required=True)
    parser.add_argument("--classes", type=whole_number, metavar="C", required=True)
    add_model_options(parser)
    parser.add_argument("--board", metavar="NAME", default=_DEFAULT_BOARD)
    parser.add_argument("--json", metavar="FILE|-", help="write it as one JSON object")


def _budget(arguments: argparse.Namespace) -> int:
    if arguments.json:
        report.check_json_target(arguments.json)
    board = boards.load(arguments.board)
    shape = {"features": arguments.features, "classes": arguments.classes}
    parameters = shape | model_parameters(arguments)
    budget = _checked_budget(arguments.model, parameters, board)
    advice = "" if budget.fits else _too_large(budget, board, parameters)
    if arguments.json:
        record = report.budget_record(budget, arguments.board) | {"advice": advice}
        report.write_json(record, arguments.json)
    if arguments.json != "-":
        report.print_budget(budget, board)
        report.console.print("It fits." if budget.fits else "It does not fit: " + advice)
    return 0 if budget.fits else 1


def _add_parity(commands: Any) -> None:
    parser = _add(commands, "parity", "Prove that all engines hold the same bits.", _parity)
    add_stream_options(parser)
    add_model_options(parser)
    parser.add_argument(
        "--every", type=whole_number, default=200, metavar="N", help="compare after each N samples"
    )


def _parity(arguments: argparse.Namespace) -> int:
    if arguments.every < 1:
        raise UserError(f"--every has to be at least 1, not {arguments.every}")
    parameters = model_parameters(arguments)
    stream = open_arguments(arguments)
    check_parameters(arguments.model, _shape(stream) | parameters)
    start = functools.partial(
        engines.start, kind=MODELS[arguments.model], parameters=parameters, **_shape(stream)
    )
    starters = {name: functools.partial(start, name) for name in engines.NAMES}
    rows = simulate.raw_rows(stream, arguments.warmup)
    report.console.print(f"{'samples':>9}  " + "  ".join(f"{n:>11}" for n in engines.NAMES))
    steps = parity.check(
        starters, rows, stream.labels, warmup=arguments.warmup, every=arguments.every
    )
    for step in steps:
        if isinstance(step, parity.Difference):
            one, other = step.engines
            report.console.print(
                f"{one} and {other} part at sample {step.sample}: {step.buffer}[{step.index}] is "
                f"{step.values[0]} and {step.values[1]}"
            )
            return 1
        crcs = "  ".join(f"{step.crcs[name]:>11x}" for name in engines.NAMES)
        report.console.print(f"{step.samples:>9}  {crcs}")
    report.console.print(f"identical after each of {len(rows):,} samples' blocks, in every buffer")
    return 0


def _add_micropython(commands: Any) -> None:
    parser = _add(
        commands, "micropython", "Find, or fetch, a real 32-bit MicroPython.", _micropython
    )
    parser.add_argument("--find-only", action="store_true", help="fetch nothing")


def _micropython(arguments: argparse.Namespace) -> int:
    if arguments.find_only:
        found = micropython_binary.find()
    else:
        found = micropython_binary.find_or_fetch(lambda text: messages.print(text))
    report.console.print(micropython_binary.describe(found))
    return 0

"""`microshrub compare`: our learners beside River's and MOA's on the same samples."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import compare_report, peers, report
from .commands import add_stream_options, compile_kernels, open_arguments, write_json
from .compare import Cell, compare
from .errors import UserError
from .options import MODELS, whole_number
from .our_learners import model_bytes, ours
from .peers import Contender
from .progress import showing
from .simulate import are_compiled
from .streams import Stream
from .terminal import messages
from .tree_set import SYSTEMS, tree_rows

_LIMIT = 600  # seconds

Trees = Mapping[str, Mapping[str, Contender]]  # by tree and system


def add_command(commands: Any) -> None:
    """Add the subcommand to argparse's subparsers."""
    text = (
        "Learn streams with our learners, River's and MOA's, each in a process of its own, on the "
        "same samples in the same order."
    )
    parser = commands.add_parser("compare", help=text, description=text)
    add_stream_options(parser, nargs="+")
    parser.add_argument(
        "--ours",
        action="append",
        metavar='"MODEL NAME=VALUE ..."',
        help='one of ours, as in "hoeffding policy=efdt depth=10"; may be given again and again '
        f"(default: {' and '.join(MODELS)} as they are)",
    )
    parser.add_argument(
        "--peers",
        metavar="A,B,...",
        help=f"of {', '.join(peers.PEERS)}; river and moa are all of theirs, none is nobody "
        "(default: all that can run here)",
    )
    parser.add_argument(
        "--set",
        choices=["trees"],
        help="instead: VFDT, EFDT and HAT of the three systems with the same settings "
        "(default: no set)",
    )
    parser.add_argument(
        "--budget",
        type=whole_number,
        metavar="BYTES",
        help="refuse models of ours that take more (default: refuse none)",
    )
    parser.add_argument(
        "--time-limit",
        type=whole_number,
        default=_LIMIT,
        metavar="SECONDS",
        help=f"of one learner on one stream (default {_LIMIT})",
    )
    parser.add_argument(
        "--jobs",
        type=whole_number,
        default=1,
        metavar="N",
        help="learners that run at a time; more than one are slower each (default 1)",
    )
    parser.add_argument(
        "--json", metavar="FILE|-", help="write everything as one JSON object (default: do not)"
    )
    parser.set_defaults(run=_compare)


def _compare(arguments: argparse.Namespace) -> int:
    _check(arguments)
    rows = tree_rows() if arguments.set else {}
    contenders = _contenders(arguments, rows)
    streams = [_open(arguments, source) for source in arguments.data]
    _check_ours(contenders, streams, arguments)
    for c in contenders:
        # what is compiled is left to the processes that run it
        if c.system == "ours" and not are_compiled(c.learner, c.settings):
            compile_kernels(c.learner, c.settings)
    cells: list[Cell] = []
    for stream in streams:
        found = _learn(contenders, stream, arguments)
        cells += found.values()
        if arguments.json != "-":
            _print(stream, found, rows)
    if arguments.json != "-" and not rows:
        compare_report.print_notes()
    if arguments.json is not None:
        options = {k: v for k, v in vars(arguments).items() if k not in ("run", "json")}
        write_json(compare_report.record(streams, cells, options), arguments.json)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    for name in ("time_limit", "jobs", "budget"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise UserError(f"--{name.replace('_', '-')} has to be at least 1, not {value}")
    if arguments.set and (arguments.ours or arguments.peers):
        raise UserError(f"--set {arguments.set} names all learners; leave out --ours and --peers")
    if arguments.json is not None:
        report.check_json_target(arguments.json)


def _contenders(arguments: argparse.Namespace, rows: Trees) -> list[Contender]:
    """All that run, each once: those of the set, or the named ones, or by default everybody."""
    if rows:
        return _that_can_run(contender for row in rows.values() for contender in row.values())
    found = [ours(text) for text in arguments.ours or MODELS]
    if arguments.peers is None:
        found += _that_can_run(peers.PEERS.values())
    elif arguments.peers != "none":
        found += peers.select(arguments.peers)
    return list({contender.name: contender for contender in found}.values())


def _that_can_run(contenders: Iterable[Contender]) -> list[Contender]:
    """Without MOA's, and a note that says so, where MOA cannot run."""
    missing = peers.missing_for_moa()
    if missing:
        messages.say(f"Note: MOA's learners are left out. They need {missing}")
    return [found for found in contenders if not (missing and found.system == "moa")]


def _open(arguments: argparse.Namespace, source: str) -> Stream:
    return open_arguments(argparse.Namespace(**vars(arguments) | {"data": source}))


def _check_ours(
    contenders: Sequence[Contender], streams: Sequence[Stream], arguments: argparse.Namespace
) -> None:
    """Raise UserError for parameters that are refused, and for models beyond the budget."""
    for stream in streams:
        for contender in contenders:
            if contender.system == "ours":
                size = model_bytes(contender, stream, arguments.warmup)
                if arguments.budget is not None and size > arguments.budget:
                    raise UserError(
                        f"{contender.name} takes {report.count(size, 'byte')} on {stream.name}, "
                        f"and --budget is {arguments.budget:,}"
                    )


def _learn(
    contenders: Sequence[Contender], stream: Stream, arguments: argparse.Namespace
) -> dict[str, Cell]:
    """The cells of a stream by the contenders' names, in their order."""
    with showing(stream.name) as update:
        cells = compare(
            contenders,
            stream,
            warmup=arguments.warmup,
            limit=arguments.time_limit,
            jobs=arguments.jobs,
            progress=update,
        )
        found = {cell.name: cell for cell in cells}
    return {contender.name: found[contender.name] for contender in contenders}


def _print(stream: Stream, cells: Mapping[str, Cell], rows: Trees) -> None:
    if not rows:
        compare_report.print_stream(stream, list(cells.values()))
        return
    table = {
        tree: {system: cells.get(contender.name) for system, contender in row.items()}
        for tree, row in rows.items()
    }
    compare_report.print_trees(stream, table, SYSTEMS)

"""`microshrub compare --target`: our regressors compared with River's on the same samples."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence

from microshrub_host.api.models import raw_ends
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console
from microshrub_host.cli.outputs import is_quiet, write_json, write_page
from microshrub_host.cli.regression_options import open_number_stream, target_range
from microshrub_host.cli.run_options import jobs_of
from microshrub_host.library.learners import REGRESSORS, WARMUP
from microshrub_host.streams.regression_streams import NumberStream

from ..compare import catalogue, regression_report
from ..compare.contender import Contender
from ..compare.regression_peers import PEERS, model_bytes, ours
from ..compare.regression_report import NumberResults
from ..compare.regression_runner import NumberCell, compare_numbers
from .compare_streams import check_bytes, compile_ours, learn_all, options_of, with_data

NUMBERS = tuple(model.removesuffix("-regressor") for model in REGRESSORS)


def run_numbers(arguments: argparse.Namespace) -> int:
    """Let all contenders learn each stream; print and write the tables."""
    if arguments.set:
        raise UserError(f"--set {arguments.set} is for classes, and --target wants numbers.")
    contenders = _contenders(arguments)
    streams = [open_number_stream(with_data(arguments, source)) for source in arguments.data]
    check_bytes(contenders, streams, model_bytes, arguments.bytes)
    wanted = target_range(arguments)
    ends = {stream.name: raw_ends(stream, wanted) for stream in streams}
    compile_ours(contenders)
    jobs = jobs_of(arguments, len(contenders), "learners")
    parts: list[NumberResults] = []
    learn_all(
        streams,
        contenders,
        lambda stream, update: compare_numbers(
            contenders,
            stream,
            ends=ends[stream.name],
            warmup=arguments.warmup or WARMUP,
            limit=arguments.time_limit,
            jobs=jobs,
            progress=update,
        ),
        lambda stream, cells: _tell(parts, stream, cells, arguments),
        lambda: _finish(parts, arguments),
    )
    return 0


def _contenders(arguments: argparse.Namespace) -> list[Contender]:
    """Return all contenders, each once: the named ones, or by default all."""
    result: Iterable[Contender] = [ours(text) for text in arguments.ours or NUMBERS]
    if arguments.peers is None:
        result = [*result, *PEERS.values()]
    elif arguments.peers != "none":
        result = [*result, *catalogue.select(arguments.peers, PEERS)]
    return list({contender.name: contender for contender in result}.values())


def _tell(
    parts: list[NumberResults],
    stream: NumberStream,
    cells: Mapping[str, NumberCell],
    arguments: argparse.Namespace,
) -> None:
    """Add a stream's results to `parts`, and print them."""
    parts.append(NumberResults(stream, list(cells.values())))
    if not is_quiet(arguments):
        regression_report.print_part(parts[-1])


def _finish(parts: Sequence[NumberResults], arguments: argparse.Namespace) -> None:
    """Print the notes below the tables, and write the files."""
    if not is_quiet(arguments):
        for note in regression_report.NOTES:
            console.say(note)
    options = options_of(arguments)
    if arguments.json is not None:
        write_json(arguments, regression_report.record(parts, options))
    if arguments.html is not None:
        write_page(arguments, regression_report.make_page(parts, arguments.command_line, options))

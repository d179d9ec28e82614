"""`microshrub benchmark numbers`: our regressors beside River's, as a table."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from microshrub_host.base.side_by_side import Progress
from microshrub_host.cli.outputs import check_outputs
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.cli.stream_options import compile_kernels
from microshrub_host.library import loader

from ..benchmarks.numbers import GUESSES, LIMIT, OURS, PEERS, SOURCES, Row, measure, page
from ..papers.data_folder import data_folder
from .benchmark_options import (
    add_output_options,
    add_streams_jobs,
    command_text,
    each_of,
    say_missing,
    write_markdown,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    add_streams_jobs(parser)
    parser.add_argument(
        "--limit",
        type=whole_number,
        metavar="N",
        default=LIMIT,
        help=f"only the first N samples (default {LIMIT:,})",
    )
    parser.set_defaults(benchmark="numbers", usual={"limit": LIMIT})


def run(arguments: argparse.Namespace) -> int:
    """Run them all and write the table."""
    check_outputs(arguments)
    check_at_least_one(limit=arguments.limit)
    files = {name: SOURCES[name].source if SOURCES[name].is_file else None for name in SOURCES}
    missing = say_missing(files, arguments)
    for model in OURS:
        compile_kernels(model, {}, loader.fastest())
    there = [name for name in SOURCES if name not in missing]
    work = partial(_row, data_folder(arguments.data), arguments.limit)
    rows = each_of(arguments, there, work)
    write_markdown(arguments, page(rows, arguments.limit, command_text(arguments, ["limit"])))
    return 0


def _row(folder: Path | None, limit: int, name: str, progress: Progress) -> Row:
    stream = SOURCES[name].open(folder, limit)
    found: dict[str, float] = {}
    whole = len(GUESSES) + len(OURS) + len(PEERS)
    for learner, error in measure(name, stream):
        found[learner] = error
        progress(len(found), whole, f"{name}, {learner} {error:.4g}")
    return Row(name, stream.samples, found)

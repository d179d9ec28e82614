"""`microshrub benchmark rare`: a balanced thicket beside River's wrappers for rare classes."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from microshrub_host.base.side_by_side import Progress
from microshrub_host.cli.outputs import check_outputs
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.cli.stream_options import compile_kernels
from microshrub_host.library.learners import BALANCED, DEFAULT

from ..benchmarks.rare_classes import LIMIT, RareRow, measure, page, runs, thinned
from .benchmark_options import (
    add_output_options,
    add_streams_jobs,
    add_streams_option,
    available_streams,
    command_text,
    each_of,
    open_known,
    write_markdown,
)

_USUAL: dict[str, Any] = {"streams": "chosen", "limit": LIMIT}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    add_streams_option(parser, _USUAL["streams"])
    parser.add_argument(
        "--limit",
        type=whole_number,
        metavar="N",
        default=LIMIT,
        help=f"only the first N samples of a stream, before it is thinned (default {LIMIT:,})",
    )
    add_streams_jobs(parser)
    parser.set_defaults(benchmark="rare", usual=_USUAL)


def run(arguments: argparse.Namespace) -> int:
    """Run them all and write the tables."""
    check_outputs(arguments)
    check_at_least_one(limit=arguments.limit)
    for model in (DEFAULT, BALANCED):
        compile_kernels(model, {})
    work = partial(_row, arguments.data, arguments.limit)
    rows = each_of(arguments, available_streams(arguments), work)
    write_markdown(arguments, page(rows, arguments.limit, command_text(arguments, list(_USUAL))))
    return 0


def _row(data: Path | None, limit: int, name: str, progress: Progress) -> RareRow:
    found: RareRow | None = None
    stream = thinned(open_known(name, data, limit))
    for number, (learner, row) in enumerate(measure(name, stream), 1):
        found = row
        progress(number, runs(), f"{name}, {learner}")
    assert found is not None
    return found

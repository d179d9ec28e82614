"""`microshrub benchmark labels`: accuracy against the share of labels that the model asks for."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from microshrub_host.base.side_by_side import Progress
from microshrub_host.cli.outputs import add_outputs, check_outputs, write_figure
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.cli.stream_options import compile_kernels
from microshrub_host.library.learners import DEFAULT

from ..benchmarks.few_labels import LabelRow, measure, page, runs
from ..benchmarks.few_labels_plot import draw
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

_TOLD = ("streams", "seeds", "limit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    add_streams_option(parser, "labels")
    parser.add_argument(
        "--seeds", type=whole_number, default=1, metavar="N", help="runs of each (default 1)"
    )
    parser.add_argument(
        "--limit", type=whole_number, metavar="N", help="only the first N samples (default: all)"
    )
    add_streams_jobs(parser)
    add_outputs(parser, plot="draw accuracy against the share of labels")
    parser.set_defaults(benchmark="labels", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Measure the streams and write the page, and the picture if it is asked for."""
    check_outputs(arguments)
    check_at_least_one(seeds=arguments.seeds, limit=arguments.limit)
    compile_kernels(DEFAULT, {})
    work = partial(_row, arguments.data, arguments.limit, arguments.seeds)
    rows = each_of(arguments, available_streams(arguments), work)
    picture = arguments.plot and arguments.plot.name
    command = command_text(arguments, _TOLD)
    write_markdown(arguments, page(rows, arguments.seeds, command, picture))
    if arguments.plot is not None:
        write_figure(arguments, draw(rows))
    return 0


def _row(
    data: Path | None, limit: int | None, seeds: int, name: str, progress: Progress
) -> LabelRow:
    found = None
    stream = open_known(name, data, limit)
    for number, row in enumerate(measure(name, stream, seeds), 1):
        found = row
        progress(number, runs(), name)
    assert found is not None
    return found

"""`microshrub benchmark labels`: accuracy against the share of labels that the model asks for."""

from __future__ import annotations

import argparse

from ..base.progress import showing
from ..benchmarks.few_labels import LabelRow, measure, page, runs
from ..benchmarks.few_labels_plot import draw
from ..library.learners import DEFAULT
from ..streams.stream import Stream
from .benchmark_options import (
    add_output_options,
    add_streams_option,
    command_text,
    known_streams,
    write_markdown,
)
from .outputs import add_outputs, check_outputs, write_figure
from .parsed import check_at_least_one, whole_number
from .stream_options import compile_kernels

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
    add_outputs(parser, plot="draw accuracy against the share of labels")
    parser.set_defaults(benchmark="labels", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Measure the streams and write the page, and the picture if it is asked for."""
    check_outputs(arguments)
    check_at_least_one(seeds=arguments.seeds, limit=arguments.limit)
    compile_kernels(DEFAULT, {})
    rows = [_row(name, stream, arguments.seeds) for name, stream in known_streams(arguments)]
    picture = arguments.plot and arguments.plot.name
    command = command_text(arguments, _TOLD)
    write_markdown(arguments, page(rows, arguments.seeds, command, picture))
    if arguments.plot is not None:
        write_figure(arguments, draw(rows))
    return 0


def _row(name: str, stream: Stream, seeds: int) -> LabelRow:
    found = None
    with showing(name) as update:
        for number, row in enumerate(measure(name, stream, seeds), 1):
            found = row
            update(number, runs(), "")
    assert found is not None
    return found

"""`microshrub benchmark features`: features without a choice beside features made by hand."""

from __future__ import annotations

import argparse
from functools import partial

from microshrub_host.base.side_by_side import Progress
from microshrub_host.cli.outputs import check_outputs
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.cli.stream_options import compile_kernels
from microshrub_host.library.learners import DEFAULT

from ..benchmarks.features import SEEDS, FeatureRow, measure, page
from ..benchmarks.sensed import SENSED
from .benchmark_options import (
    add_output_options,
    add_streams_jobs,
    chosen,
    command_text,
    each_of,
    write_markdown,
)

_TOLD = ("streams", "seeds")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    add_streams_jobs(parser)
    parser.add_argument(
        "--streams",
        default=",".join(SENSED),
        metavar="A,B,...",
        help=f"some of {', '.join(SENSED)} (default: all)",
    )
    parser.add_argument(
        "--seeds",
        type=whole_number,
        default=SEEDS,
        metavar="N",
        help=f"recordings of each sensor (default {SEEDS})",
    )
    parser.set_defaults(benchmark="features", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Run them all and write the tables."""
    check_outputs(arguments)
    check_at_least_one(seeds=arguments.seeds)
    wanted = chosen("--streams", arguments.streams, list(SENSED))
    compile_kernels(DEFAULT, {})
    rows = each_of(arguments, wanted, partial(_row, arguments.seeds))
    write_markdown(arguments, page(rows, arguments.seeds, command_text(arguments, _TOLD)))
    return 0


def _row(seeds: int, name: str, progress: Progress) -> FeatureRow:
    return measure(name, seeds, lambda done, total: progress(done, total, name))

"""`microshrub benchmark new-classes`: when a class is noticed that nobody has named."""

from __future__ import annotations

import argparse

from microshrub_host.base.terminal import showing
from microshrub_host.cli.outputs import check_outputs
from microshrub_host.cli.parsed import whole_number
from microshrub_host.cli.stream_options import compile_kernels
from microshrub_host.library.learners import DEFAULT

from ..benchmarks.known_streams import STREAMS
from ..benchmarks.new_classes import SEED, measure, names, page
from ..papers.data_folder import data_folder
from .benchmark_options import (
    add_output_options,
    chosen,
    command_text,
    say_missing,
    write_markdown,
)

_TOLD = ("streams", "seed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    parser.add_argument(
        "--streams",
        default=",".join(names()),
        metavar="A,B,...",
        help=f"some of {', '.join(names())} (default: all)",
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        default=SEED,
        help=f"the order of the samples, and the generators (default {SEED})",
    )
    parser.set_defaults(benchmark="new-classes", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Run them all and write the tables."""
    check_outputs(arguments)
    wanted = chosen("--streams", arguments.streams, names())
    missing = say_missing(
        {name: STREAMS[name].file if name in STREAMS else None for name in wanted}, arguments
    )
    compile_kernels(DEFAULT, {})
    rows = []
    for name in wanted:
        if name not in missing:
            with showing(name) as update:
                rows.append(measure(name, data_folder(arguments.data), arguments.seed, update))
    write_markdown(arguments, page(rows, command_text(arguments, _TOLD)))
    return 0

"""`microshrub benchmark recurring`: what a learner knows of a concept that returns."""

from __future__ import annotations

import argparse
from functools import partial

from microshrub_host.base.errors import UserError
from microshrub_host.base.side_by_side import Progress
from microshrub_host.cli.outputs import check_outputs
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.cli.stream_options import compile_kernels
from microshrub_host.library.learners import DEFAULT

from ..benchmarks.pupils import RIVER
from ..benchmarks.recurring import CONCEPTS, FIRST, LENGTH, Found, Visits, measure, page
from ..benchmarks.taught_sets import opener
from .benchmark_options import (
    add_output_options,
    add_streams_jobs,
    chosen,
    command_text,
    each_of,
    write_markdown,
)
from .learner_options import add_learner_options, learners_of

_TOLD = ("streams", "bytes", "peers", "seeds", "length")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    parser.add_argument(
        "--streams",
        default=",".join(CONCEPTS),
        metavar="A,B,...",
        help=f"some of {', '.join(CONCEPTS)} (default: all of them)",
    )
    add_learner_options(parser, RIVER)
    add_streams_jobs(parser)
    parser.add_argument(
        "--length",
        type=whole_number,
        default=LENGTH,
        metavar="N",
        help=f"samples of a visit (default {LENGTH:,})",
    )
    parser.set_defaults(benchmark="recurring", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Measure stream after stream and write the page."""
    check_outputs(arguments)
    check_at_least_one(seeds=arguments.seeds)
    if arguments.length < FIRST:
        raise UserError(f"--length has to be at least {FIRST}, not {arguments.length}")
    learners = learners_of(arguments.bytes, arguments.peers, RIVER)
    names = chosen("--streams", arguments.streams, CONCEPTS)
    compile_kernels(DEFAULT, {})
    how = (arguments.bytes, arguments.peers, arguments.seeds, arguments.length)
    found: Found = {}
    for name, row in zip(names, each_of(arguments, names, partial(_row, *how)), strict=True):
        found |= {(name, learner): visits for learner, visits in row.items()}
    command = command_text(arguments, _TOLD)
    write_markdown(arguments, page(found, learners, arguments.seeds, arguments.length, command))
    return 0


def _row(
    sizes: str, peers: str, seeds: int, length: int, name: str, progress: Progress
) -> dict[str, Visits]:
    learners = learners_of(sizes, peers, RIVER)
    found: dict[str, Visits] = {}
    for learner, visits in measure(name, learners, opener(None), seeds, length):
        found[learner] = visits
        progress(len(found), len(learners), f"{name}, {learner}")
    return found

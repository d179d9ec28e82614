"""`microshrub benchmark worth`: what each member of a thicket adds to its accuracy."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from microshrub_host.base.side_by_side import Progress
from microshrub_host.cli.outputs import check_outputs
from microshrub_host.cli.parsed import whole_number
from microshrub_host.library.learners import DEFAULT, check_parameters

from ..benchmarks.family_members import WARMUP
from ..benchmarks.members_worth import markdown, measure
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

_TOLD = ("streams", "bytes", "seed", "limit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    add_streams_option(parser)
    parser.add_argument(
        "--bytes",
        type=whole_number,
        default=65_536,
        metavar="N",
        help="size of the thicket (default 65536)",
    )
    parser.add_argument(
        "--seed", type=whole_number, default=0, metavar="N", help="seed of the thicket (default 0)"
    )
    parser.add_argument(
        "--limit", type=whole_number, metavar="N", help="only the first N samples (default: all)"
    )
    add_streams_jobs(parser)
    parser.set_defaults(benchmark="worth", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Measure the streams that are there and write it down."""
    check_outputs(arguments)
    names = available_streams(arguments)
    work = partial(_row, arguments.data, arguments.limit, arguments.bytes, arguments.seed)
    found = dict(zip(names, each_of(arguments, names, work), strict=True))
    write_markdown(arguments, markdown(found, command_text(arguments, _TOLD)))
    return 0


def _row(
    data: Path | None, limit: int | None, size: int, seed: int, name: str, progress: Progress
) -> dict[str, float]:
    stream = open_known(name, data, limit)
    shape = {"features": stream.values.shape[1], "classes": len(stream.class_names)}
    check_parameters(DEFAULT, {**shape, "bytes": size, "seed": seed}, ("bytes", "seed"))
    return measure(stream, size, seed, WARMUP, lambda done, all_: progress(done, all_, name))

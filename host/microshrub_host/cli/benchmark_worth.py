"""`microshrub benchmark worth`: what each member of a thicket adds to its accuracy."""

from __future__ import annotations

import argparse

from ..base.errors import UserError
from ..base.progress import showing
from ..benchmarks.field import GROUPS
from ..benchmarks.known_streams import STREAMS, WARMUP
from ..benchmarks.members_worth import markdown, measure
from ..engines.learners import DEFAULT, check_parameters
from ..streams.data_folder import data_folder
from .benchmark_options import (
    add_output_options,
    chosen,
    command_text,
    say_missing,
    write_markdown,
)
from .outputs import check_outputs
from .parsed import whole_number

_TOLD = ("streams", "bytes", "seed", "limit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    parser.add_argument(
        "--streams",
        default="known",
        metavar="A,B,...",
        help=f"some of {', '.join(STREAMS)}; or {', '.join(GROUPS)} (default: known)",
    )
    parser.add_argument(
        "--bytes", type=whole_number, default=65_536, metavar="N", help="of it (default 65536)"
    )
    parser.add_argument("--seed", type=whole_number, default=0, metavar="N", help="(default 0)")
    parser.add_argument(
        "--limit", type=whole_number, metavar="N", help="only the first N samples (default: all)"
    )
    parser.set_defaults(benchmark="worth", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Measure the streams that are there and write it down."""
    check_outputs(arguments)
    text = ",".join(GROUPS.get(arguments.streams, [arguments.streams]))
    names = chosen("--streams", text, STREAMS)
    missing = say_missing({name: STREAMS[name].file for name in names}, arguments)
    there = [name for name in names if name not in missing]
    if not there:
        raise UserError("no stream is available")
    found = {}
    for name in there:
        stream = STREAMS[name].open(name, data_folder(arguments.data), arguments.limit)
        shape = {"features": stream.values.shape[1], "classes": len(stream.class_names)}
        size, seed = arguments.bytes, arguments.seed
        check_parameters(DEFAULT, {**shape, "bytes": size, "seed": seed}, ("bytes", "seed"))
        with showing(name, announce=True) as update:
            found[name] = measure(stream, size, seed, WARMUP, update)
    write_markdown(arguments, markdown(found, command_text(arguments, _TOLD)))
    return 0

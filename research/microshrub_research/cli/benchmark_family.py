"""`microshrub benchmark family`: every Hoeffding tree and leaf rule on six streams."""

from __future__ import annotations

import argparse

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.cli.outputs import check_outputs
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.cli.stream_options import compile_kernels

from ..benchmarks.family import markdown
from ..benchmarks.family_members import MEMBERS, MODEL, check_members, measure
from .benchmark_options import (
    FILES,
    add_output_options,
    chosen,
    command_text,
    open_named,
    say_missing,
    write_markdown,
)

STREAMS = (*FILES, "agrawal_a", "led_a", "rbf_m", "sea_a")
_TOLD = ("members", "streams", "limit", "repeats")  # in the command that the page shows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    for name, known in (("members", MEMBERS), ("streams", STREAMS)):
        parser.add_argument(
            f"--{name}",
            default=",".join(known),
            metavar="A,B,...",
            help=f"some of {', '.join(known)} (default: all)",
        )
    parser.add_argument(
        "--limit",
        type=whole_number,
        metavar="N",
        help="only the first N samples (default: all of a file, 100,000 of the others)",
    )
    parser.add_argument(
        "--repeats",
        type=whole_number,
        default=3,
        metavar="N",
        help="runs of each; the fastest one gives the speed (default 3)",
    )
    parser.set_defaults(benchmark="family", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Measure what was asked for and write it down."""
    check_outputs(arguments)
    check_at_least_one(repeats=arguments.repeats)
    members = chosen("--members", arguments.members, MEMBERS)
    names = chosen("--streams", arguments.streams, STREAMS)
    check_members(members)
    missing = say_missing({name: FILES.get(name) for name in names}, arguments)
    streams = {name: open_named(name, arguments) for name in names if name not in missing}
    if not streams:
        raise UserError("no stream is available")
    for name in members:
        compile_kernels(MODEL, MEMBERS[name].parameters)
    with showing("learning") as update:
        cells = measure(streams, members, arguments.repeats, update)
    command = command_text(arguments, _TOLD)
    text = markdown(cells, streams, command, missing)
    write_markdown(arguments, text)
    return 0

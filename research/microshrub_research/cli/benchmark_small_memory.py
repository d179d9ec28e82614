"""`microshrub benchmark small-memory`: the best known models within 16 and 64 KB."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import replace

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.cli.outputs import check_outputs
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.cli.run_options import add_run_options, jobs_of
from microshrub_host.cli.stream_options import compile_kernels

from ..benchmarks.best_known import PICKS, RIVALS
from ..benchmarks.family_members import WARMUP
from ..benchmarks.known_streams import CHOSEN
from ..benchmarks.small_memory import contenders, markdown
from ..compare import catalogue
from ..compare.catalogue import PEERS
from ..compare.contender import Contender
from ..compare.runner import Cell, compare
from ..papers.data_folder import data_folder
from .benchmark_options import (
    add_output_options,
    chosen,
    command_text,
    say_missing,
    write_markdown,
)

_LIMIT = 3600  # seconds
_TOLD = ("streams", "moa", "limit")  # in the command that the page shows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    parser.add_argument(
        "--streams",
        default=",".join(CHOSEN),
        metavar="A,B,...",
        help=f"some of {', '.join(CHOSEN)} (default: all)",
    )
    parser.add_argument(
        "--moa", action="store_true", help="run MOA's learners, too (default: off)"
    )
    parser.add_argument(
        "--limit", type=whole_number, metavar="N", help="only the first N samples (default: all)"
    )
    add_run_options(parser, _LIMIT)
    parser.set_defaults(
        benchmark="small-memory", usual={name: parser.get_default(name) for name in _TOLD}
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure the picks whose streams are there."""
    check_at_least_one(time_limit=arguments.time_limit)
    check_outputs(arguments)
    names = chosen("--streams", arguments.streams, CHOSEN)
    if arguments.moa:
        catalogue.require(PEERS[name] for rivals in RIVALS.values() for name in rivals)
    missing = say_missing({name: CHOSEN[name].file for name in names}, arguments)
    there = [name for name in names if name not in missing]
    picks = [pick for pick in PICKS if pick.stream in there]
    if not picks:
        raise UserError("no stream is available")
    for pick in picks:
        compile_kernels(pick.model, pick.parameters)
    jobs = jobs_of(arguments, len(picks), "learners")
    cells: dict[tuple[str, str], Cell] = {}
    for name in there:
        own = [pick for pick in picks if pick.stream == name]
        for cell in _learn(name, contenders(own, arguments.moa), arguments, jobs):
            cells[name, cell.name] = replace(cell, stream=name)
    text = markdown(picks, cells, arguments.moa, command_text(arguments, _TOLD))
    write_markdown(arguments, text)
    return 0


def _learn(
    name: str, learners: Collection[Contender], arguments: argparse.Namespace, jobs: int
) -> list[Cell]:
    stream = CHOSEN[name].open(name, data_folder(arguments.data), arguments.limit)
    with showing(name, announce=True) as update:
        found = compare(
            list(learners),
            stream,
            warmup=WARMUP,
            limit=arguments.time_limit,
            jobs=jobs,
            progress=update,
        )
        return list(found)

"""`microshrub benchmark growth`: the cost of a sample as the stream grows longer."""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console, showing
from microshrub_host.cli.options import add_model_options
from microshrub_host.cli.stream_options import (
    add_stream_options,
    compile_kernels,
    open_with_parameters,
)
from microshrub_host.library.learners import WARMUP

from ..benchmarks.per_sample_growth import POINTS, WINDOW, SampleCost, measure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_stream_options(parser)
    parser.add_argument(
        "--samples",
        metavar="N,N,...",
        default=",".join(map(str, POINTS)),
        help=f"after how many samples to measure (default {','.join(map(str, POINTS))})",
    )
    add_model_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print the table."""
    points = points_of(arguments.samples)
    stream, parameters = open_with_parameters(arguments)
    compile_kernels(arguments.model, parameters)
    with showing("learning") as update:
        costs = measure(
            stream,
            arguments.model,
            parameters,
            points,
            warmup=arguments.warmup or WARMUP,
            progress=update,
        )
    print_costs(costs)
    return 0


def points_of(text: str) -> list[int]:
    """Return the points of `--samples`; raise UserError unless they are ascending
    whole numbers from 2 on.
    """
    words = text.split(",")
    points = [int(word) if word.strip().isdecimal() else 0 for word in words]
    if points[0] < 2 or any(b <= a for a, b in itertools.pairwise(points)):
        raise UserError(f"--samples has to be ascending numbers from 2 on, not {text!r}")
    return points


def print_costs(costs: Sequence[SampleCost]) -> None:
    """Print a row for each point; the ratios are to the first point."""
    table = Table("samples", "ns", "ratio", "lines", "ratio", "median", "most")
    for name in costs[0].progress:
        table.add_column(name.replace("_", " "))
    for column in table.columns:
        column.justify = "right"
    first = costs[0]
    for cost in costs:
        mean = statistics.mean(cost.lines)
        words = (
            f"{cost.samples:,}",
            f"{cost.nanoseconds:,.0f}",
            f"{cost.nanoseconds / first.nanoseconds:.2f}",
            f"{mean:,.1f}",
            f"{mean / statistics.mean(first.lines):.2f}",
            f"{statistics.median(cost.lines):,.0f}",
            f"{max(cost.lines):,}",
            *[f"{value:,}" for value in cost.progress.values()],
        )
        table.add_row(*map(Text, words))
    console.print(table)
    console.say(
        "ns: nanoseconds per sample on the engine llvm, the median of repeated blocks. lines: "
        "of the firmware executed per sample, counted exactly; mean, median and most of the "
        f"{WINDOW} samples after each point."
    )

"""`microshrub benchmark anomaly`: the anomaly score beside River's half-space trees."""

from __future__ import annotations

import argparse

from ..base.progress import showing
from ..benchmarks.anomaly_scores import FILES, markdown, measure, tasks
from ..benchmarks.known_streams import STREAMS
from ..streams.data_folder import data_folder
from .benchmark_options import (
    add_output_options,
    chosen,
    command_text,
    say_missing,
    write_markdown,
)
from .outputs import check_outputs

_TOLD = ("streams",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    parser.add_argument(
        "--streams",
        default=",".join(FILES),
        metavar="A,B,...",
        help=f"recordings beside AnomalySine, some of {', '.join(FILES)} (default: all)",
    )
    parser.set_defaults(benchmark="anomaly", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Measure the streams that are there and write it down."""
    check_outputs(arguments)
    names = chosen("--streams", arguments.streams, FILES)
    missing = say_missing({name: STREAMS[name].file for name in names}, arguments)
    there = [name for name in names if name not in missing]
    found: dict[str, list[dict[str, list[float]]]] = {}
    for task in tasks(data_folder(arguments.data), there):
        with showing(task.name, announce=True) as update:
            found.setdefault(task.name, []).append(measure(task, update))
    write_markdown(arguments, markdown(found, command_text(arguments, _TOLD)))
    return 0

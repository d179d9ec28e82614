"""`microshrub benchmark anomaly`: the anomaly score beside River's half-space trees."""

from __future__ import annotations

import argparse

from microshrub_host.base.side_by_side import Progress
from microshrub_host.cli.outputs import check_outputs

from ..benchmarks.anomaly_scores import FILES, Task, markdown, measure, tasks
from ..benchmarks.known_streams import STREAMS
from ..papers.data_folder import data_folder
from .benchmark_options import (
    add_output_options,
    add_streams_jobs,
    chosen,
    command_text,
    each_of,
    say_missing,
    write_markdown,
)

_TOLD = ("streams",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    add_streams_jobs(parser)
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
    all_tasks = list(tasks(data_folder(arguments.data), there))
    for task, areas in zip(all_tasks, each_of(arguments, all_tasks, _areas), strict=True):
        found.setdefault(task.name, []).append(areas)
    write_markdown(arguments, markdown(found, command_text(arguments, _TOLD)))
    return 0


def _areas(task: Task, progress: Progress) -> dict[str, list[float]]:
    return measure(task, lambda done, total: progress(done, total, task.name))

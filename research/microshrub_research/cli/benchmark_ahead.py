"""`microshrub benchmark ahead`: forecasts 1 to 120 samples ahead, beside River's, as a table."""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

from microshrub_host.base.side_by_side import Progress
from microshrub_host.cli.outputs import check_outputs
from microshrub_host.cli.stream_options import compile_kernels
from microshrub_host.library import loader

from ..benchmarks.ahead import FILES, HORIZONS, MODEL, AheadRow, measure, names, page
from ..papers.data_folder import data_folder
from .benchmark_options import (
    add_output_options,
    add_streams_jobs,
    command_text,
    each_of,
    say_missing,
    write_markdown,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    add_streams_jobs(parser)
    parser.set_defaults(benchmark="ahead", usual={})


def run(arguments: argparse.Namespace) -> int:
    """Run them all and write the tables."""
    check_outputs(arguments)
    missing = say_missing(
        {name: FILES[name][0] if name in FILES else None for name in names()}, arguments
    )
    compile_kernels(MODEL, {}, loader.fastest())
    there = [name for name in names() if name not in missing]
    rows = each_of(arguments, there, partial(_row, data_folder(arguments.data)))
    write_markdown(arguments, page(rows, command_text(arguments, [])))
    return 0


def _row(folder: Path | None, name: str, progress: Progress) -> AheadRow:
    cells = []
    with tempfile.TemporaryDirectory() as work:
        for horizon in HORIZONS:
            cells.append(measure(name, horizon, folder, Path(work)))
            note = f"{name}, {horizon} ahead: {cells[-1].thicket:.3f}"
            progress(len(cells), len(HORIZONS), note)
    return AheadRow(name, tuple(cells))

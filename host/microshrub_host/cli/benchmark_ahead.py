"""`microshrub benchmark ahead`: forecasts 1 to 120 samples ahead, beside River's, as a table."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from ..base.progress import showing
from ..benchmarks.ahead import FILES, HORIZONS, MODEL, AheadRow, measure, names, page
from ..library import loader
from ..streams.data_folder import data_folder
from .benchmark_options import add_output_options, command_text, say_missing, write_markdown
from .outputs import check_outputs
from .stream_options import compile_kernels


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    parser.set_defaults(benchmark="ahead", usual={})


def run(arguments: argparse.Namespace) -> int:
    """Run them all and write the tables."""
    check_outputs(arguments)
    missing = say_missing(
        {name: FILES[name][0] if name in FILES else None for name in names()}, arguments
    )
    compile_kernels(MODEL, {}, loader.fastest())
    folder = data_folder(arguments.data)
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for name in names():
            if name not in missing:
                rows.append(_row(name, folder, Path(work)))
    write_markdown(arguments, page(rows, command_text(arguments, [])))
    return 0


def _row(name: str, folder: Path | None, work: Path) -> AheadRow:
    cells = []
    with showing(name) as update:
        for horizon in HORIZONS:
            cells.append(measure(name, horizon, folder, work))
            update(len(cells), len(HORIZONS), f"{horizon} ahead: {cells[-1].thicket:.3f}")
    return AheadRow(name, tuple(cells))

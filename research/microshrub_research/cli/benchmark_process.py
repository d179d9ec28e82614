"""`microshrub benchmark process`: what a whole process of simulate takes on this PC."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages, showing
from microshrub_host.cli.outputs import check_outputs
from microshrub_host.cli.parsed import check_at_least_one, whole_number

from ..benchmarks.process_cost import ProcessCost, measure, page, write_file
from ..papers.data_folder import data_folder
from .benchmark_options import FILES, add_output_options, command_text, say_missing, write_markdown

_USUAL: dict[str, Any] = {"rows": "1000000", "repeats": 3}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    parser.add_argument(
        "--rows",
        metavar="N,N,...",
        default=_USUAL["rows"],
        help=f"rows of the files to make for it, 172 MB per million (default {_USUAL['rows']}); "
        "none: 0",
    )
    parser.add_argument(
        "--repeats",
        type=whole_number,
        metavar="N",
        default=_USUAL["repeats"],
        help=f"how often each process is started (default {_USUAL['repeats']})",
    )
    parser.set_defaults(benchmark="process", usual=_USUAL)


def run(arguments: argparse.Namespace) -> int:
    """Run them all and write the table."""
    check_outputs(arguments)
    check_at_least_one(repeats=arguments.repeats)
    sizes = sizes_of(arguments.rows)
    costs: list[ProcessCost] = []
    with tempfile.TemporaryDirectory() as folder, showing("processes") as update:
        place = Path(folder)

        def tell(text: str) -> None:
            update(len(costs), 4 + 4 * len(sizes), text)

        if not say_missing({"elec": FILES["elec"]}, arguments):
            elec = (data_folder(arguments.data) or Path()) / FILES["elec"]
            costs += measure(elec, place, arguments.repeats, cold=True, progress=tell)
        for rows in sizes:
            data = place / f"rows-{rows}.csv"
            tell(f"writing {data.name}")
            write_file(data, rows)
            for numbers in (False, True):
                costs += measure(data, place, arguments.repeats, numbers=numbers, progress=tell)
            data.unlink()
    if not costs:
        messages.say("Nothing was measured.")
        return 1
    text = page(costs, arguments.repeats, command_text(arguments, list(_USUAL)))
    write_markdown(arguments, text)
    return 0


def sizes_of(text: str) -> list[int]:
    """The numbers of --rows but for 0. Raises UserError for what is none."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdigit() for word in words):
        raise UserError(f"--rows has to be whole numbers with commas between, not {text}")
    return [int(word) for word in words if int(word)]

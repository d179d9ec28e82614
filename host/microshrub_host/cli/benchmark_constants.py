"""`microshrub benchmark constants`: what each of Thicket's constants is worth."""

from __future__ import annotations

import argparse

from ..base.progress import showing
from ..benchmarks.other_constants import CHOICES, Accuracies, Choice, ChoiceRuns, markdown, measure
from ..streams.data_folder import data_folder
from .benchmark_options import (
    add_output_options,
    add_streams_option,
    available_streams,
    command_text,
    sizes_of,
    write_markdown,
)
from .outputs import check_outputs
from .parsed import check_at_least_one, whole_number

_LIMIT = 3600  # seconds for one choice
_TOLD = ("streams", "bytes", "seeds", "limit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    add_streams_option(parser, usual="chosen")
    parser.add_argument(
        "--bytes",
        default="16384,65536",
        metavar="N,M,...",
        help="sizes of Thicket (default: 16384,65536)",
    )
    parser.add_argument(
        "--seeds", type=whole_number, default=1, metavar="N", help="runs of each (default 1)"
    )
    parser.add_argument(
        "--limit", type=whole_number, metavar="N", help="only the first N samples (default: all)"
    )
    parser.set_defaults(benchmark="constants", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Measure one choice after the other; after each, write down what there is by then."""
    check_at_least_one(seeds=arguments.seeds)
    check_outputs(arguments)
    task = _task(arguments)
    found: dict[Choice, Accuracies] = {}
    with showing("constants", announce=True) as update:
        for choice in CHOICES:
            update(len(found), len(CHOICES), choice.words)
            found[choice] = measure(choice, task)
            if arguments.output is not None and len(found) > 1:
                _write(arguments, found)
    if arguments.output is None:
        _write(arguments, found)
    return 0


def _task(arguments: argparse.Namespace) -> ChoiceRuns:
    """What to run. Raises UserError for unknown streams, and if none is available."""
    return ChoiceRuns(
        streams=available_streams(arguments),
        sizes=sizes_of(arguments.bytes),
        seeds=arguments.seeds,
        data=data_folder(arguments.data),
        limit=arguments.limit,
        seconds=_LIMIT,
    )


def _write(arguments: argparse.Namespace, found: dict[Choice, Accuracies]) -> None:
    write_markdown(arguments, markdown(found, command_text(arguments, _TOLD), arguments.seeds))

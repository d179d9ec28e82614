"""`microshrub parity`: whether all engines compute the same bits."""

from __future__ import annotations

import argparse
import functools

from ..base.terminal import console, messages
from ..base.text import count
from ..engines import engines, native_files
from ..engines.learners import MODELS
from ..engines.micropython_binary import find_or_fetch
from ..evaluation import parity, prequential
from .anomaly_option import add_anomaly_option, anomaly_options
from .options import add_model_options
from .parsed import check_at_least_one, whole_number
from .stream_options import add_stream_options, compile_kernels, open_with_parameters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_stream_options(parser)
    parser.add_argument(
        "--every",
        type=whole_number,
        default=200,
        metavar="N",
        help="compare after every N samples (default 200)",
    )
    parser.add_argument(
        "--native",
        action="store_true",
        help="also run what `build --native` makes, on the real MicroPython (default: off)",
    )
    add_anomaly_option(parser)
    add_model_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the model's hash on each engine now and then; 1 if they differ."""
    check_at_least_one(every=arguments.every)
    anomaly = anomaly_options(arguments)
    stream, parameters = open_with_parameters(arguments)
    find_or_fetch(messages.say)
    names = engines.available()
    for name in names:
        if name in ("numba", "c"):
            compile_kernels(arguments.model, parameters, name)
    if "c" not in names:
        messages.say("Note: there is no C compiler here, so the engine c is left out.")
    if arguments.native and native_files.can_be_made("x86", messages.say):
        names += (engines.NATIVE,)
    kind = MODELS[arguments.model]
    beside = anomaly.parameters() if anomaly else None
    starters = {
        name: functools.partial(engines.start, name, kind, parameters, beside) for name in names
    }
    rows = prequential.raw_rows(stream)
    console.say(f"{'samples':>9}  " + "  ".join(f"{n:>11}" for n in names))
    steps = parity.check(
        starters, rows, stream.labels, warmup=arguments.warmup, every=arguments.every
    )
    for step in steps:
        if isinstance(step, parity.Difference):
            console.say(str(step))
            return 1
        crcs = "  ".join(f"{step.crcs[name]:08x}".rjust(11) for name in names)
        console.say(f"{step.samples:>9,}  {crcs}")
    console.say(
        f"All {len(names)} engines are identical: {count(len(rows), 'sample')}, compared after "
        f"every {arguments.every:,}."
    )
    return 0

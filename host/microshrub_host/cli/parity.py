"""`microshrub parity`: a check that all engines compute the same bits."""

from __future__ import annotations

import argparse
import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.micropython_binary import find_or_fetch
from ..base.terminal import console, messages
from ..base.text import count
from ..evaluation import parity
from ..library import loader
from ..library.learners import WARMUP, learner_name
from ..programs import native_files
from ..simulation import engines
from ..simulation.engine_interface import NO_LABELS, EngineError, Labels
from ..simulation.pipeline import pipeline
from ..streams.stream import Extraction
from ..streams.units import Raw
from .options import (
    add_companion_options,
    add_model_options,
    companions_of,
    companions_on_stream,
    model_parameters,
)
from .parsed import check_at_least_one, whole_number
from .plain_parser import show_first
from .regression_options import (
    add_number_options,
    open_numbers_arguments,
    open_readings,
    wants_numbers,
)
from .stream_options import (
    STREAM_OPTIONS,
    add_stream_options,
    compile_kernels,
    made_of,
    open_rows,
    parameters_for,
)


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
        help="also run native kernels, on the real MicroPython (default: off)",
    )
    add_companion_options(parser, simulated=True)
    add_number_options(parser)
    add_model_options(parser, numbers=True)
    show_first(
        parser,
        *STREAM_OPTIONS,
        "--model",
        "--every",
        "--native",
        "--target",
        "--horizon",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the model's hash on each engine at intervals; return 1 if the engines differ."""
    check_at_least_one(every=arguments.every)
    rows, labels, parameters, more = _open(arguments)
    find_or_fetch(messages.say)
    names = engines.available()
    for name in names:
        if name in loader.COMPILED:
            compile_kernels(arguments.model, parameters, name)
    if "c" not in names:
        messages.say("Note: there is no C compiler here, so the engine c is left out.")
    if arguments.native and native_files.can_be_made("x86"):
        names += (engines.NATIVE,)
    start = functools.partial(
        engines.start, learner=learner_name(arguments.model), parameters=parameters, **more
    )
    starters = {name: functools.partial(start, name) for name in names}
    console.say(f"{'samples':>9}  " + "  ".join(f"{n:>11}" for n in names))
    steps = parity.check(starters, rows, labels, warmup=arguments.warmup, every=arguments.every)
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


def _compare_features(
    readings: NDArray[np.float64], samples: int, features: int, extraction: Extraction
) -> None:
    """Report that all engines make the same features. Raises EngineError if they differ."""
    names = engines.available()
    result = parity.difference(readings, extraction, names)
    if result:
        raise EngineError(f"The features are not the same: {result}")
    console.say(
        f"All {len(names)} engines make the same features: "
        f"{count(samples, 'sample')} of {features}."
    )


def _open(
    arguments: argparse.Namespace,
) -> tuple[Raw, Labels, dict[str, Any], dict[str, Any]]:
    """Return raw rows, labels, the model's parameters, and more arguments of engines.start()."""
    if not wants_numbers(arguments):
        companions_of(arguments)  # checked before slow work
        model_parameters(arguments)
        read = open_rows(arguments)
        stream = made_of(arguments, read)
        parameters = parameters_for(arguments, stream)
        if stream.extraction:
            width = len(stream.feature_names)
            _compare_features(read.values, stream.samples, width, stream.extraction)
        companions, parameters = companions_on_stream(arguments, stream, parameters)
        more = {"companions": companions, "growing": not arguments.warmup}
        return stream.raw_rows(), stream.labels, parameters, more
    readings = None if arguments.features is None else open_readings(arguments)
    numbers, parameters, target = open_numbers_arguments(arguments, readings)
    if readings and numbers.extraction:
        rows, columns = numbers.columns.shape
        _compare_features(readings.columns, rows, columns, numbers.extraction)
    arguments.warmup = numbers.first_rows(arguments.warmup or WARMUP)
    return numbers.raw_rows(), NO_LABELS, parameters, {"companions": pipeline(None, target)}

"""`microshrub dev soak`: memory and time per sample do not grow with the length of the stream.

The model also has to stay equal to the simulator's, which learns the same samples.
"""

from __future__ import annotations

import argparse
import itertools
import re
import time
from collections import deque

import numpy as np

from microshrub_host.base import micropython_binary
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console, messages, showing
from microshrub_host.cli.options import add_model_options
from microshrub_host.cli.parsed import whole_number
from microshrub_host.cli.plain_parser import show_first
from microshrub_host.cli.stream_options import (
    add_stream_options,
    compile_kernels,
    open_with_parameters,
)
from microshrub_host.library import loader
from microshrub_host.library.learners import MODELS
from microshrub_host.simulation import engines
from microshrub_host.simulation.engine_interface import Engine
from microshrub_host.simulation.micropython_engine import MicroPythonEngine
from microshrub_host.streams.stream import Stream

_BLOCK = 1000  # samples sent at a time, or fewer if their rows would fill 1/16 of the heap
_FIRST = 10_000  # samples at the first mark, and in the mean of a time
_STALE = 64  # bytes that the collector may keep because of false pointers on the C stack
_SLOWER = 1.5  # a ratio of times that is reported; a lower one may be the PC's other work


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Let a real MicroPython learn a stream over and over, with the heap locked while it "
        "learns. Print heap and time per sample; exit with 1 if the heap grew, or if the model "
        "is not the same as the simulator's in the end."
    )
    add_stream_options(parser)
    parser.add_argument(
        "--samples",
        type=whole_number,
        default=1_000_000,
        metavar="N",
        help="samples to learn; the stream is repeated (default 1000000)",
    )
    parser.add_argument(
        "--heap",
        default="64m",
        metavar="SIZE",
        help="MicroPython's heap, such as 64k (default 64m)",
    )
    add_model_options(parser)
    show_first(parser, "--model", "--samples", "--heap")


def marks(samples: int) -> list[int]:
    """Return when to measure: after 10,000 samples, ten times as many etc., and at the end."""
    result = []
    mark = _FIRST
    while mark < samples:
        result.append(mark)
        mark *= 10
    return [*result, samples]


def run(arguments: argparse.Namespace) -> int:
    """Print a line at every mark, and the conclusion; return 1 if the heap grew."""
    if arguments.samples < 2 * _FIRST:
        raise UserError(
            f"--samples has to be at least {2 * _FIRST:,}, for two measurements, not "
            f"{arguments.samples:,}"
        )
    heap = heap_size(arguments.heap)
    stream, parameters = open_with_parameters(arguments)
    micropython_binary.find_or_fetch(messages.say)
    compile_kernels(arguments.model, parameters)
    learner = MODELS[arguments.model]
    block = max(1, min(_BLOCK, heap // 16 // (6 * stream.values.shape[1])))
    growing = not arguments.warmup
    with (
        MicroPythonEngine(
            learner, parameters, heap=arguments.heap, compiled=True, growing=growing
        ) as engine,
        engines.start(loader.fastest(), learner, parameters, growing=growing) as twin,
    ):
        rows = stream.raw_rows()[: arguments.warmup]
        for each in (engine, twin):
            for at in range(0, len(rows), block):
                each.observe(rows[at : at + block])
            if not growing:
                each.freeze()
        heaps, times = _measure(engine, twin, stream, block, arguments.samples)
        crcs = [each.status().state_crc32 for each in (engine, twin)]
    if crcs[0] != crcs[1]:
        console.say(f"The model's CRC32 is {crcs[0]:08x}, the simulator's {crcs[1]:08x}.")
        return 1
    console.say(f"The model is the simulator's: CRC32 {crcs[0]:08x}.")
    return conclude(heaps, times)


def heap_size(text: str) -> int:
    """Return the bytes of a size such as 64k or 2m. Raises UserError for any other text."""
    match = re.fullmatch(r"(\d+)([km]?)", text.lower())
    if not match or not int(match[1]):
        raise UserError(f"--heap has to be a size such as 64k or 2m, not {text!r}")
    return int(match[1]) * {"": 1, "k": 1024, "m": 1024 * 1024}[match[2]]


def _measure(
    engine: MicroPythonEngine,
    twin: Engine,
    stream: Stream,
    block: int,
    samples: int,
) -> tuple[list[int], list[float]]:
    """Return heap bytes and microseconds a sample at every mark."""
    rows = stream.raw_rows()
    heaps, times, stops = [], [], marks(samples)
    last: deque[tuple[int, float]] = deque(maxlen=_FIRST // block)  # samples, seconds
    console.say(f"{'samples':>12}  {'heap, bytes':>12}  {'us per sample':>12}")
    with showing("soak") as update:
        ends = sorted({*range(block, samples, block), *stops})
        for begin, end in itertools.pairwise([0, *ends]):
            at = np.arange(begin, end) % len(rows)
            started = time.perf_counter()
            if len(at) > 1:
                engine.run(rows[at[:-1]], stream.labels[at[:-1]])
            engine.run(rows[at[-1:]], stream.labels[at[-1:]])  # leaves no large block behind
            last.append((end - begin, time.perf_counter() - started))
            twin.run(rows[at], stream.labels[at])
            update(end, samples)
            if end in stops:
                heaps.append(engine.heap_bytes())
                times.append(sum(t for _, t in last) / sum(n for n, _ in last) * 1e6)
                console.say(f"{end:>12,}  {heaps[-1]:>12,}  {times[-1]:>12.1f}")
    return heaps, times


def conclude(heaps: list[int], times: list[float]) -> int:
    """Print the conclusion from the measurements; return 1 if the heap grew."""
    ratio = times[-1] / times[0]
    slower = ": it became slower." if ratio > _SLOWER else "."
    console.say(f"The last time per sample is {ratio:.2f} times the first{slower}")
    grew = max(heaps) - heaps[0] > _STALE
    console.say("The heap grew." if grew else "Nothing was allocated while learning.")
    return int(grew)

"""`microshrub soak`: memory and time per sample do not grow with the length of the stream."""

from __future__ import annotations

import argparse
import time
from collections import deque
from typing import Any

import numpy as np

from microshrub_host import engines, micropython_binary, simulate
from microshrub_host.commands import add_stream_options, open_with_parameters
from microshrub_host.errors import UserError
from microshrub_host.options import MODELS, add_model_options, whole_number
from microshrub_host.progress import showing
from microshrub_host.streams import Stream
from microshrub_host.terminal import console, messages

_BLOCK = 1000
_FIRST = 10_000  # the first mark, and the samples that a time is the mean of
_STALE = 64  # bytes that the collector may keep for what looks like pointers on the C stack
_SLOWER = 1.5  # a ratio of times that is worth a word; below it may be the PC's other work


def add_command(commands: Any) -> None:
    """Add the subcommand to argparse's subparsers."""
    text = (
        "Run a stream over and over on the real MicroPython, with the heap locked while it "
        "learns; print heap and time per sample; exit with 1 if the heap grew."
    )
    parser = commands.add_parser("soak", help=text, description=text)
    add_stream_options(parser)
    add_model_options(parser)
    parser.add_argument(
        "--samples",
        type=whole_number,
        default=1_000_000,
        metavar="N",
        help="how many to learn, the stream again and again (default 1000000)",
    )
    parser.set_defaults(run=soak)


def marks(samples: int) -> list[int]:
    """When to measure: after 10,000 samples, after ten times as many and so on, and at the end."""
    found = []
    mark = _FIRST
    while mark < samples:
        found.append(mark)
        mark *= 10
    return [*found, samples]


def soak(arguments: argparse.Namespace) -> int:
    """Print a line at every mark and what they show; 1 if the heap grew."""
    if arguments.samples < 2 * _FIRST:
        raise UserError(
            f"--samples has to be at least {2 * _FIRST:,}, for two measurements, not "
            f"{arguments.samples:,}"
        )
    stream, parameters = open_with_parameters(arguments)
    micropython_binary.find_or_fetch(messages.say)
    kind = MODELS[arguments.model]
    with engines.MicroPythonEngine(kind, parameters) as engine:
        heaps, times = _measure(engine, stream, arguments.warmup, arguments.samples)
    return conclude(heaps, times)


def _measure(
    engine: engines.MicroPythonEngine, stream: Stream, warmup: int, samples: int
) -> tuple[list[int], list[float]]:
    """Heap bytes and microseconds a sample at every mark."""
    rows = simulate.raw_rows(stream)
    simulate.fit(engine, rows, warmup)
    heaps, times, stops = [], [], marks(samples)
    last: deque[tuple[int, float]] = deque(maxlen=_FIRST // _BLOCK)  # samples, seconds
    console.say(f"{'samples':>12}  {'heap, bytes':>12}  {'us a sample':>12}")
    with showing("soak") as update:
        for begin in range(0, samples, _BLOCK):
            end = min(begin + _BLOCK, samples)
            at = np.arange(begin, end) % len(rows)
            started = time.perf_counter()
            if len(at) > 1:
                engine.run(rows[at[:-1]], stream.labels[at[:-1]])
            engine.run(rows[at[-1:]], stream.labels[at[-1:]])  # leaves no large block behind
            last.append((end - begin, time.perf_counter() - started))
            update(end, samples)
            if end in stops:
                heaps.append(engine.heap_bytes())
                times.append(sum(t for _, t in last) / sum(n for n, _ in last) * 1e6)
                console.say(f"{end:>12,}  {heaps[-1]:>12,}  {times[-1]:>12.1f}")
    return heaps, times


def conclude(heaps: list[int], times: list[float]) -> int:
    """Say what the measurements show; 1 if the heap grew."""
    ratio = times[-1] / times[0]
    slower = ": it became slower." if ratio > _SLOWER else "."
    console.say(f"The last time per sample is {ratio:.2f} times the first{slower}")
    grew = max(heaps) - heaps[0] > _STALE
    console.say("The heap grew." if grew else "Nothing was allocated while learning.")
    return int(grew)

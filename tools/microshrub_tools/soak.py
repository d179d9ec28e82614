"""`microshrub soak`: memory and time per sample do not grow with the length of the stream."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from microshrub_host import engines, simulate
from microshrub_host.commands import add_stream_options, open_arguments
from microshrub_host.errors import UserError
from microshrub_host.options import MODELS, add_model_options, model_parameters, whole_number
from microshrub_host.progress import showing
from microshrub_host.report import console

_BLOCK = 1000
_FIRST = 10_000
_STALE = 64  # bytes that the collector may keep for what looks like pointers on the C stack


def add_command(commands: Any) -> None:
    """Add the subcommand to argparse's subparsers."""
    text = (
        "Run a stream over and over on the real MicroPython, with the heap locked while it "
        "learns; print heap and time per sample."
    )
    parser = commands.add_parser("soak", help=text, description=text)
    add_stream_options(parser)
    add_model_options(parser)
    parser.add_argument("--samples", type=whole_number, default=1_000_000, metavar="N")
    parser.set_defaults(run=soak)


def soak(arguments: argparse.Namespace) -> int:
    """Print a line after 10,000 samples, ten times as many, and so on; 1 if the heap grew."""
    if arguments.samples < _FIRST:
        raise UserError(f"--samples has to be at least {_FIRST:,}, not {arguments.samples:,}")
    stream = open_arguments(arguments)
    rows = simulate.raw_rows(stream, arguments.warmup)
    order = np.arange(_BLOCK)
    marks = [_FIRST * 10**k for k in range(12) if _FIRST * 10**k <= arguments.samples]
    shape = (rows.shape[1], len(stream.class_names))
    kind, parameters = MODELS[arguments.model], model_parameters(arguments)
    heaps = []
    console.print(f"{'samples':>12}  {'heap, bytes':>12}  {'us a sample':>12}")
    with engines.MicroPythonEngine(kind, parameters, *shape) as engine, showing("soak") as update:
        simulate.fit(engine, rows, arguments.warmup)
        spent = 0.0
        for done in range(_BLOCK, arguments.samples + 1, _BLOCK):
            at = (order + done - _BLOCK) % len(rows)
            begin = time.perf_counter()
            engine.run(rows[at[:-1]], stream.labels[at[:-1]])
            engine.run(rows[at[-1:]], stream.labels[at[-1:]])  # leaves no large block behind
            spent += time.perf_counter() - begin
            update(done, arguments.samples)
            if done % _FIRST == 0:
                if done in marks:
                    heaps.append(engine.heap_bytes())
                    micros = spent / _FIRST * 1e6
                    console.print(f"{done:>12,}  {heaps[-1]:>12,}  {micros:>12.1f}")
                spent = 0.0
    grew = max(heaps) - min(heaps) > _STALE
    console.print("The heap grew." if grew else "Nothing was allocated while learning.")
    return int(grew)

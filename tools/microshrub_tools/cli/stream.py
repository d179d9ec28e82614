"""`microshrub stream`: a recorded stream drives the device, with the simulator in step."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from rich.table import Table

from microshrub_host.base.progress import showing
from microshrub_host.base.terminal import console, messages
from microshrub_host.base.text import count
from microshrub_host.cli.stream_options import add_stream_options, compile_kernels, open_arguments
from microshrub_host.engines.learners import model_of
from microshrub_host.engines.status import percent

from ..board.ports import add_port_option, chosen_port
from ..board.simulated_device import CONFIG, find_twin
from ..link.board_names import read_configuration, version_note
from ..link.client import HostLink
from ..link.messages import Welcome
from ..link.serial_line import SerialLine
from ..watch.streaming import DeviceRun, Figures

_RECENT = 1000  # samples that the latencies on the way are of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Let a board learn a recorded stream, predicting each sample before it is learned; stop "
        "at the first prediction that is not the simulator's."
    )
    add_stream_options(parser)
    add_port_option(parser)
    parser.add_argument(
        "--rate",
        type=_rate,
        default=0.0,
        metavar="HZ",
        help="samples a second (default: as fast as the board takes them)",
    )
    parser.add_argument(
        "--build",
        type=Path,
        metavar="FOLDER",
        help=f"the folder that was flashed, with its {CONFIG} (default: look in build/)",
    )
    parser.add_argument(
        "--reset",
        action="store_true",
        help="make the board forget what it learned (default: continue if it learned this stream)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Drive the device and print what came out."""
    port = chosen_port(arguments.port)
    data = open_arguments(arguments)
    with HostLink(SerialLine(port)) as link:
        welcome = link.connect()
        note = version_note(read_configuration(link, welcome))
        if note:
            messages.say(note)
        twin = find_twin(welcome.configuration_hash, arguments.build)
        rows = twin.raw_rows(data)
        configuration = twin.configuration
        compile_kernels(model_of(configuration.learner), configuration.parameters)
        twin.prepare(rows)
        with showing("stream") as update:
            run = DeviceRun(
                link,
                twin,
                rows,
                data.labels,
                rate=arguments.rate,
                progress=lambda figures: update(figures.samples, figures.total, _note(figures)),
            )
            crc32 = run.run(reset=arguments.reset)
    _print(run.figures, welcome, crc32)
    return 0


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < math.inf:
        raise argparse.ArgumentTypeError(f"has to be a number above 0, not {text!r}")
    return rate


def _note(figures: Figures) -> str:
    heap = f"{figures.status.heap_used:,} B" if figures.status else ""
    return (
        f"accuracy {figures.accuracy:.2f} %, simulator {figures.simulated_accuracy:.2f} %, "
        f"p50 {figures.latency(50, _RECENT):.1f} ms, p99 {figures.latency(99, _RECENT):.1f} ms, "
        f"heap {heap}"
    )


def _print(figures: Figures, welcome: Welcome, crc32: int) -> None:
    """What came out, for people."""
    assert figures.status
    table = Table(show_header=False)
    for row in (
        ("accuracy on the device", f"{figures.accuracy:.2f} %"),
        ("accuracy in the simulator", f"{figures.simulated_accuracy:.2f} %"),
        ("  NoChange (the last label)", f"{percent(figures.status.accuracy_nochange):.2f} %"),
        ("latency p50", f"{figures.latency(50):.1f} ms"),
        ("latency p99", f"{figures.latency(99):.1f} ms, up to {welcome.window} under way"),
        ("heap in use", f"{figures.status.heap_used:,} bytes"),
        ("heap free", f"{figures.status.heap_free:,} bytes"),
        ("drifts", f"{figures.status.drifts:,}"),
        ("restarts of the device", f"{figures.restarts:,}"),
        ("state CRC32", f"{crc32:08x}"),
    ):
        table.add_row(*row)
    console.print(table)
    console.say(
        f"Device and simulator agree: {count(figures.samples, 'sample')}, each prediction and the "
        "state at the end."
    )

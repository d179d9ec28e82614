"""`microshrub stream`: a recorded stream drives the device, with the simulator in step."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

from rich.table import Table

from microshrub_host.base.terminal import console, messages, showing
from microshrub_host.base.text import count
from microshrub_host.cli.plain_parser import show_first
from microshrub_host.cli.regression_options import add_target_option, open_number_stream
from microshrub_host.cli.stream_options import add_stream_options, compile_kernels, open_arguments
from microshrub_host.library.learners import model_name
from microshrub_host.simulation.engine_interface import Labels, percent
from microshrub_host.streams.regression_streams import NumberStream
from microshrub_host.streams.stream import Stream
from microshrub_host.streams.units import Raw

from ..board.ports import add_port_option, chosen_port
from ..board.simulated_device import CONFIG, NumberTwin, QueryTwin, Twin, find_twin
from ..board.stream_of_device import check_alone
from ..link.board_names import read_configuration, version_note
from ..link.client import HostLink
from ..link.lines import open_line
from ..link.messages import Welcome
from ..watch.query_streaming import QueryRun
from ..watch.streaming import DeviceRun, Figures, NumberRun

_RECENT = 1000  # samples in the latencies shown during a run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Let a board learn a recorded stream, predicting each sample before it is learned; stop "
        "at the first prediction that differs from the simulator's."
    )
    add_stream_options(parser)
    add_target_option(parser)
    add_port_option(parser, network=True)
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
    show_first(parser, "--port", "--rate", "--limit", "--build", "--reset")


def run(arguments: argparse.Namespace) -> int:
    """Stream to the device and print the results."""
    port = chosen_port(arguments.port)
    numbers = arguments.target is not None
    data = open_number_stream(arguments) if numbers else open_arguments(arguments)
    with HostLink(open_line(port, arguments.key)) as link:
        welcome = link.connect()
        note = version_note(read_configuration(link, welcome))
        if note:
            messages.say(note)
        twin = find_twin(welcome.configuration_hash, arguments.build)
        check_alone(twin.configuration)
        rows, labels = twin.raw_rows(data), twin.labels(data)
        for note in twin.notes:
            messages.say(note)
        configuration = twin.configuration
        compile_kernels(model_name(configuration.learner), configuration.parameters)
        twin.prepare(rows)
        with showing("stream") as update:
            run = _run(link, twin, rows, labels, arguments.rate, update)
            crc32 = run.run(reset=arguments.reset)
    errors = _mean_errors(twin, data)
    asked = run.asked if isinstance(run, QueryRun) else None
    _print(run.figures, welcome, crc32, errors or _accuracies(run.figures, asked))
    return 0


def _run(
    link: HostLink,
    twin: Twin,
    rows: Raw,
    labels: Labels,
    rate: float,
    update: Callable[[int, int, str], None],
) -> DeviceRun:
    def progress(figures: Figures) -> None:
        update(figures.samples, figures.total, _note(figures, twin))

    if isinstance(twin, NumberTwin):
        return NumberRun(link, twin, rows, rate=rate, progress=progress)
    if isinstance(twin, QueryTwin):
        return QueryRun(link, twin, rows, labels, rate=rate, progress=progress)
    return DeviceRun(link, twin, rows, labels, rate=rate, progress=progress)


def _mean_errors(twin: Twin, data: Stream | NumberStream) -> list[tuple[str, str]]:
    """Return rows with the mean absolute errors; none for classes."""
    if not isinstance(twin, NumberTwin) or isinstance(data, Stream):
        return []
    mae, nochange = twin.mean_errors
    return [
        (f"mean absolute error of {data.target_name}", f"{mae:.5g}"),
        ("  NoChange (the last target)", f"{nochange:.5g}"),
    ]


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < math.inf:
        raise argparse.ArgumentTypeError(f"has to be a number above 0, not {text!r}")
    return rate


def _note(figures: Figures, twin: Twin) -> str:
    heap = f"{figures.status.heap_used:,} B" if figures.status else ""
    if isinstance(twin, NumberTwin):
        how_well = f"MAE {twin.mean_errors[0]:.5g}"
    else:
        how_well = (
            f"accuracy {figures.accuracy:.2f} %, simulator {figures.simulated_accuracy:.2f} %"
        )
    return (
        f"{how_well}, "
        f"p50 {figures.latency(50, _RECENT):.1f} ms, p99 {figures.latency(99, _RECENT):.1f} ms, "
        f"heap {heap}"
    )


def _accuracies(figures: Figures, asked: int | None) -> list[tuple[str, str]]:
    """Return rows with the accuracies; asked: labels queried, None without queries."""
    assert figures.status
    rows = [
        ("accuracy on the device", f"{figures.accuracy:.2f} %"),
        ("accuracy in the simulator", f"{figures.simulated_accuracy:.2f} %"),
    ]
    if asked is not None:
        share = 100 * asked / max(figures.samples, 1)
        return [*rows, ("labels asked for", f"{asked:,}, {share:.2f} %")]
    nochange = percent(figures.status.accuracy_nochange)
    return [*rows, ("  NoChange (the last label)", f"{nochange:.2f} %")]


def _print(figures: Figures, welcome: Welcome, crc32: int, rows: list[tuple[str, str]]) -> None:
    """Print the results for people; rows have the accuracies or errors."""
    assert figures.status
    table = Table(show_header=False)
    for row in (
        *rows,
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

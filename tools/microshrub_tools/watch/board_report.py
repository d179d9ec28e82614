"""A report of measurements on a board, as a text that the board's owner can send.

A thicket of the default size for the board is put on the board next to the board's program,
tested, and used for a minute with samples over the line. Then the thicket is removed.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.boards.board_files import REPORTER, Board, CostRow
from microshrub_host.boards.default_bytes import SIZE, bytes_for
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.program import Program
from microshrub_host.library.learners import DEFAULT, MODELS, defaults, stream_parameters
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream

from ..board import build, flash, program_config, simulated_board
from ..board.build import Build
from ..board.flash import SelfTest
from ..board.program_options import ProgramOptions
from ..board.report_facts import Facts, facts_of
from ..board.simulated_device import Twin
from ..link.client import HostLink
from .streaming import DeviceRun, Figures

RATE = 20  # samples a second
_STREAM = "synth:rbf_m"
_LEAST = 20  # samples

Update = Callable[[int, int], object]


@dataclass(frozen=True)
class Tried:
    """The result of a trial of a program on a board."""

    before: Facts
    after: Facts  # with the library, the model and its quantizer
    test: SelfTest
    budget_free: int  # bytes of heap that this program leaves free, as `build` computes them
    model_bytes: int  # the model's --bytes
    features: int


@dataclass(frozen=True)
class Served:
    """The result of a run over the line."""

    figures: Figures
    seconds: float
    heap_first: int  # bytes in use after the first sample


class TrialProgram:
    """The program of a trial, in a folder that exists within the `with` block."""

    def __init__(self, board: Board, seconds: float) -> None:
        samples = max(_LEAST, round(seconds * RATE))
        self.stream: Stream = open_stream(_STREAM, limit=samples)
        self._board = board

    def __enter__(self) -> TrialProgram:
        self._home = tempfile.TemporaryDirectory(prefix="microshrub-report-")
        program = self._program()
        self.folder = Path(self._home.name) / "program"
        self.made: Build = build.make(program, self._board, self.folder)
        self.size = int(program.parameters[SIZE])
        return self

    def __exit__(self, *_: object) -> None:
        self._home.cleanup()

    def _program(self) -> Program:
        stream, board = self.stream, self._board
        parameters = {**defaults(DEFAULT), **stream_parameters(DEFAULT, stream, 0)}
        parameters[SIZE] = bytes_for(Deployment(parameters, board, MODELS[DEFAULT]))
        config = ProgramOptions().config(board, stream.feature_names, stream.class_names)
        return program_config.of_stream(stream, DEFAULT, parameters, 0, config)

    def files(self, device: flash.Runs) -> flash.Files:
        """Return the program's files for the board."""
        files = build.read(self.folder)
        virtual = bool(device.value(simulated_board.MARK))
        return simulated_board.for_this_pc(files) if virtual else files


def try_out(
    device: flash.Runs, facts: Facts, program: TrialProgram, update: Update = lambda *_: None
) -> Tried:
    """Copy the program to the board and test it there. Raises UserError."""
    test = flash.try_out(device, program.files(device), update)
    budget = program.made.budget
    left = budget.free_bytes - budget.ram_bytes
    features = program.stream.values.shape[1]
    return Tried(facts, facts_of(device), test, left, program.size, features)


def serve(
    device: flash.Starts, program: TrialProgram, update: Callable[[int, int], object]
) -> Served:
    """Start the tested program, and have it predict and learn the stream over the line.

    Raises UserError at the first prediction that differs from the simulator's.
    """
    twin = Twin(program.folder)
    rows, labels = twin.raw_rows(program.stream), twin.labels(program.stream)
    twin.prepare(rows)
    heaps: list[int] = []

    def progress(figures: Figures) -> None:
        update(figures.samples, figures.total)
        if figures.status:
            heaps.append(figures.status.heap_used)

    link = HostLink(flash.start_tried(device))
    welcome = link.connect()
    if welcome.configuration_hash != twin.hash:
        raise UserError("The board restarted while the program was tried out. Try again.")
    run = DeviceRun(link, twin, rows, labels, rate=RATE, progress=progress)
    run.run()
    return Served(run.figures, len(rows) / RATE, heaps[0] if heaps else 0)


def text(
    board: Board,
    date: str,
    tried: Tried,
    served: Served,
    rows: Sequence[CostRow],
    notes: Sequence[str],
) -> str:
    """Return the report; its last part is for boards/NAME.toml."""
    before, after, test = tried.before, tried.after, tried.test
    lines = [
        f"board        {board.name} ({board.key})",
        f"firmware     {before.firmware}",
        f"uname        {before.uname or '-'}",
        f"system       {before.implementation}",
        f"machine code {before.arch or 'none'}, .mpy {before.mpy & 0xFF}.{before.mpy >> 8 & 3}",
        f"clock        {before.hertz / 1e6:g} MHz" if before.hertz else "clock        unknown",
        "",
        f"heap after a reset         {before.free:>10,} bytes free, {before.used:,} in use",
        f"  the board file says      {board.heap_free_bytes:>10,}",
        f"heap with the program      {after.free:>10,} bytes free, {after.used:,} in use",
        f"  build says               {tried.budget_free:>10,}",
    ]
    for name, of_before, of_after in (
        ("data", before.data, after.data), ("code", before.executable, after.executable)
    ):  # fmt: skip
        if of_before:
            lines.append(f"regions for {name}: all, free, largest block, fewest free")
            lines += [f"  before {list(of_before)}", f"  after  {list(of_after)}"]
    figures = served.figures
    assert figures.status
    heap = figures.status.heap_used
    lines += [
        "",
        f"program      thicket --bytes {tried.model_bytes}, {tried.features} features",
        f"self-test    CRC32 {test.crc32:08x} after {flash.SAMPLES} samples, the simulator's",
        f"             {test.microseconds:,} us a sample",
        f"served       {figures.samples:,} samples in {served.seconds:g} s; each prediction and "
        "the final state are the simulator's",
        f"             p50 {figures.latency(50):.1f} ms, p99 {figures.latency(99):.1f} ms from "
        "sending a sample to its answer",
        f"             heap in use {served.heap_first:,} bytes at first, {heap:,} at the end; "
        f"{figures.restarts} restarts",
        "",
        "bench        us to predict: p50, p99; to learn: p50, p99",
        *(f"  {r.model}, {r.features} features, {r.classes} classes: {r.predict[0]:,}, "
          f"{r.predict[1]:,}; {r.learn[0]:,}, {r.learn[1]:,}" for r in rows),
        *(f"  {note}" for note in notes),
        "",
        f"For boards/{board.key}.toml:",
        "",
        _section(date, tried, served),
    ]  # fmt: skip
    return "\n".join(lines)


def _section(date: str, tried: Tried, served: Served) -> str:
    """Return the section [[report]] of a board file; the sender adds where the report is."""
    before = tried.before
    code = before.executable_bytes
    return "\n".join([
        "[[report]]",
        f"firmware = {json.dumps(before.firmware)}",
        f"date = {date}",
        f'source = "{REPORTER}, and where this report is"',
        f"heap_free_bytes = {before.free}",
        *([f"executable_bytes = {code}"] if code else []),
        f"program_free_bytes = {tried.after.free}",
        *([f"sample_us = {tried.test.microseconds}"] if tried.test.microseconds else []),
        f"served = {served.figures.samples}",
        "",
    ])  # fmt: skip

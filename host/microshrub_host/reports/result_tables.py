"""The results of a run or a budget: tables for users, JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from ..base.terminal import console
from ..base.text import count
from ..base.versions import versions
from ..boards.board_files import Board
from ..boards.ram_budget import Budget
from ..boards.sample_time import SampleTime
from ..evaluation.task import RunResult


@dataclass(frozen=True)
class RunReport:
    """The parts of a report that not every run has."""

    size: str  # size of the stream, as text
    rows: list[tuple[str, str]]  # first rows of the main table
    verdict: str  # sentences that explain the figures
    picture: str  # a caption for the picture
    first: str  # the main result, in a sentence or two
    last: str = ""  # further lines at the top, after the board's RAM and time
    details: Sequence[tuple[str, str]] = ()  # first rows of the table of details
    scores: Sequence[Sequence[str]] = ()  # a table before the others, its head first
    matrix: Sequence[Sequence[str]] = ()  # confusion matrix, its head first
    matrix_title: str = ""


@dataclass(frozen=True)
class RunRows:
    """The tables of a simulation: names and values."""

    main: list[tuple[str, str]]
    details: list[tuple[str, str]]


def run_record(
    result: RunResult,
    budget: Budget,
    board: Board,
    key: str,
    options: Mapping[str, Any],
    time: SampleTime | None = None,
) -> dict[str, Any]:
    """Return the contents of `simulate --json`; options describe how the stream was read."""
    more = {"versions": versions()}
    return result.record() | _sizes(budget, board, key, time) | dict(options) | more


def budget_record(
    budget: Budget, board: Board, key: str, time: SampleTime | None = None
) -> dict[str, Any]:
    """Return the contents of `budget --json`: the sums, and every part with its bytes."""
    sections = {"buffers": budget.buffers, "overhead": budget.overhead, "code": budget.code}
    parts = {title: {p.name: p.bytes for p in result} for title, result in sections.items()}
    return _sizes(budget, board, key, time) | parts


def _sizes(budget: Budget, board: Board, key: str, time: SampleTime | None) -> dict[str, Any]:
    return {
        "model_bytes": budget.model_bytes,
        "ram_bytes": budget.ram_bytes,
        "board": key,
        "sample_time": time and time.record(),
        **({"kernels": budget.kernels.of} if budget.kernels.plain else {}),
        "fits": budget.fits,
        "free_bytes": budget.free_bytes,
        "machine_code_bytes": budget.machine_code_bytes,
        "executable_bytes": budget.executable_bytes,
        "kernels_as_bytecode": budget.kernels.plain,
        "slower": round(budget.kernels.slower, 1),
        "model_budget_bytes": board.model_budget_bytes,
        "less_in_rom_bytes": budget.less_in_rom,
    }


def print_run(
    report: RunReport,
    rows: RunRows,
    summary: Sequence[str],
    notes: Sequence[str],
    *,
    details: bool = False,
) -> None:
    """Report a simulation, the main result first; notes are sentences about the board."""
    for line in summary:
        console.say(line)
    if report.scores:
        console.print(_with_head(report.scores))
    _print_rows(rows.main)
    if report.matrix:
        console.say(f"{report.matrix_title}:")
        console.print(_with_head(report.matrix))
    if details:
        console.say("details:")
        _print_rows(rows.details)
    for sentence in [report.verdict, *notes]:
        if sentence:
            console.say(sentence)


def _print_rows(rows: Sequence[tuple[str, str]]) -> None:
    table = Table(show_header=False)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def _with_head(rows: Sequence[Sequence[str]]) -> Table:
    """Return a table with a name and its numbers in each row; the first row is the head."""
    table = Table(*rows[0])
    for column in table.columns[1:]:
        column.justify = "right"
    for texts in rows[1:]:
        table.add_row(*map(Text, texts))
    return table


def summary(
    report: RunReport, budget: Budget | None = None, time: SampleTime | None = None
) -> list[str]:
    """Return a run's main results, a line each: its score, fit on a board, confused classes."""
    lines = [report.first]
    if budget is not None:
        lines.append(fits(budget, time))
    return [line for line in (*lines, report.last) if line]


def fits(budget: Budget, time: SampleTime | None) -> str:
    """Return sentences about the RAM left on a board, and the time of a sample."""
    left = (budget.free_bytes - budget.ram_bytes) // 1024
    speed = f" {_milliseconds(time)} a sample." if time else ""
    return f"Fits the {budget.board}, {left:,} KB to spare.{speed}"


def board_notes(budget: Budget) -> list[str]:
    """Return further sentences about a model on a given board."""
    shortage = [] if budget.code_fits else [code_shortage(budget)]
    return [*shortage, *([mixed(budget)] if budget.kernels.plain else [])]


def run_rows(
    result: RunResult,
    report: RunReport,
    budget: Budget,
    board: Board | None,
    time: SampleTime | None = None,
) -> RunRows:
    """Return the tables of a simulation, with the RAM if a board is given."""
    ram = f"{budget.ram_bytes:,} bytes of {budget.free_bytes:,} free"
    left = count(budget.free_bytes - budget.ram_bytes, "byte")
    missing = ("missing values", f"{result.missing:,}")
    main = [
        *report.rows,
        *(row for run in result.companions.values() for row in run.rows()),
        ("model", count(budget.model_bytes, "byte")),
        *([(f"RAM on {board.name}", ram), ("  left for your program", left)] if board else []),
        *(
            [("time of a sample", f"{_milliseconds(time)}, with a sensor and the program")]
            if time
            else []
        ),
        *(time.energy.days_rows() if time and time.energy else []),
        *([missing] if result.missing else []),
    ]
    details = [
        *report.details,
        *(time.rows() if time else []),
        *progress_rows(result.progress),
        ("values out of range", f"{result.clamped:,}"),
        missing,
        (f"samples a second ({result.engine})", f"{result.samples_per_second:,.0f}"),
        ("state CRC32", f"{result.state_crc32:08x}"),
    ]
    return RunRows(main, details)


def _milliseconds(time: SampleTime) -> str:
    """Return the time that a board takes to read a sample from its sensor, predict and learn."""
    milliseconds = time.served(sensor=True)[0] / 1000
    return f"{milliseconds:,.0f} ms" if milliseconds >= 10 else f"{milliseconds:.2g} ms"


def progress_rows(progress: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the model's figures; for each member of an ensemble its share and accuracy."""
    rows = []
    for name, value in progress.items():
        what, _, member = name.partition("_")
        if what == "accuracy" and f"share_{member}" in progress:
            continue  # in the row of the share
        right = progress.get(f"accuracy_{member}")
        if what == "share" and right is not None:
            rows.append((f"  {member}", f"{value} % of the votes, lately {right} % right"))
        else:
            rows.append((name.replace("_", " "), f"{value:,}"))
    return rows


def fitting(budget: Budget) -> str:
    """Return sentences about a model that fits, and machine code that may not fit."""
    left = budget.free_bytes - budget.ram_bytes
    message = f"It fits: {left:,} bytes are left for your program."
    return message if budget.code_fits else f"{message} {code_shortage(budget)}"


def in_rom(budget: Budget) -> str:
    """Return a sentence about the RAM that a ROM file system saves."""
    return (
        f"{budget.less_in_rom:,} bytes less with the library in the firmware's ROM file system, "
        "where `flash` puts it if it can"
    )


def mixed(budget: Budget) -> str:
    """Return a sentence about kernels that stay bytecode."""
    kernels = budget.kernels
    ram = "RAM" if budget.executable_bytes is None else "executable RAM"
    return (
        f"Note: {kernels.plain} of {kernels.of} kernels stay bytecode, those that have least to "
        f"do: {budget.board} has no more {ram} for machine code. A sample takes about "
        f"{kernels.slower:.1f} times as long as with all of it."
    )


def code_shortage(budget: Budget, ways: str = "") -> str:
    """Return the message for machine code larger than the executable RAM, with ways out.

    `ways` are the ways out, by default all that may help.
    """
    ways = ways or (
        "`build --freeze` leaves it in flash, a smaller learner has less of it, and "
        "`build --emit bytecode` none, where the heap has room for that."
    )
    return (
        f"But its machine code takes {budget.machine_code_bytes:,} bytes of executable RAM, and "
        f"{budget.board} has {budget.executable_bytes:,}: {ways}"
    )


def shortage(what: str, budget: Budget) -> str:
    """Return a sentence about something that does not fit; `what` is "The model", for instance."""
    result = budget.shortage
    assert result is not None
    needed, available = f"{result.needed:,} bytes", f"{result.available:,}"
    if result.buffer:
        return (
            f"{what} has a buffer, {result.buffer}, of {needed}, and {budget.board} has no more "
            f"than {available} in one piece."
        )
    when = " while it is being made" if result.construction else ""
    return f"{what} takes {needed} of RAM{when}, and {budget.board} has {available} free."

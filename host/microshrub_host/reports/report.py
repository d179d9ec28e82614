"""Tables for people and JSON for programs."""

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
    """What there is to say of a run, besides what every run has."""

    size: str  # of the stream, in words
    rows: list[tuple[str, str]]  # the first ones of its table
    verdict: str  # whether the model beats the baselines, in sentences
    picture: str  # what the picture shows
    scores: Sequence[Sequence[str]] = ()  # a table before that one, its head first


def run_record(
    result: RunResult,
    budget: Budget,
    board: Board,
    key: str,
    options: Mapping[str, Any],
    time: SampleTime | None = None,
) -> dict[str, Any]:
    """What `simulate --json` writes; options say how the stream was read."""
    more = {"versions": versions()}
    return result.record() | _sizes(budget, board, key, time) | dict(options) | more


def budget_record(
    budget: Budget, board: Board, key: str, time: SampleTime | None = None
) -> dict[str, Any]:
    """What `budget --json` writes: the sums, and every part with its bytes."""
    sections = {"buffers": budget.buffers, "overhead": budget.overhead, "code": budget.code}
    parts = {title: {p.name: p.bytes for p in found} for title, found in sections.items()}
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
    }


def print_run(
    result: RunResult,
    told: RunReport,
    rows: Sequence[tuple[str, str]],
    budget: Budget,
    board: Board,
) -> None:
    """The tables after a simulation, and a sentence on whether the model beats the baselines."""
    console.say(f"{result.stream}: {told.size}")
    if told.scores:
        scores = Table(*told.scores[0])
        for column in scores.columns[1:]:
            column.justify = "right"
        for texts in told.scores[1:]:
            scores.add_row(*texts)
        console.print(scores)
    table = Table(show_header=False)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
    console.say(told.verdict)
    if not budget.fits:
        words = f"This model does not fit on {board.name}. {shortage('It', budget)}"
        console.say(words, style="bold red")


def run_rows(
    result: RunResult,
    told: RunReport,
    budget: Budget,
    board: Board,
    time: SampleTime | None = None,
) -> list[tuple[str, str]]:
    """The table of a simulation: what, and how much of it."""
    return [
        *told.rows,
        ("model", count(budget.model_bytes, "byte")),
        (f"RAM on {board.name}", f"{budget.ram_bytes:,} bytes of {budget.free_bytes:,} free"),
        *(time.rows() if time else []),
        *progress_rows(result.progress),
        *(row for run in result.beside.values() for row in run.rows()),
        ("values out of range", f"{result.clamped:,}"),
        ("missing values", f"{result.missing:,}"),
        (f"samples a second ({result.engine})", f"{result.samples_per_second:,.0f}"),
        ("state CRC32", f"{result.state_crc32:08x}"),
    ]


def progress_rows(progress: Mapping[str, int]) -> list[tuple[str, str]]:
    """What the model tells of its state; of each member of an ensemble its share and accuracy."""
    rows = []
    for name, value in progress.items():
        what, _, member = name.partition("_")
        if what == "accuracy" and f"share_{member}" in progress:
            continue  # told with the share
        right = progress.get(f"accuracy_{member}")
        if what == "share" and right is not None:
            rows.append((f"  {member}", f"{value} % of the votes, lately {right} % right"))
        else:
            rows.append((name.replace("_", " "), f"{value:,}"))
    return rows


def fitting(budget: Budget) -> str:
    """What is said of a model that fits, and of machine code that may not."""
    left = budget.free_bytes - budget.ram_bytes
    said = f"It fits: {left:,} bytes are left for your program."
    return said if budget.code_fits else f"{said} {code_shortage(budget)}"


def mixed(budget: Budget) -> str:
    """What is said of kernels that stay bytecode."""
    kernels = budget.kernels
    ram = "RAM" if budget.executable_bytes is None else "executable RAM"
    return (
        f"Note: {kernels.plain} of {kernels.of} kernels stay bytecode, those that have least to "
        f"do: {budget.board} has no more {ram} for machine code. A sample takes about "
        f"{kernels.slower:.1f} times as long as with all of it."
    )


def code_shortage(budget: Budget, ways: str = "") -> str:
    """What is said of machine code that is too large for the RAM that can run it, and of ways out:
    those that are given, or all that there may be.
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
    """The sentence for what does not fit: `The model` or the like."""
    found = budget.shortage
    assert found is not None
    needed, available = f"{found.needed:,} bytes", f"{found.available:,}"
    if found.buffer:
        return (
            f"{what} has a buffer, {found.buffer}, of {needed}, and {budget.board} has no more "
            f"than {available} in one piece."
        )
    when = " while it is being made" if found.construction else ""
    return f"{what} takes {needed} of RAM{when}, and {budget.board} has {available} free."

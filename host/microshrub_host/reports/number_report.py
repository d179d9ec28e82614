"""What `simulate --target` prints, and writes as JSON."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from ..base.terminal import console
from ..base.text import count
from ..base.versions import versions
from ..boards.board_files import Board
from ..boards.ram_budget import Budget
from ..evaluation.errors import Errors
from ..evaluation.regression import NumberResult
from .report import progress_rows

_DIGITS = 5  # of an error that count


def number_record(
    result: NumberResult, budget: Budget, board: Board, options: dict[str, Any]
) -> dict[str, Any]:
    """What `simulate --target --json` writes; options say how the stream was read."""
    sizes: dict[str, Any] = {
        "model_bytes": budget.model_bytes,
        "ram_bytes": budget.ram_bytes,
        "fits": budget.fits,
        "free_bytes": budget.free_bytes,
        "model_budget_bytes": board.model_budget_bytes,
    }
    return result.record() | sizes | options | {"versions": versions()}


def print_numbers(result: NumberResult, budget: Budget, board: Board) -> None:
    """The table after a simulation, and a sentence on whether the model beats the baselines."""
    size = f"{count(result.samples, 'sample')}, {count(result.features, 'feature')}"
    ahead = f", {count(result.horizon, 'sample')} ahead" if result.horizon else ""
    console.say(f"{result.stream}: {size}; the target is {result.target}{ahead}")
    errors = Table("", "MAE", "RMSE", "R2")
    for column in errors.columns[1:]:
        column.justify = "right"
    for name, found in _rows(result):
        errors.add_row(name, *(f"{x:.{_DIGITS}g}" for x in (found.mae, found.rmse, found.r2)))
    console.print(errors)
    table = Table(show_header=False)
    for row in _facts(result, budget, board):
        table.add_row(*map(Text, row))
    console.print(table)
    console.say(number_verdict(result))
    if not budget.fits:
        console.say(f"This model does not fit on {board.name}.", style="bold red")


def _rows(result: NumberResult) -> list[tuple[str, Errors]]:
    return [
        (result.model, result.errors),
        ("NoChange (the last target)", result.nochange),
        ("mean of the targets so far", result.running_mean),
    ]


def _facts(result: NumberResult, budget: Budget, board: Board) -> list[tuple[str, str]]:
    return [
        ("model", count(budget.model_bytes, "byte")),
        (f"RAM on {board.name}", f"{budget.ram_bytes:,} bytes of {budget.free_bytes:,} free"),
        *_interval_rows(result),
        *progress_rows(result.progress),
        ("values out of range", f"{result.clamped:,}"),
        ("missing values", f"{result.missing:,}"),
        (f"samples a second ({result.engine})", f"{result.samples_per_second:,.0f}"),
        ("state CRC32", f"{result.state_crc32:08x}"),
    ]


def _interval_rows(result: NumberResult) -> list[tuple[str, str]]:
    found = result.interval
    if found is None:
        return []
    name = f"intervals of {found.share:g} %"
    return [(name, f"hold {found.inside:.2f} %, mean width {found.mean_width:.{_DIGITS}g}")]


def number_verdict(result: NumberResult) -> str:
    """Whether the model's mean absolute error beats that of the simple guesses, as a sentence."""
    guesses = {"NoChange": result.nochange.mae, "the running mean": result.running_mean.mae}
    best = min(guesses, key=lambda name: guesses[name])
    lead = 1 - result.errors.mae / guesses[best] if guesses[best] else 0.0
    if lead > 0:
        return f"The model's mean absolute error is {lead:.1%} below that of {best}."
    return f"The model does not beat {best} (mean absolute error {guesses[best]:.{_DIGITS}g})."

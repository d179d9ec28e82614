"""Tables for people and JSON for programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .boards import Board
from .errors import UserError
from .ram import Budget, Part
from .simulate import Result

console = Console(highlight=False)


def write_json(record: dict[str, Any], target: str) -> None:
    """One JSON object to a file, or to the standard output for `-`."""
    text = json.dumps(record, indent=2) + "\n"
    if target == "-":
        sys.stdout.write(text)
    else:
        Path(target).write_text(text, encoding="utf-8")


def check_json_target(target: str) -> None:
    """Raise UserError if no file can be written there."""
    if target != "-" and not Path(target).absolute().parent.is_dir():
        raise UserError(f"--json {target}: there is no folder {Path(target).parent}")


def run_record(result: Result, budget: Budget, board: str) -> dict[str, Any]:
    """What `simulate --json` writes."""
    sizes = {"model_bytes": budget.model_bytes, "ram_bytes": budget.ram_bytes, "board": board}
    return result.record() | sizes


def budget_record(budget: Budget, board: str) -> dict[str, Any]:
    """What `budget --json` writes: the sums, and every part with its bytes."""
    sections = {"buffers": budget.buffers, "overhead": budget.overhead, "code": budget.code}
    parts = {title: {p.name: p.bytes for p in found} for title, found in sections.items()}
    sums = {
        "board": board,
        "fits": budget.fits,
        "model_bytes": budget.model_bytes,
        "ram_bytes": budget.ram_bytes,
        "free_bytes": budget.free_bytes,
    }
    return sums | parts


def _size(count: int) -> str:
    return f"{count:,} bytes"


def print_run(result: Result, budget: Budget, board: Board) -> None:
    """The table after a simulation, and in words whether the model was worth it."""
    table = Table(title=_headline(result), title_justify="left", show_header=False)
    for row in (
        ("accuracy", f"{result.accuracy:.2f} %"),
        ("  mean of the running accuracy", f"{result.running_average_accuracy:.2f} %"),
        ("  NoChange (the last label)", f"{result.accuracy_nochange:.2f} %"),
        ("  MajorityClass", f"{result.accuracy_majority:.2f} %"),
        ("kappa", f"{result.kappa:.2f} %"),
        ("kappa temporal", f"{result.kappa_temporal:.2f} %"),
        ("model", _size(budget.model_bytes)),
        (f"RAM on {board.name}", f"{_size(budget.ram_bytes)} of {budget.free_bytes:,} free"),
        *[(name.replace("_", " "), f"{value:,}") for name, value in result.progress.items()],
        ("values outside of their range", f"{result.clamped:,}"),
        ("missing values", f"{result.missing:,}"),
        (f"samples a second ({result.engine})", f"{result.samples_per_second:,.0f}"),
        ("state CRC32", f"{result.state_crc32:08x}"),
    ):
        table.add_row(row[0], row[1])
    console.print(table)
    console.print(verdict(result))
    if not budget.fits:
        console.print(f"This model does not fit on {board.name}.", style="bold red")


def _headline(result: Result) -> str:
    return (
        f"{result.stream}: {result.samples:,} samples, {result.features} features, "
        f"{result.classes} classes"
    )


def verdict(result: Result) -> str:
    """One sentence: is the model better than repeating the last label and than the majority?"""
    gain = result.accuracy - max(result.accuracy_nochange, result.accuracy_majority)
    if result.accuracy_nochange >= result.accuracy:
        return (
            f"The model does NOT beat NoChange: always repeating the last label is right for "
            f"{result.accuracy_nochange:.2f} %. The stream comes in runs of one label; a model is "
            "of use there only where labels come late or never. --shuffle SEED shows what it can "
            "learn."
        )
    if gain <= 0:
        return "The model does NOT beat always predicting the most frequent label."
    return f"The model is {gain:.2f} points above the better of the two dumb baselines."


def print_budget(budget: Budget, board: Board) -> None:
    """Every part with its bytes, what they add up to, and what the board has."""
    table = Table(title=f"RAM on {board.name}", title_justify="left")
    for column in ("", "bytes", ""):
        table.add_column(column, justify="right" if column == "bytes" else "left")
    for title, parts in (
        ("buffers", budget.buffers),
        ("MicroPython's overhead", budget.overhead),
        ("imported code", budget.code),
    ):
        _section(table, title, parts)
    table.add_row("all", f"{budget.ram_bytes:,}", "", style="bold")
    table.add_row("free on the board", f"{budget.free_bytes:,}", board.heap_source)
    console.print(table)


def _section(table: Table, title: str, parts: list[Part]) -> None:
    table.add_row(title, f"{sum(p.bytes for p in parts):,}", "", style="bold")
    for part in parts:
        table.add_row("  " + part.name, f"{part.bytes:,}", part.note)
    table.add_section()

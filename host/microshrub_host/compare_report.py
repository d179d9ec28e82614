"""The tables and the JSON of a comparison."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE
from rich.table import Column, Table
from rich.text import Text

from .compare import Cell
from .peers import java
from .report import count, version_of, versions
from .streams import Stream
from .terminal import console

_COLUMNS = (
    "accuracy",
    "kappa",
    "kappa\ntemporal",
    "model\nbytes",
    "samples\na second",
    "time\nin s",
)
_PERCENT = "Accuracy and both kappas are in percent; every sample counts from the first one on."
_SIZES = (
    "Model bytes: ours are the buffers on the board (nbytes); River's and MOA's are their own "
    "measures (_raw_memory_usage, measureByteSize) of objects on this computer."
)
_SPEED = "Samples a second: on this computer, ours with numba, MOA from Python."
_NONE = "-"
_WIDTH = 21  # of the longest name of a peer

# Names of rows, and by system the cell on one stream.
Rows = Mapping[str, Mapping[str, Cell | None]]


def print_stream(stream: Stream, cells: Sequence[Cell]) -> None:
    """A table of one stream: a row for every learner, in the order in which they were named."""
    _print_title(stream)
    first = Column("learner", width=_WIDTH, overflow="fold")
    table = Table(first, box=SIMPLE, pad_edge=False, collapse_padding=True)
    for name in _COLUMNS:
        table.add_column(name, justify="right")
    for cell in cells:
        table.add_row(*map(Text, (cell.name, *_figures(cell))))
    console.print(table)
    _print_failures(cells)


def print_trees(stream: Stream, rows: Rows, systems: Mapping[str, str]) -> None:
    """A table of one stream: a row for every tree, a column for every system, and how far apart.

    systems are their titles; the first one is what the others are compared with.
    """
    _print_title(stream)
    first, *others = systems
    table = Table("tree")
    for title in systems.values():
        table.add_column(f"{title} %", justify="right")
    for system in others:
        table.add_column(f"{systems[system]} - {systems[first]}", justify="right")
    for name, row in rows.items():
        accuracies = [_accuracy(row.get(system)) for system in systems]
        apart = [_points(row.get(system), row.get(first)) for system in others]
        table.add_row(*map(Text, (name, *accuracies, *apart)))
    console.print(table)
    _print_failures([cell for row in rows.values() for cell in row.values() if cell])


def print_notes() -> None:
    """What the columns of print_stream hold."""
    console.say(_PERCENT)
    console.say(_SIZES)
    console.say(_SPEED)


def record(
    streams: Sequence[Stream], cells: Sequence[Cell], options: Mapping[str, Any]
) -> dict[str, Any]:
    """What `compare --json` writes."""
    return {
        "streams": [
            {
                "name": stream.name,
                "samples": len(stream.labels),
                "features": stream.values.shape[1],
                "classes": len(stream.class_names),
            }
            for stream in streams
        ],
        "cells": [cell.record() for cell in cells],
        "options": dict(options),
        "versions": versions() | _versions({cell.system for cell in cells}),
    }


def _versions(systems: set[str]) -> dict[str, str]:
    found = {"river": version_of("river")} if "river" in systems else {}
    program = java()
    if "moa" in systems and program:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
        found |= {"capymoa": version_of("capymoa"), "java": said.stderr.partition("\n")[0]}
    return found


def _print_title(stream: Stream) -> None:
    console.say(
        f"{stream.name}: {count(len(stream.labels), 'sample')}, "
        f"{count(stream.values.shape[1], 'feature')}, {count(len(stream.class_names), 'class')}"
    )


def _figures(cell: Cell) -> list[str]:
    if cell.accuracy is None:
        return [_failure(cell), *[_NONE] * (len(_COLUMNS) - 1)]
    return [
        f"{cell.accuracy:.2f}",
        f"{cell.kappa:.2f}",
        f"{cell.kappa_temporal:.2f}",
        _whole(cell.model_bytes),
        _whole(cell.samples_per_second),
        _NONE if cell.seconds is None else f"{cell.seconds:,.1f}",
    ]


def _whole(number: float | None) -> str:
    return _NONE if number is None else f"{number:,.0f}"


def _accuracy(cell: Cell | None) -> str:
    if cell is None:
        return _NONE
    if cell.accuracy is None:
        return _failure(cell)
    return f"{cell.accuracy:.2f}"


def _failure(cell: Cell) -> str:
    """In a word; the whole of it stands below the table."""
    return "timeout" if cell.failure.startswith("time limit") else "crashed"


def _points(cell: Cell | None, first: Cell | None) -> str:
    """How many percentage points a cell is above the first."""
    if cell is None or first is None or cell.accuracy is None or first.accuracy is None:
        return _NONE
    return f"{cell.accuracy - first.accuracy:+.2f}"


def _print_failures(cells: Sequence[Cell]) -> None:
    for cell in cells:
        if cell.failure:
            seen = f"after {count(cell.samples, 'sample')}"
            console.say(f"{cell.name}: {cell.failure}, {seen}")

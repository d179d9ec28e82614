"""The tables and the JSON of a comparison."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from rich.box import SIMPLE
from rich.table import Column, Table
from rich.text import Text

from microshrub_host.base import child_process
from microshrub_host.base.terminal import console
from microshrub_host.base.text import count
from microshrub_host.base.versions import version_of, versions
from microshrub_host.library import c_kernels, loader
from microshrub_host.streams.stream import Stream

from . import moa_peers
from .catalogue import java
from .comparison_runner import Cell
from .outcome import DIVERGED, STOPPED, AnyCell

SPEED_COLUMNS = ("model\nbytes", "samples\na second", "time\nin s")
COLUMNS = ("accuracy", "kappa", "kappa\ntemporal", *SPEED_COLUMNS)
FEW_COLUMNS = (*COLUMNS, "labels\nlearned")  # with a label budget
SPEED_NOTES = (
    "Model bytes: ours are the buffers on the board (nbytes); River's and MOA's are their own "
    "measures (_raw_memory_usage, measureByteSize) of objects on this computer; soft "
    "trees count 4 for every number kept: parameters, Adam's moments, means, variances, a batch.",
    "Samples a second: on this computer, ours on the fastest engine, MOA in its own loop, the "
    "rest from Python.",
)
NOTES = (
    "Accuracy and both kappas are in percent, over all samples from the first one on.",
    *SPEED_NOTES,
)
_NONE = "-"
C = TypeVar("C", bound=AnyCell)
_WIDTH = 21  # length of the longest name of a peer

# Names of rows, and for each system the cell on one stream.
Rows = Mapping[str, Mapping[str, Cell | None]]
Lines = tuple[list[str], list[list[str]]]  # the head of a table, and its rows


@dataclass(frozen=True)
class StreamResults:
    """The results of one stream: its cells, in the order of the contenders.

    For a set, they include the set's table.
    """

    stream: Stream
    cells: Sequence[Cell]
    table: Lines | None


def print_part(part: StreamResults) -> None:
    """Print the set's table, or a table with a row for every learner; then the failures."""
    console.say(f"{part.stream.name}: {size(part.stream)}")
    if part.table:
        _print_table(*part.table)
    else:
        few = any(cell.labels is not None for cell in part.cells)
        print_learners(
            part.cells, FEW_COLUMNS if few else COLUMNS, few_figures if few else figures
        )
    print_failures(part.cells)


def print_learners(
    cells: Sequence[C], columns: Sequence[str], figures: Callable[[C], Sequence[str]]
) -> None:
    """Print a table with a row for every learner, with the learner's figures in the columns."""
    first = Column("learner", width=_WIDTH, overflow="fold")
    table = Table(first, box=SIMPLE, pad_edge=False, collapse_padding=True)
    for name in columns:
        table.add_column(name, justify="right")
    for cell in cells:
        table.add_row(*map(Text, (cell.name, *figures(cell))))
    console.print(table)


def _print_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    table = Table(head[0])
    for name in head[1:]:
        table.add_column(name, justify="right")
    for line in lines:
        table.add_row(*map(Text, line))
    console.print(table)


def tree_table(rows: Rows, systems: Mapping[str, str]) -> Lines:
    """Return the head and the rows for one stream: a row per tree, a column per system.

    `systems` are titles; all but the first are compared with the first.
    """
    first, *others = systems
    head = ["tree", *(f"{name} %" for name in systems.values())]
    head += [f"{systems[system]} - {systems[first]}" for system in others]
    lines = []
    for name, row in rows.items():
        accuracies = [accuracy(row.get(system)) for system in systems]
        apart = [_points(row.get(system), row.get(first)) for system in others]
        lines.append([name, *accuracies, *apart])
    return head, lines


def speed_table(rows: Rows, systems: Mapping[str, str]) -> Lines:
    """Return the head and the rows for one stream: samples per second, and our speed-up."""
    first, *others = systems
    head = ["samples\nper s", *systems.values()]
    head += [f"{systems[first]} /\n{systems[system]}" for system in others]
    lines = []
    for name, row in rows.items():
        speeds = [_whole(_speed(row.get(system))) for system in systems]
        lines.append([name, *speeds, *(_times(row.get(first), row.get(s)) for s in others)])
    return head, lines


def record(parts: Sequence[StreamResults], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record that `compare --json` writes."""
    streams = [part.stream for part in parts]
    cells = [cell for part in parts for cell in part.cells]
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
        "versions": all_versions(cells),
    }


def builds(systems: Collection[str]) -> list[str]:
    """Return a line for each system: its build, and the flags of the build."""
    python = f"CPython {platform.python_version()}"
    result = {"ours": _our_build(), "river": f"River {version_of('river')}, {python}"}
    known = system_versions(systems)
    if "java" in known:
        flags = os.environ.get(moa_peers.VARIABLE) or moa_peers.MEMORY
        result["moa"] = f"MOA of capymoa {known['capymoa']}, {known['java']}, {flags}"
    if "torch" in systems:
        result["torch"] = f"torch {version_of('torch')}, {python}"
    return [f"{name}: {text}" for name, text in result.items() if name in systems]


def _our_build() -> str:
    compiler = c_kernels.compiler()
    if loader.fastest() == "c" and compiler:
        command = [*compiler, "--version"]
        message = child_process.run(command).stdout
        return f"engine c, {message.partition(chr(10))[0]}, {' '.join(c_kernels.FLAGS)}"
    return f"engine llvm, llvmlite {version_of('llvmlite')}"


def all_versions(cells: Sequence[AnyCell]) -> dict[str, str]:
    """Return the versions of this program and of the systems of these cells."""
    return system_versions({cell.system for cell in cells})


def system_versions(systems: Collection[str]) -> dict[str, str]:
    """Return the versions of this program and of these systems."""
    result = versions()
    result |= {name: version_of(name) for name in ("river", "torch") if name in systems}
    program = java()
    if "moa" in systems and program:
        message = child_process.run([program, "-version"])
        result |= {"capymoa": version_of("capymoa"), "java": message.stderr.partition("\n")[0]}
    return result


def size(stream: Stream) -> str:
    """Return the size of a stream as a text."""
    return (
        f"{count(len(stream.labels), 'sample')}, "
        f"{count(stream.values.shape[1], 'feature')}, {count(len(stream.class_names), 'class')}"
    )


def figures(cell: Cell) -> list[str]:
    """Return a learner's figures for the COLUMNS."""
    scores = (cell.accuracy, cell.kappa, cell.kappa_temporal)
    return all_figures(cell, scores, lambda score: f"{score:.2f}")


def few_figures(cell: Cell) -> list[str]:
    """Return a learner's figures for the FEW_COLUMNS."""
    return [*figures(cell), _whole(cell.labels)]


def all_figures(
    cell: AnyCell, scores: Sequence[float | None], text: Callable[[float], str]
) -> list[str]:
    """Return a learner's scores as texts, and then its bytes, its speed and its time.

    Without scores, the first text is the failure in a word.
    """
    there = [score for score in scores if score is not None]
    if not there:
        return [failure(cell), *[_NONE] * (len(scores) + 2)]
    return [
        *map(text, there),
        _whole(cell.model_bytes),
        _whole(cell.samples_per_second),
        _NONE if cell.seconds is None else f"{cell.seconds:,.1f}",
    ]


def _whole(number: float | None) -> str:
    return _NONE if number is None else f"{number:,.0f}"


def accuracy(cell: Cell | None) -> str:
    """Return the accuracy in percent, or the reason why there is none, in a word."""
    if cell is None:
        return _NONE
    if cell.accuracy is None:
        return failure(cell)
    return f"{cell.accuracy:.2f}"


def failure(cell: AnyCell) -> str:
    """Return the failure in a word; the full text is below the table."""
    if cell.timed_out:
        return "timeout"
    if cell.failure.startswith(DIVERGED):
        return DIVERGED
    return "stopped" if cell.failure == STOPPED else "crashed"


def _points(cell: Cell | None, first: Cell | None) -> str:
    """Return by how many percentage points a cell is above the first."""
    if cell is None or first is None or cell.accuracy is None or first.accuracy is None:
        return _NONE
    return f"{cell.accuracy - first.accuracy:+.2f}"


def _speed(cell: Cell | None) -> float | None:
    return cell.samples_per_second if cell else None


def _times(one: Cell | None, other: Cell | None) -> str:
    """Return the ratio of the first cell's samples per second to the other's."""
    above, below = _speed(one), _speed(other)
    return f"{above / below:.1f}" if above and below else _NONE


def print_failures(cells: Sequence[AnyCell]) -> None:
    """Print each failure in full, and after how many samples it came."""
    for cell in cells:
        if cell.failure:
            seen = f"after {count(cell.samples, 'sample')}"
            console.say(f"{cell.name}: {cell.failure}, {seen}")

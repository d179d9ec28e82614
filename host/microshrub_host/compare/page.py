"""The page of a comparison: tables and pictures of every stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..base.text import count
from ..render.page import Page, surroundings
from . import pictures, report
from .contender import SEED
from .report import StreamResults
from .runner import Cell

# What the columns of figures hold, and whether more or less is better.
_FIELDS = (
    ("accuracy", 1),
    ("kappa", 1),
    ("kappa_temporal", 1),
    ("model_bytes", -1),
    ("samples_per_second", 1),
    ("seconds", -1),
)
OPTIONS = ("warmup", "limit", "shuffle", "label", "classes", "jobs", "time_limit")


def make_page(parts: Sequence[StreamResults], command: str, options: Mapping[str, Any]) -> Page:
    """The page of all streams; options are those of the comparison."""
    cells = [cell for part in parts for cell in part.cells]
    names = [part.stream.name for part in parts]
    facts = surroundings() | report.all_versions(cells)
    facts["seed of the peers"] = str(SEED)
    for name in OPTIONS:
        if options[name] is not None:
            facts[f"--{name.replace('_', '-')}"] = str(options[name])
    page = Page(f"Learners on {', '.join(names)}", command, facts)
    page.paragraph(
        "Every learner sees the same samples in the same order; it predicts each sample and then "
        "learns it. The best value of a column is bold."
    )
    if len(parts) > 1:
        _add_overview(page, parts)
    for part in parts:
        page.heading(part.stream.name)
        page.paragraph(f"{report.size(part.stream)}.")
        if part.table:
            page.table(*part.table)
        _add_cells(page, part)
    page.heading("What the columns hold")
    for note in report.NOTES:
        page.paragraph(note)
    return page


def _add_overview(page: Page, parts: Sequence[StreamResults]) -> None:
    """The accuracies of all streams side by side."""
    columns = [{cell.name: cell for cell in part.cells} for part in parts]
    names = list(columns[0])  # the same on all streams
    rows = [[name, *(report.accuracy(cells[name]) for cells in columns)] for name in names]
    best = {
        (row, column)
        for column, cells in enumerate(columns, 1)
        for row in _highest([cells[name].accuracy for name in names])
    }
    page.heading("Accuracy on all streams")
    page.table(["learner", *(part.stream.name for part in parts)], rows, best=best)


def _add_cells(page: Page, part: StreamResults) -> None:
    cells = part.cells
    head = ["learner", *report.COLUMNS, "bytes measured by"]
    rows = [[cell.name, *report.figures(cell), cell.model_bytes_by or "-"] for cell in cells]
    best = set()
    for column, (field, sign) in enumerate(_FIELDS, 1):
        values = [getattr(cell, field) for cell in cells]
        signed = [None if value is None else sign * value for value in values]
        best |= {(row, column) for row in _highest(signed)}
    page.table(head, rows, best=best)
    failures = [[c.name, c.failure, count(c.samples, "sample")] for c in cells if c.failure]
    if failures:
        page.table(["failed", "why", "after"], failures)
    sized = [cell for cell in cells if cell.accuracy is not None and cell.model_bytes]
    if sized:
        page.picture(pictures.draw_sizes(sized), _sizes_caption(part, sized))
    if any(cell.curve for cell in cells):
        said = f"{part.stream.name}: accuracy of all samples so far. The best are named first."
        page.picture(pictures.draw_curves(cells), said)


def _highest(values: Sequence[float | None]) -> list[int]:
    """All places of the highest value."""
    there = [value for value in values if value is not None]
    return [at for at, value in enumerate(values) if there and value == max(there)]


def _sizes_caption(part: StreamResults, sized: Sequence[Cell]) -> str:
    said = (
        f"{part.stream.name}: accuracy by the bytes of the model. The line joins those that "
        "no other one beats in both."
    )
    others = [cell.name for cell in part.cells if cell not in sized]
    return (
        f"{said} Not shown, since they have no such figures: {', '.join(others)}."
        if others
        else said
    )

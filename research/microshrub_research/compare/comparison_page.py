"""The page of a comparison: tables and pictures of every stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microshrub_host.base.text import count
from microshrub_host.reports.page import Page, surroundings

from . import comparison_report, pictures
from .comparison_report import StreamResults
from .contender import SEED
from .outcome import AnyCell
from .pictures import Drawn

SPEED_FIELDS = (("model_bytes", -1), ("samples_per_second", 1), ("seconds", -1))
OPTIONS = ("warmup", "limit", "shuffle", "label", "classes", "jobs", "time_limit", "label_budget")


@dataclass(frozen=True)
class Form:
    """The columns and pictures for the cells of a kind of stream."""

    columns: Sequence[str]
    figures: Callable[[Any], Sequence[str]]
    fields: Sequence[tuple[str, int]]  # each column's field, and whether more or less is better
    measure: Drawn
    in_pictures: Callable[[Any], bool] = lambda _: True


CLASSES = Form(
    comparison_report.COLUMNS,
    comparison_report.figures,
    (("accuracy", 1), ("kappa", 1), ("kappa_temporal", 1), *SPEED_FIELDS),
    pictures.ACCURACY,
)

LABEL_BUDGET = Form(
    comparison_report.FEW_COLUMNS,
    comparison_report.few_figures,
    (*CLASSES.fields, ("labels", -1)),
    pictures.ACCURACY,
)


def begin_page(
    names: Sequence[str], cells: Sequence[AnyCell], command: str, facts: Mapping[str, Any]
) -> Page:
    """Begin a page of streams with these names; `facts` are options by their names, or None."""
    result = surroundings() | comparison_report.all_versions(cells)
    result["seed of the peers"] = str(SEED)
    for name, value in facts.items():
        if value is not None:
            result[f"--{name.replace('_', '-')}"] = str(value)
    page = Page(f"Learners on {', '.join(names)}", command, result)
    page.paragraph(
        "Every learner sees the same samples in the same order; it predicts each sample and then "
        "learns it. The best value of a column is bold."
    )
    return page


def make_page(
    parts: Sequence[StreamResults],
    command: str,
    options: Mapping[str, Any],
    notes: Sequence[str] = comparison_report.NOTES,
) -> Page:
    """Return the page of all streams; `options` are the comparison's,
    `notes` explain the columns.
    """
    cells = [cell for part in parts for cell in part.cells]
    names = [part.stream.name for part in parts]
    page = begin_page(names, cells, command, {name: options.get(name) for name in OPTIONS})
    form = LABEL_BUDGET if any(cell.labels is not None for cell in cells) else CLASSES
    if len(parts) > 1:
        _add_overview(page, parts)
    for part in parts:
        page.heading(part.stream.name)
        page.paragraph(f"{comparison_report.size(part.stream)}.")
        if part.table:
            page.table(*part.table)
        add_cells(page, part.stream.name, part.cells, form)
    page.heading("What the columns hold")
    for note in notes:
        page.paragraph(note)
    return page


def _add_overview(page: Page, parts: Sequence[StreamResults]) -> None:
    """Add a table of the accuracies on all streams, side by side."""
    columns = [{cell.name: cell for cell in part.cells} for part in parts]
    names = list(columns[0])  # the same on all streams
    rows = [
        [name, *(comparison_report.accuracy(cells[name]) for cells in columns)] for name in names
    ]
    best = {
        (row, column)
        for column, cells in enumerate(columns, 1)
        for row in _highest([cells[name].accuracy for name in names])
    }
    page.heading("Accuracy on all streams")
    page.table(["learner", *(part.stream.name for part in parts)], rows, best=best)


def add_cells(page: Page, stream: str, cells: Sequence[AnyCell], form: Form) -> None:
    """Add the table of a stream's cells, the failures, and the pictures."""
    head = ["learner", *form.columns, "bytes measured by"]
    rows = [[cell.name, *form.figures(cell), cell.model_bytes_by or "-"] for cell in cells]
    best = set()
    for column, (field, sign) in enumerate(form.fields, 1):
        values = [getattr(cell, field) for cell in cells]
        signed = [None if value is None else sign * value for value in values]
        best |= {(row, column) for row in _highest(signed)}
    page.table(head, rows, best=best)
    failures = [[c.name, c.failure, count(c.samples, "sample")] for c in cells if c.failure]
    if failures:
        page.table(["failed", "why", "after"], failures)
    drawn = [cell for cell in cells if form.in_pictures(cell)]
    sized = [cell for cell in drawn if cell.model_bytes and form.measure.of(cell) is not None]
    if sized:
        picture = pictures.draw_sizes(sized, form.measure)
        page.picture(picture, _sizes_caption(stream, cells, sized, form.measure))
    curved = [cell for cell in drawn if cell.curve]
    if curved:
        message = f"{stream}: {form.measure.name} of all samples so far. The best are named first."
        page.picture(pictures.draw_curves(curved, form.measure), message)


def _highest(values: Sequence[float | None]) -> list[int]:
    """Return all places of the highest value."""
    there = [value for value in values if value is not None]
    return [at for at, value in enumerate(values) if there and value == max(there)]


def _sizes_caption(
    stream: str, cells: Sequence[AnyCell], sized: Sequence[AnyCell], measure: Drawn
) -> str:
    message = (
        f"{stream}: {measure.name} by the bytes of the model. The line joins those that "
        "no other one beats in both."
    )
    others = [cell.name for cell in cells if cell not in sized]
    return (
        f"{message} Not shown, since they have no such figures: {', '.join(others)}."
        if others
        else message
    )

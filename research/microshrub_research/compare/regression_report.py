"""The tables, the JSON and the page of a comparison of regressors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microshrub_host.base.terminal import console
from microshrub_host.base.text import count
from microshrub_host.reports.page import Page
from microshrub_host.streams.regression_streams import NumberStream

from . import comparison_page as compare_page
from . import comparison_report
from .pictures import Drawn
from .regression_runner import NumberCell

COLUMNS = ("MAE", "RMSE", "R2", *comparison_report.SPEED_COLUMNS)
NOTES = (
    "MAE, the mean absolute error, and RMSE, the root of the mean squared error, are in the unit "
    "of the target. R2 is the part of its variance that is explained; below 0, the mean of all "
    "targets is better. They are over all samples before which a target was known.",
    "nochange predicts the last known target, mean the mean of those known. River's learners have "
    "their defaults; those called scaled stand behind its standard scaler.",
    *comparison_report.SPEED_NOTES,
)
OPTIONS = ("target", "horizon", "lags", "target_range", "warmup", "limit", "jobs", "time_limit")
_FIELDS = (("mae", -1), ("rmse", -1), ("r2", 1), *compare_page.SPEED_FIELDS)
_MEASURE = Drawn("mean absolute error", "in its unit", lambda c: c.mae, -1, None)
_LARGE = 1e6  # larger scores are shown by their order of magnitude only
_FAR = 4  # learners with more than this many times the least error are in no picture


@dataclass(frozen=True)
class NumberResults:
    """The results of one stream: its cells, in the order of the contenders."""

    stream: NumberStream
    cells: Sequence[NumberCell]


def print_part(part: NumberResults) -> None:
    """Print a table with a row for every learner; then the failures."""
    console.say(f"{part.stream.name}: {size(part.stream)}")
    comparison_report.print_learners(part.cells, COLUMNS, figures)
    comparison_report.print_failures(part.cells)


def size(stream: NumberStream) -> str:
    """Return the size of a stream and its target as a text."""
    ahead = f", {count(stream.horizon, 'sample')} ahead" if stream.horizon else ""
    return (
        f"{count(stream.samples, 'sample')}, {count(stream.features, 'feature')}; "
        f"the target is {stream.target_name}{ahead}"
    )


def figures(cell: NumberCell) -> list[str]:
    """Return a learner's figures for the COLUMNS."""
    return comparison_report.all_figures(cell, (cell.mae, cell.rmse, cell.r2), _text)


def _text(score: float) -> str:
    return f"{score:.4g}" if abs(score) < _LARGE else f"{score:.1e}"


def record(parts: Sequence[NumberResults], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record that `compare --target --json` writes."""
    cells = [cell for part in parts for cell in part.cells]
    return {
        "streams": [
            {
                "name": stream.name,
                "samples": stream.samples,
                "features": stream.features,
                "target": stream.target_name,
                "horizon": stream.horizon,
                "scored": int(stream.scored.sum()),
            }
            for stream in (part.stream for part in parts)
        ],
        "cells": [cell.record() for cell in cells],
        "options": dict(options),
        "versions": comparison_report.all_versions(cells),
    }


def make_page(parts: Sequence[NumberResults], command: str, options: Mapping[str, Any]) -> Page:
    """Return the page of all streams; `options` are the comparison's."""
    cells = [cell for part in parts for cell in part.cells]
    names = [part.stream.name for part in parts]
    facts = {name: options[name] for name in OPTIONS}
    page = compare_page.begin_page(names, cells, command, facts)
    for part in parts:
        page.heading(part.stream.name)
        page.paragraph(f"{size(part.stream)}.")
        compare_page.add_cells(page, part.stream.name, part.cells, _form(part.cells))
    page.heading("What the columns hold")
    for note in NOTES:
        page.paragraph(note)
    return page


def _form(cells: Sequence[NumberCell]) -> compare_page.Form:
    """Return a form whose pictures leave out learners with errors so large that they
    hide the others.
    """
    most = _FAR * min((cell.mae for cell in cells if cell.mae is not None), default=0.0)
    return compare_page.Form(
        COLUMNS, figures, _FIELDS, _MEASURE, lambda cell: cell.mae is not None and cell.mae <= most
    )

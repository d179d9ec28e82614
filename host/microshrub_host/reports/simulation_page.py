"""The HTML page of one simulation: tables, sentences, and a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..base.versions import versions
from ..evaluation.task import RunResult
from .page import Page, surroundings
from .result_tables import RunReport, RunRows


def make_page(
    result: RunResult,
    report: RunReport,
    rows: RunRows,
    summary: Sequence[str],
    figure: Any,
    command: str,
) -> Page:
    """Make the page; rows and summary are also printed, and figure is the picture."""
    page = Page(f"{result.model} on {result.stream}", command, _facts(result))
    page.paragraph(f"{report.size}. {' '.join(summary)} {report.verdict}".rstrip())
    page.picture(figure, report.picture)
    page.heading("Figures")
    if report.scores:
        page.table(report.scores[0], report.scores[1:])
    page.table(["what", "value"], _plain(rows.main))
    if report.matrix:
        page.heading(report.matrix_title.capitalize())
        page.table(report.matrix[0], report.matrix[1:])
    page.heading("Details")
    page.table(["what", "value"], _plain(rows.details))
    page.heading("Parameters")
    page.table(["parameter", "value"], [(k, str(v)) for k, v in result.parameters.items()])
    return page


def _plain(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name.strip(), value) for name, value in rows]


def _facts(result: RunResult) -> Mapping[str, str]:
    facts = surroundings() | versions() | {"engine": result.engine}
    seed = result.parameters.get("seed")
    return facts if seed is None else facts | {"seed": str(seed)}

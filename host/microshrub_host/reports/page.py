"""The page of one simulation: its tables, what it says, and its picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..base.versions import versions
from ..evaluation.task import RunResult
from ..render.page import Page, surroundings
from .report import RunReport


def make_page(
    result: RunResult, told: RunReport, rows: Sequence[tuple[str, str]], figure: Any, command: str
) -> Page:
    """The page; told and rows are what is printed, figure is what is drawn."""
    page = Page(f"{result.model} on {result.stream}", command, _facts(result))
    page.paragraph(f"{told.size}. {told.verdict}")
    page.picture(figure, told.picture)
    page.heading("Figures")
    if told.scores:
        page.table(told.scores[0], told.scores[1:])
    page.table(["what", "value"], [(name.strip(), value) for name, value in rows])
    page.heading("Parameters")
    page.table(["parameter", "value"], [(k, str(v)) for k, v in result.parameters.items()])
    return page


def _facts(result: RunResult) -> Mapping[str, str]:
    facts = surroundings() | versions() | {"engine": result.engine}
    seed = result.parameters.get("seed")
    return facts if seed is None else facts | {"seed": str(seed)}

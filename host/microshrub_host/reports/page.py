"""The page of one simulation: its table, what it says, and its picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..base.versions import versions
from ..evaluation.classes import Result
from ..render.page import Page, surroundings
from .plots import draw_run
from .report import size_of_run


def make_page(result: Result, rows: Sequence[tuple[str, str]], said: str, command: str) -> Page:
    """The page; rows are those of the table that is printed, said is the verdict on them."""
    page = Page(f"{result.model} on {result.stream}", command, _facts(result))
    page.paragraph(f"{size_of_run(result)}. {said}")
    page.picture(
        draw_run(result), "Accuracy over time beside the baselines, and the state of the model."
    )
    page.heading("Figures")
    page.table(["what", "value"], [(name.strip(), value) for name, value in rows])
    page.heading("Parameters")
    page.table(["parameter", "value"], [(k, str(v)) for k, v in result.parameters.items()])
    return page


def _facts(result: Result) -> Mapping[str, str]:
    facts = surroundings() | versions() | {"engine": result.engine}
    seed = result.parameters.get("seed")
    return facts if seed is None else facts | {"seed": str(seed)}

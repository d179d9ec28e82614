"""The files of an experiment's folder: tables as Markdown, pictures, and an HTML page."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from microshrub_host.base import files
from microshrub_host.base.text import count
from microshrub_host.reports.markdown import markdown_table
from microshrub_host.reports.page import Page

from ..compare.comparison_report import system_versions
from .experiment import ExperimentResults, Picture, ReportTable, RunOutcome

_ENDINGS = ("png", "svg")
_DPI = 110


def facts(experiment: ExperimentResults, origins: Mapping[str, str]) -> dict[str, str]:
    """Return versions, the machine, and the origins of the streams."""
    systems = {result.system for result in experiment.results}
    paragraphs = system_versions(systems) | {"machine": _machine()}
    return paragraphs | {f"stream {name}": origin for name, origin in origins.items()}


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}"


def markdown(
    title: str,
    command: str,
    experiment: ExperimentResults,
    tables: Sequence[ReportTable],
    pictures: Sequence[Picture],
    versions: Mapping[str, str],
) -> str:
    """Return the tables and links to the pictures, as one file."""
    paragraphs = [
        f"# {title}",
        f"Made by `{command}`; do not edit it by hand.",
        *introduction(experiment),
    ]
    for table in tables:
        paragraphs += [f"## {table.title}", *table.notes, table_text(table)]
    if pictures:
        paragraphs.append("## Pictures")
        paragraphs += [f"![{picture.caption}]({picture.name}.svg)" for picture in pictures]
    paragraphs += [
        "## How this was made",
        table_text(ReportTable("", ("what", "which"), list(versions.items()))),
    ]
    return "\n\n".join(paragraphs) + "\n"


def introduction(experiment: ExperimentResults) -> list[str]:
    """Return paragraphs on the streams, the methods, and the runs that did not finish."""
    paragraphs = [f"Streams: {', '.join(_size(experiment, name) for name in experiment.streams)}."]
    paragraphs.append(
        "Methods: " + "; ".join(_described(experiment, name) for name in _names(experiment)) + "."
    )
    paragraphs += experiment.notes
    failures = [result for result in experiment.results if result.accuracy is None]
    if failures:
        reasons: dict[str, int] = {}
        for result in failures:
            words = f"{result.method}: {_reason(result)}"
            reasons[words] = reasons.get(words, 0) + 1
        listed = "; ".join(f"{words} ({number})" for words, number in reasons.items())
        paragraphs.append(
            f"{len(failures)} of {count(len(experiment.results), 'run')} did not finish, or "
            f"were not started: {listed}."
        )
    return paragraphs


def _names(experiment: ExperimentResults) -> list[str]:
    return [method.name for method in experiment.methods]


def _described(experiment: ExperimentResults, name: str) -> str:
    method = next(method for method in experiment.methods if method.name == name)
    return f"{name}, {method.title}, {count(len(method.contenders), 'configuration')}"


def _size(experiment: ExperimentResults, stream: str) -> str:
    for result in experiment.results:
        if result.stream == stream and result.features:
            whole = max(each.samples for each in experiment.results if each.stream == stream)
            return (
                f"{stream} ({count(whole, 'sample')}, {count(result.features, 'feature')}, "
                f"{count(result.classes, 'class')})"
            )
    return stream


def _reason(result: RunOutcome) -> str:
    """Return a failure, without the parts that differ from run to run."""
    return "takes too many bytes" if result.too_large else result.failure


def table_text(table: ReportTable) -> str:
    """Return a table as Markdown."""
    return markdown_table(table.head, table.rows, best=table.best)


def make_page(
    title: str,
    command: str,
    experiment: ExperimentResults,
    tables: Sequence[ReportTable],
    pictures: Sequence[Picture],
    versions: Mapping[str, str],
) -> Page:
    """Return the content of markdown() as a page with the pictures."""
    page = Page(title, command, versions)
    for text in introduction(experiment):
        page.paragraph(text)
    for table in tables:
        page.heading(table.title)
        for text in table.notes:
            page.paragraph(text)
        page.table(table.head, table.rows, best=table.best)
    if pictures:
        page.heading("Pictures")
    for picture in pictures:
        page.picture(picture.figure, picture.caption)
    return page


def save_pictures(folder: Path, pictures: Sequence[Picture]) -> None:
    """Save each picture as NAME.png and NAME.svg."""
    for picture in pictures:
        for ending in _ENDINGS:
            picture.figure.savefig(folder / f"{picture.name}.{ending}", dpi=_DPI)


def save_text(path: Path, text: str) -> None:
    """Write the file, completely or not at all."""
    files.replace(path, text.encode())

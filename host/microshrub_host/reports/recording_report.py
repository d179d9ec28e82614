"""Describes a recording, as text for one screen and as a page: `microshrub look`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.text import count
from ..streams.stream import Stream
from ..streams.survey import ColumnSurvey, Survey
from .page import Page

_BLOCKS, _PLAIN = "▁▂▃▄▅▆▇█", " .:-=+*#"
_WIDTH = 12  # characters of a curve
_MOST = 24  # columns of a screen
HEAD = ("column", "holds", "from to", "missing", "is", "curve")


@dataclass(frozen=True)
class RecordingReport:
    """The description of a recording; `roles` has the use of each column, by its name."""

    survey: Survey
    roles: Mapping[str, str]
    facts: Sequence[str]  # about the clock and the classes
    notes: Sequence[str]
    fault: str  # the reason if the recording cannot be learned as it is
    command: str  # a command to continue with

    @property
    def title(self) -> str:
        """The file and its size."""
        rows = count(self.survey.rows, "row") + ("" if self.survey.whole else " read")
        return f"{self.survey.name}: {rows}, {count(len(self.survey.columns), 'column')}"

    def rows(self, signs: str = _BLOCKS, most: int | None = None) -> list[tuple[str, ...]]:
        """Return a row for each column, with its curve in these characters, low to high."""
        return [
            (
                column.name,
                _holds(column),
                column.span,
                f"{100 * column.missing / column.cells:.3g} %" if column.missing else "",
                self.roles.get(column.name, ""),
                curve(column, signs),
            )
            for column in self.survey.columns[:most]
        ]

    def screen(self, *, blocks: bool) -> tuple[list[tuple[str, ...]], list[str]]:
        """Return the rows of the table on a screen, and the lines below it."""
        rows = self.rows(_BLOCKS if blocks else _PLAIN, _MOST)
        more = len(self.survey.columns) - _MOST
        lines = [f"... and {count(more, 'column')} more; --html shows all"] if more > 0 else []
        lines += [*self.facts, *self.notes]
        if self.fault:
            lines.append(f"It cannot be learned as it is. {self.fault}")
        if self.command:
            lines.append(f"Go on with: {self.command}")
        return rows, lines

    def page(self, command: str, facts: Mapping[str, str]) -> Page:
        """Return the description as a page, with a picture of the first columns of numbers."""
        page = Page(self.title, command, facts)
        for line in [*self.facts, *self.notes]:
            page.paragraph(line)
        if self.fault:
            page.paragraph(f"It cannot be learned as it is. {self.fault}")
        if self.command:
            page.paragraph(f"Go on with: {self.command}")
        page.heading("Columns")
        page.table(HEAD[:-1], [row[:-1] for row in self.rows()])
        drawn = [column for column in self.survey.columns if column.numbers]
        if drawn:
            page.heading("Curves")
            page.picture(_figure(drawn[:_MOST]), "each column of numbers, from the first row on")
        return page


def _holds(column: ColumnSurvey) -> str:
    if not column.unit or column.unit in column.name:
        return column.kind
    return f"{column.kind}, {column.unit}"


def curve(column: ColumnSurvey, signs: str = _BLOCKS) -> str:
    """Return a small curve of a column of numbers, from the first row to the last."""
    points = np.array(column.points)
    finite = points[np.isfinite(points)]
    largest = float(np.max(np.abs(finite), initial=0.0))
    if not column.numbers or len(finite) < 2 or not largest:
        return ""
    low, high = float(finite.min()) / largest, float(finite.max()) / largest
    if low == high:
        return ""
    result = ""
    for part in np.array_split(points, min(_WIDTH, len(points))):
        known = part[np.isfinite(part)] / largest
        if not len(known):
            result += " "
            continue
        share = (float(known.mean()) - low) / (high - low)
        result += signs[max(min(int(share * len(signs)), len(signs) - 1), 0)]
    return result


def class_facts(stream: Stream) -> str:
    """Return the classes, with the numbers of their samples and runs, as a sentence."""
    labels = np.asarray(stream.labels)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1])
    runs = np.bincount(labels[starts], minlength=len(stream.class_names))
    sizes = np.bincount(labels, minlength=len(stream.class_names))
    parts = [
        f"{name} {size:,} in {count(int(run), 'run')}"
        for name, size, run in zip(stream.class_names, sizes.tolist(), runs, strict=True)
    ]
    more = f", and {len(parts) - 8} more" if len(parts) > 8 else ""
    return f"Classes ({stream.label_name or 'label'}): {', '.join(parts[:8])}{more}."


def _figure(columns: Sequence[ColumnSurvey]) -> Any:
    from matplotlib.figure import Figure

    height = max(1.1 * len(columns), 2.0)
    figure = Figure(figsize=(9, height), layout="constrained")
    each = figure.subplots(len(columns), sharex=True, squeeze=False)[:, 0]
    for axes, column in zip(each, columns, strict=True):
        rows = np.arange(len(column.points)) * column.stride
        axes.plot(rows, column.points, lw=0.8)
        name = column.name if len(column.name) < 16 else f"{column.name[:14]}..."
        axes.set_ylabel(name, rotation=0, ha="right", va="center", parse_math=False)
        axes.grid(alpha=0.3)
        if math.isclose(column.low, column.high):
            axes.set_yticks([column.low])
    each[-1].set_xlabel("row")
    return figure

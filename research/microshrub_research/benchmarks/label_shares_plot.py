"""The picture of `benchmark labels`: accuracy against the share of labels, one plot per stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .label_shares import PERCENT, LabelRow

_ACROSS = 4


def draw(rows: Sequence[LabelRow]) -> Any:
    """Return a matplotlib figure."""
    from matplotlib.figure import Figure

    down = -(-len(rows) // _ACROSS)
    figure = Figure(figsize=(11, 2.7 * down + 0.4), layout="constrained")
    fields = figure.subplots(down, _ACROSS, squeeze=False).ravel()
    for axes, row in zip(fields, rows, strict=False):
        _draw(axes, row)
    for axes in fields[len(rows) :]:
        axes.set_visible(False)
    lines, names = fields[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=3, frameon=False)
    figure.supxlabel("labels, % of the samples")
    figure.supylabel("accuracy, %")
    return figure


def _draw(axes: Any, row: LabelRow) -> None:
    queried = [row.queried[percent] for percent in PERCENT]
    at_random = [row.random[percent] for percent in PERCENT]
    axes.plot(PERCENT, queried, "o-", ms=3, color="C0", label="asking where it is unsure")
    axes.plot(PERCENT, at_random, "s--", ms=3, color="C1", label="at random")
    axes.axhline(row.full, color="0.4", lw=1, label="all labels")
    axes.set_xscale("log")
    axes.set_xticks(PERCENT, [str(percent) for percent in PERCENT])
    axes.minorticks_off()
    axes.set_title(row.stream, fontsize=10, parse_math=False)
    axes.grid(alpha=0.3)

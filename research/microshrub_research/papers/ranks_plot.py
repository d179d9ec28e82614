"""Critical difference diagrams: methods at their average ranks, joined where they do not differ.

Demsar: Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006, 3.2.4.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .ranks import Ranking

_LINE = 0.32  # inches between two names
_BAR = 0.13  # inches between two bars
_OUT = 0.3  # ranks from the ends of the axis to the names


def draw_ranks(ranking: Ranking, title: str) -> Any:
    """Return the diagram as a figure; the best method is on the right."""
    from matplotlib.figure import Figure

    count = len(ranking.names)
    half = math.ceil(count / 2)
    bars = _BAR * (len(ranking.cliques) + 1)
    height = 0.9 + bars + _LINE * half
    figure = Figure(figsize=(7.5, height + 0.2), layout="constrained")
    axes = figure.subplots()
    axes.set_xlim(count + _OUT, 1 - _OUT)  # ranks get smaller and better towards the right
    axes.set_ylim(-bars - _LINE * half - 0.1, 0.5)
    axes.axis("off")
    axes.set_title(title, fontsize=10, parse_math=False)
    _draw_axis(axes, count)
    order = np.argsort(ranking.ranks, kind="stable")
    for place, index in enumerate(order):
        right = place < half
        level = place if right else count - 1 - place
        y = -bars - _LINE * (level + 0.5)
        _draw_name(axes, ranking, int(index), y, right=right)
    for number, clique in enumerate(ranking.cliques):
        ranks = ranking.ranks[list(clique)]
        y = -_BAR * (number + 1)
        axes.plot(
            [ranks.min() - 0.05, ranks.max() + 0.05], [y, y], color="k", lw=3.5,
            solid_capstyle="butt",
        )  # fmt: skip
    return figure


def _draw_axis(axes: Any, count: int) -> None:
    axes.plot([1, count], [0, 0], color="k", lw=1)
    for rank in range(1, count + 1):
        axes.plot([rank, rank], [0, 0.1], color="k", lw=1)
        axes.text(rank, 0.16, str(rank), ha="center", va="bottom", fontsize=9)
    for half in np.arange(1.5, count, 1):
        axes.plot([half, half], [0, 0.05], color="k", lw=0.7)


def _draw_name(axes: Any, ranking: Ranking, index: int, y: float, *, right: bool) -> None:
    """Draw a line from the method's rank down to its name, on the side with room."""
    rank = ranking.ranks[index]
    end = 1 - _OUT / 2 if right else len(ranking.names) + _OUT / 2
    axes.plot([rank, rank, end], [0, y, y], color="0.35", lw=0.8)
    name = (
        f"{ranking.names[index]}  {rank:.2f}" if right else f"{rank:.2f}  {ranking.names[index]}"
    )
    side = "left" if right else "right"
    axes.text(end, y, f" {name} ", ha=side, va="center", fontsize=9, parse_math=False)

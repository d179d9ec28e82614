"""The pictures of a comparison: a measure by the bytes of the model, and the measure over time.

The measure is the accuracy or, for regression, the mean absolute error.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from microshrub_host.evaluation.pareto import front

from .outcome import AnyCell

_COLOURS = {"ours": "C0", "river": "C1", "moa": "C2", "torch": "C4", "baseline": "0.5"}
_LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
_SIZE = 8  # font size of the names in a picture, in points
_WIDE = 0.64  # width of a letter, as a part of its font's size
_LETTERS = 24  # letters in a line of a name
_EARLY = 0.1  # share of a stream before the curves settle

Box = tuple[float, float, float, float]  # left, bottom, right, top


@dataclass(frozen=True)
class Drawn:
    """The measure of a cell that the pictures show."""

    name: str
    unit: str
    of: Callable[[Any], float | None]
    better: int = 1  # -1: less is better
    most: float | None = 100.0  # the highest possible value


ACCURACY = Drawn("accuracy", "%", lambda cell: cell.accuracy)


def draw_sizes(cells: Sequence[AnyCell], measure: Drawn = ACCURACY) -> Any:
    """Return the figure of the measure by bytes, for cells that have both,
    with the Pareto front.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, NullFormatter

    points = [(float(cell.model_bytes or 1), float(measure.of(cell) or 0)) for cell in cells]
    figure = Figure(figsize=(7, 5))
    axes = figure.add_axes((0.09, 0.11, 0.89, 0.86))  # fixed before anything is drawn
    axes.set_xscale("log")
    sizes, heights = zip(*points, strict=True)
    axes.set_xlim(min(sizes) / 2, max(sizes) * 6)  # most names are on the right of their points
    room = max(2.0 if measure.most else max(heights) * 0.02, (max(heights) - min(heights)) * 0.08)
    axes.set_ylim(min(heights) - room, max(heights) + room)
    steps = [points[i] for i in front([(size, measure.better * y) for size, y in points])]
    ends = [*steps, (axes.get_xlim()[1], steps[-1][1])]
    axes.plot(*zip(*ends, strict=True), drawstyle="steps-post", color="0.5", lw=1, zorder=1)
    colours = [_COLOURS.get(cell.system, "C3") for cell in cells]
    axes.scatter(sizes, heights, s=22, c=colours, zorder=3)
    taken = []
    for (x, y), (next_x, next_y) in pairwise(map(axes.transData.transform, ends)):
        taken += [(x, y - 2, next_x, y + 2), (next_x - 2, y, next_x + 2, next_y)]
    _name_points(axes, points, [cell.name for cell in cells], taken)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("bytes of the model")
    axes.set_ylabel(f"{measure.name}, {measure.unit}")
    axes.grid(alpha=0.3)
    return figure


def _name_points(
    axes: Any,
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    occupied: Sequence[Box],
) -> None:
    """Write every name near its point, without overlap if there is room.

    `occupied` boxes are in pixels.
    """
    dots = [tuple(axes.transData.transform(point)) for point in points]
    taken: list[Box] = [*occupied, *((x - 4, y - 4, x + 4, y + 4) for x, y in dots)]
    left, bottom, right, top = axes.bbox.extents
    scale = axes.figure.dpi / 72
    for index in sorted(range(len(dots)), key=lambda i: -dots[i][1]):
        x, y = dots[index]
        lines = textwrap.wrap(names[index], _LETTERS)
        width = max(map(len, lines), default=0) * _WIDE * _SIZE * scale
        height = len(lines) * 1.2 * _SIZE * scale
        places = []
        for away in (7, 14, 24, 36, 50, 66, 84, 104):
            for dx, dy in ((away, 0), (away, away), (away, -away), (0, away), (0, -away)):
                places.append((x + dx, y + dy))
            for dy in (0, away, -away):
                places.append((x - away - width, y + dy))
        boxes = [(a, b - height / 2, a + width, b + height / 2) for a, b in places]
        inside = [
            b for b in boxes if b[0] > left and b[1] > bottom and b[2] < right and b[3] < top
        ]
        box = min(inside or boxes, key=lambda box: sum(_shared(box, other) for other in taken))
        taken.append(box)
        axes.annotate(
            "\n".join(lines),
            points[index],
            xytext=((box[0] - x) / scale, ((box[1] + box[3]) / 2 - y) / scale),
            textcoords="offset points",
            fontsize=_SIZE,
            va="center",
            parse_math=False,
            arrowprops={"arrowstyle": "-", "color": "0.6", "lw": 0.5, "shrinkA": 0, "shrinkB": 3},
        )


def _shared(one: Box, other: Box) -> float:
    """Return the area that two boxes share."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0) * max(height, 0)


def draw_curves(cells: Sequence[AnyCell], measure: Drawn = ACCURACY) -> Any:
    """Return the figure of the measure over time, for all cells;
    the best learners are named first.
    """
    from matplotlib.figure import Figure

    shown = [cell for cell in cells if cell.curve]
    shown.sort(key=lambda cell: -measure.better * cell.curve[-1][1])
    rows = -(-len(shown) // 2)
    figure = Figure(figsize=(7, 4 + 0.2 * rows), layout="constrained")
    axes = figure.add_subplot()
    drawn: dict[str, int] = {}
    settled = []
    total = max(cell.curve[-1][0] for cell in shown)
    for cell in shown:
        place = drawn[cell.system] = drawn.get(cell.system, -1) + 1
        axes.plot(
            *zip(*cell.curve, strict=True),
            color=_shade(cell.system, place),
            ls=_LINES[place % len(_LINES)],
            lw=1.8 if cell.system == "ours" else 1.1,
            label=_label(cell, measure),
        )
        settled += [value for samples, value in cell.curve if samples > total * _EARLY]
    axes.set_ylim(*_limits(settled, measure))
    axes.set_xlim(0, total)
    axes.set_xlabel("samples")
    axes.set_ylabel(f"{measure.name} so far, {measure.unit}")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=_SIZE)
    return figure


def _label(cell: AnyCell, measure: Drawn) -> str:
    name, last = textwrap.shorten(cell.name, 40, placeholder=" ..."), cell.curve[-1][1]
    return f"{name} {last:.2f}" if measure.most else f"{name} {last:.4g}"


def _limits(settled: Sequence[float], measure: Drawn) -> tuple[float, float]:
    """Return the ends of the axis, for values after the curves have settled."""
    low, high = min(settled, default=0), max(settled, default=measure.most or 1)
    if measure.most:
        return max(0, low - 3) - 0.5, min(measure.most, high + 3) + 0.5
    room = (high - low) * 0.05 or 1
    return max(0, low - room), high + room


def _shade(system: str, place: int) -> Any:
    """Return the colour of a system, paler for learners after its first five."""
    from matplotlib.colors import to_rgb

    return (*to_rgb(_COLOURS.get(system, "C3")), 1.0 if place < len(_LINES) else 0.5)

"""Models by bytes and accuracy: the Pareto front, and the staircase that it forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Points = Sequence[tuple[float, float]]  # bytes, accuracy in percent


def front(points: Points) -> list[int]:
    """Return the indices of the points that no other point beats, by ascending bytes.

    A point beats another one that is neither smaller nor more accurate. Of equal points, only the
    first is in the front.
    """
    unbeaten: list[int] = []
    best = float("-inf")
    for index in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1], i)):
        if points[index][1] > best:
            best = points[index][1]
            unbeaten.append(index)
    return unbeaten


def area(points: Points, most_bytes: float) -> float:
    """Return the best accuracy within a RAM limit, averaged over limits from 0 to most_bytes.

    This is the area under the front's staircase, from 0 to 1; the staircase is 0 where no model is
    small enough. Raises ValueError if most_bytes is not above 0.
    """
    if not most_bytes > 0:
        raise ValueError(f"most_bytes has to be above 0, not {most_bytes}")
    steps = [points[i] for i in front(points) if points[i][0] < most_bytes]
    ends = [size for size, _ in steps[1:]] + [most_bytes]
    total = sum(
        (end - size) * accuracy / 100
        for (size, accuracy), end in zip(steps, ends[: len(steps)], strict=True)
    )
    return float(total / most_bytes)


def draw(
    axes: Any,
    named: Mapping[str, Points],
    *,
    most_bytes: float | None = None,
    looks: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Draw every group of points, faint, and the staircase of its front, up to most_bytes.

    looks has matplotlib's options for a group's line. The axis of the bytes is logarithmic.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    sizes = [size for points in named.values() for size, _ in points]
    right = most_bytes or max(sizes, default=1) * 1.2
    for name, points in named.items():
        if not points:
            continue
        look = {"lw": 1.5, "marker": "o", "ms": 4, **(looks or {}).get(name, {})}
        steps = [points[i] for i in front(points)]
        ends = [*steps, (max(right, steps[-1][0]), steps[-1][1])]
        (line,) = axes.plot(
            *zip(*ends, strict=True),
            drawstyle="steps-post",
            label=name,
            markevery=range(len(steps)),
            **look,
        )
        axes.scatter(*zip(*points, strict=True), s=8, alpha=0.25, lw=0, color=line.get_color())
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("bytes of the model")
    axes.set_ylabel("accuracy, %")
    axes.grid(alpha=0.3)

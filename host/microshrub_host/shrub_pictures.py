"""The Shrub Ensembles paper's pictures: ranks, accuracy and memory over time, Pareto fronts."""

from __future__ import annotations

from typing import Any

from . import pareto
from .experiment import RUNNING, Found, Picture
from .paper_figures import load_paper
from .ranks_plot import draw_ranks
from .shrub_tables import KB, PAPER, points_of, rank, rank_paper

_STYLES = ("-", "--", ":", "-.")
_LEAST = 0.1  # KB: what is smaller cannot be seen on a logarithmic axis


def pictures(found: Found) -> list[Picture]:
    """The paper's Figure 1, and its own; then two of each stream."""
    made = []
    ranking = rank(found)
    if ranking is not None:
        text = f"Critical difference diagram of the areas here ({len(found.streams)} streams)"
        made.append(
            Picture("ranks", draw_ranks(ranking, text), text + ". Better is on the right.")
        )
    text = "Critical difference diagram of the areas in the paper's Table 1 (12 streams)"
    theirs = draw_ranks(rank_paper(load_paper(PAPER)), text)
    made.append(Picture("ranks-paper", theirs, text + ". Better is on the right."))
    for stream in found.streams:
        made += [_over_time(found, stream), _fronts(found, stream)]
    return made


def _look(found: Found, method: str) -> dict[str, Any]:
    """Each method has its own colour and line in all pictures; ours are thick."""
    number = [each.name for each in found.methods].index(method)
    ours = any(c.system == "ours" for m in found.methods if m.name == method for c in m.contenders)
    return {
        "color": f"C{number}",
        "ls": _STYLES[number % len(_STYLES)],
        "lw": 2.4 if ours else 1.3,
    }


def _over_time(found: Found, stream: str) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    for method in found.methods:
        best = found.best(stream, method.name)
        if best is None:
            continue
        look = _look(found, method.name)
        upper.plot(*zip(*best.accuracies, strict=True), label=method.name, **look)
        if best.sizes:
            samples, sizes = zip(*best.sizes, strict=True)
            lower.plot(samples, [max(_LEAST, size / KB) for size in sizes], **look)
    upper.set_ylabel("running accuracy, %")
    lower.set_ylabel("model, KB")
    lower.set_yscale("log")
    lower.set_xlabel("samples")
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    figure.suptitle(stream, fontsize=11, parse_math=False)
    caption = (
        f"{stream}: accuracy so far and bytes of each method's best configuration, over time. "
        "MOA's and River's bytes are with what they took before the first sample."
    )
    return Picture(f"{stream}-time", figure, caption)


def _fronts(found: Found, stream: str) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    everybody = [p for m in found.methods for p in points_of(found, stream, m.name, RUNNING)]
    most = max((size for size, _ in everybody), default=1.0)
    for method in found.methods:
        points = points_of(found, stream, method.name, RUNNING)
        if not points:
            continue
        look = _look(found, method.name)
        kept = [points[i] for i in pareto.front(points)]
        sizes = [max(_LEAST, size / KB) for size, _ in kept]
        accuracies = [accuracy for _, accuracy in kept]
        axes.plot(
            [*sizes, most / KB], [*accuracies, accuracies[-1]], drawstyle="steps-post",
            label=method.name, **look,
        )  # fmt: skip
        axes.plot(sizes, accuracies, "o", color=look["color"], ms=4)
    axes.set_xscale("log")
    axes.set_xlabel("average model size, KB")
    axes.set_ylabel("mean of the running accuracy, %")
    axes.grid(alpha=0.3)
    axes.set_title(stream, fontsize=11, parse_math=False)
    figure.legend(loc="outside right upper", frameon=False)
    caption = (
        f"{stream}: the Pareto front of each method, up to the biggest model of all. Each point "
        "is a configuration that no smaller one of the method is as accurate as."
    )
    return Picture(f"{stream}-front", figure, caption)

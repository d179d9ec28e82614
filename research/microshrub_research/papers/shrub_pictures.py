"""The Shrub Ensembles paper's pictures: ranks, accuracy and memory over time, Pareto fronts."""

from __future__ import annotations

from typing import Any

from microshrub_host.evaluation import pareto

from .experiment import RUNNING, ExperimentResults, Picture
from .printed_figures import load_paper
from .ranks_plot import draw_ranks
from .shrub_tables import PAPER, points_of, rank, rank_paper

_STYLES = ("-", "--", ":", "-.")
_LONG = 100  # the least ratio of the ends of a long axis


def pictures(experiment: ExperimentResults) -> list[Picture]:
    """Return the ranks here and in the paper's Figure 1; then two pictures for each stream."""
    made = []
    ranking = rank(experiment)
    if ranking is not None:
        text = f"Critical difference diagram of the areas here ({len(experiment.streams)} streams)"
        made.append(
            Picture("ranks", draw_ranks(ranking, text), text + ". Better is on the right.")
        )
    text = "Critical difference diagram of the areas in the paper's Table 1 (12 streams)"
    theirs = draw_ranks(rank_paper(load_paper(PAPER)), text)
    made.append(Picture("ranks-paper", theirs, text + ". Better is on the right."))
    for stream in experiment.streams:
        made += [_over_time(experiment, stream), _fronts(experiment, stream)]
    return made


def _look(experiment: ExperimentResults, method: str) -> dict[str, Any]:
    """Return a method's colour and line, the same in all pictures; ours are thick."""
    number = [each.name for each in experiment.methods].index(method)
    ours = any(
        c.system == "ours" for m in experiment.methods if m.name == method for c in m.contenders
    )
    return {
        "color": f"C{number}",
        "ls": _STYLES[number % len(_STYLES)],
        "lw": 2.4 if ours else 1.3,
    }


def _over_time(experiment: ExperimentResults, stream: str) -> Picture:
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    figure = Figure(figsize=(8, 6), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    for method in experiment.methods:
        best = experiment.best(stream, method.name)
        if best is None:
            continue
        look = _look(experiment, method.name)
        upper.plot(*zip(*best.accuracies, strict=True), label=method.name, **look)
        if best.sizes:
            samples, sizes = zip(*best.sizes, strict=True)
            lower.plot(samples, sizes, **look)
    upper.set_ylabel("running accuracy, %")
    lower.set_ylabel("bytes of the model")
    lower.set_yscale("log")
    lower.yaxis.set_major_locator(_locator(lower.get_ylim()))
    lower.yaxis.set_major_formatter("{x:,.0f}")
    lower.yaxis.set_minor_formatter(NullFormatter())
    lower.set_xlabel("samples")
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    figure.suptitle(stream, fontsize=11, parse_math=False)
    caption = (
        f"{stream}: accuracy so far and bytes of each method's best configuration, over time. "
        "MOA's and River's bytes include what they took before the first sample."
    )
    return Picture(f"{stream}-time", figure, caption)


def _fronts(experiment: ExperimentResults, stream: str) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    named = {m.name: points_of(experiment, stream, m.name, RUNNING) for m in experiment.methods}
    most = max((size for points in named.values() for size, _ in points), default=None)
    looks = {name: _look(experiment, name) for name in named}
    pareto.draw(axes, named, most_bytes=most, looks=looks)
    axes.xaxis.set_major_locator(_locator(axes.get_xlim()))
    axes.set_xlabel("average bytes of the model")
    axes.set_ylabel("mean of the running accuracy, %")
    axes.set_title(stream, fontsize=11, parse_math=False)
    figure.legend(loc="outside right upper", frameon=False)
    caption = (
        f"{stream}: the Pareto front of each method, up to the largest model of all. The faint "
        "points are the configurations that are not on it."
    )
    return Picture(f"{stream}-front", figure, caption)


def _locator(limits: tuple[float, float]) -> Any:
    """Return the ticks of a logarithmic axis: at 1, 2 and 5, or for a long axis at 1 alone."""
    from matplotlib.ticker import LogLocator

    return LogLocator(10, subs=(1, 2, 5) if limits[1] < _LONG * limits[0] else (1,))

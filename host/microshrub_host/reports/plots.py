"""Pictures of a run, and of an anomaly score."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.text import count
from ..evaluation.classes import Result, running_accuracy
from ..evaluation.regression import NumberResult
from ..simulation.anomaly import AnomalyRun
from ..streams.regression_streams import NumberStream, Values

_SHARE = "share_"  # prefix of a member's share of the votes, in an ensemble's progress
_FEW = 10  # points; a line of fewer has markers
_TITLE = 90  # letters in a line

Curve = tuple[NDArray[Any], NDArray[Any], dict[str, Any]]  # samples, percentages, and the style


def draw_run(result: Result) -> Any:
    """Plot accuracy over time with the baselines, and below it the model's state."""
    from matplotlib.figure import Figure

    drawn = [run for run in result.companions.values() if run.draws]
    parts = (3, *(1 for _ in drawn), 1)
    figure = Figure(figsize=(9, 4.5 + 1.5 * (len(parts) - 1)), layout="constrained")
    upper, *between, lower = figure.subplots(len(parts), sharex=True, height_ratios=parts)
    curves = _curves(result)
    for samples, percent, look in curves:
        upper.plot(samples, percent, marker="o" if len(samples) < _FEW else None, **look)
    upper.set_ylabel("accuracy, %")
    early = result.samples // 10  # samples before the curves settle
    settled = [percent[samples > early].min(initial=100) for samples, percent, _ in curves]
    size = count(result.samples, "sample")
    title = f"{result.stream}: {result.accuracy:.2f} % of {size}"
    head = result.unseen and result.unseen.headline
    if head:
        title = f"{result.stream}: on unseen data {head.text}"
        upper.axhline(head.accuracy, color="C3", lw=2, label="on unseen data")
        upper.axhline(head.guessing, color="C3", lw=1, ls=":", label="guessing")
        settled += [head.accuracy, head.guessing]
    upper.set_title(textwrap.fill(title, _TITLE), parse_math=False)
    upper.set_ylim(max(0, min(settled) - 5) - 0.5, 100.5)
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    _draw_progress(lower, result)
    for run, axes in zip(drawn, between, strict=True):
        run.draw(axes)
    for axes in (upper, *between, lower):
        axes.grid(alpha=0.3)
    return figure


def _curves(result: Result) -> list[Curve]:
    window = max(10, min(1000, result.samples // 20))
    seen = np.arange(1, result.samples + 1)
    thin = np.unique(np.linspace(0, result.samples - 1, 2000).astype(int))
    points = np.array([p.samples for p in result.history])
    nochange = np.array([p.accuracy_nochange for p in result.history])
    majority = np.array([p.accuracy_majority for p in result.history])
    curves: list[Curve] = [
        (
            seen[thin],
            running_accuracy(result.right)[thin],
            {"color": "C0", "label": "with labels, so far"},
        ),
        (points, nochange, {"color": "C1", "ls": "--", "label": "NoChange (the last label)"}),
        (points, majority, {"color": "C2", "ls": ":", "label": "MajorityClass"}),
    ]
    if result.samples > window:
        sums = np.concatenate([[0], np.cumsum(result.right)])
        sliding = (sums[window:] - sums[:-window]) / window * 100
        late = thin[thin >= window] - window
        look = {"color": "0.5", "lw": 1, "label": f"last {window:,} samples"}
        curves.insert(0, (seen[late + window - 1], sliding[late], look))
    return curves


def draw_anomalies(stream: str, run: AnomalyRun) -> Any:
    """Plot the anomaly score over time for a stream without labels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3), layout="constrained")
    axes = figure.subplots()
    run.draw(axes)
    size = count(len(run.scores), "sample")
    axes.set_title(f"{stream}: {count(len(run.alarms), 'alarm')} in {size}", parse_math=False)
    axes.set_xlabel("samples")
    axes.grid(alpha=0.3)
    return figure


def _draw_progress(axes: Any, result: Result) -> None:
    points = [p.samples for p in result.history]
    marker = "o" if len(points) < _FEW else None
    shares = [name for name in result.progress if name.startswith(_SHARE)]
    names = shares or list(result.progress)
    for name in names:
        values = [p.progress[name] for p in result.history]
        label = name.removeprefix(_SHARE).replace("_", " ")
        axes.step(points, values, where="post", marker=marker, label=label)
    if len(names) > 1:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    axes.set_ylabel("share of the votes, %" if shares else ", ".join(names).replace("_", " "))
    axes.set_ylim(bottom=0)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("samples")


_LAST = 300  # samples whose predictions are plotted
_COLUMNS = 2000  # points of a line, at most


def draw_numbers(result: NumberResult, stream: NumberStream) -> Any:
    """Plot the mean absolute error over time with the baselines; below it the last predictions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 7), layout="constrained")
    upper, lower = figure.subplots(2)
    numbers = np.arange(1, result.samples + 1)
    for guess, look in (
        (result.predictions, {"color": "C0", "label": result.model}),
        (stream.known, {"color": "C1", "ls": "--", "label": "NoChange (the last target)"}),
        (stream.running_means, {"color": "C2", "ls": ":", "label": "mean of the targets so far"}),
    ):
        shown, errors = _running_errors(guess, stream, numbers)
        upper.plot(shown, errors, **look)
    upper.set_ylim(bottom=0)
    upper.set_ylabel("mean absolute error so far")
    upper.set_xlabel("samples")
    title = f"{result.stream}: {result.errors.mae:.5g} over {count(result.scored, 'sample')}"
    upper.set_title(title, parse_math=False)
    _draw_last(lower, result, stream, numbers)
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
        axes.legend(loc="upper right", frameon=False)
    return figure


def _running_errors(
    guess: Values, stream: NumberStream, numbers: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Values]:
    """Return sample numbers, and the mean absolute error up to each of them, thinned out."""
    scored = stream.scored
    away = np.abs(guess - stream.targets)[scored]
    means = np.cumsum(away) / np.arange(1, len(away) + 1)
    thin = np.unique(np.linspace(0, len(away) - 1, _COLUMNS).astype(int))
    return numbers[scored][thin], means[thin]


def _draw_last(
    axes: Any, result: NumberResult, stream: NumberStream, numbers: NDArray[np.intp]
) -> None:
    """Plot the last predictions with their intervals, and the targets."""
    last = slice(-_LAST, None)
    x, predicted = numbers[last], result.predictions[last]
    if result.interval:
        half = result.half_widths[last]
        name = f"interval of {result.interval.share:g} %"
        axes.fill_between(
            x, predicted - half, predicted + half, color="C0", alpha=0.2, lw=0, label=name
        )
    axes.plot(x, stream.targets[last], color="0.3", lw=1, label="target")
    axes.plot(x, predicted, color="C0", lw=1, label="prediction")
    ahead = f", {count(result.horizon, 'sample')} ahead" if result.horizon else ""
    axes.set_ylabel(f"{result.target}{ahead}", parse_math=False)
    axes.set_xlabel("samples")

"""The picture of a run that predicted numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.text import count
from ..evaluation.regression import NumberResult
from ..streams.number_streams import NumberStream, Values

_LAST = 300  # samples whose predictions are drawn one by one
_COLUMNS = 2000  # of the picture


def draw_numbers(result: NumberResult, stream: NumberStream) -> Any:
    """The mean absolute error over time beside NoChange's; below it the last predictions."""
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
    """Samples, and the mean absolute error up to each, thinned out."""
    scored = stream.scored
    away = np.abs(guess - stream.targets)[scored]
    means = np.cumsum(away) / np.arange(1, len(away) + 1)
    thin = np.unique(np.linspace(0, len(away) - 1, _COLUMNS).astype(int))
    return numbers[scored][thin], means[thin]


def _draw_last(
    axes: Any, result: NumberResult, stream: NumberStream, numbers: NDArray[np.intp]
) -> None:
    """The last predictions with their intervals, and what the targets were."""
    last = slice(-_LAST, None)
    x, said = numbers[last], result.predictions[last]
    if result.interval:
        half = result.half_widths[last]
        name = f"interval of {result.interval.share:g} %"
        axes.fill_between(x, said - half, said + half, color="C0", alpha=0.2, lw=0, label=name)
    axes.plot(x, stream.targets[last], color="0.3", lw=1, label="target")
    axes.plot(x, said, color="C0", lw=1, label="prediction")
    ahead = f", {count(result.horizon, 'sample')} ahead" if result.horizon else ""
    axes.set_ylabel(f"{result.target}{ahead}", parse_math=False)
    axes.set_xlabel("samples")

"""The plot of a monitored run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .history import Moment

_FEW = 10  # points that need markers besides a line


def _draw_errors(axes: Any, history: Sequence[Moment], unit: float, marker: str | None) -> None:
    known = [(m.seconds, m.errors) for m in history if m.errors and m.errors.scored]
    seconds = [at for at, _ in known]
    look = {"color": "C0", "marker": marker, "label": "mean absolute error, all so far"}
    axes.plot(seconds, [errors.mae * unit for _, errors in known], **look)
    look = {"color": "C1", "ls": "--", "label": "NoChange (the last target)"}
    axes.plot(seconds, [errors.mae_nochange * unit for _, errors in known], **look)
    axes.set_ylabel("mean absolute error")
    axes.set_ylim(bottom=0)


def _draw_accuracy(
    axes: Any, seconds: Any, values: Callable[[str], Any], marker: str | None
) -> None:
    axes.plot(seconds, values("accuracy") / 10_000, color="C0", marker=marker, label="all so far")
    nochange = values("accuracy_nochange") / 10_000
    axes.plot(seconds, nochange, color="C1", ls="--", label="NoChange (the last label)")
    samples, right = np.diff(values("samples")), np.diff(values("right"))
    some = samples > 0
    if some.any():
        now = 100 * right[some] / samples[some]
        look = {"color": "0.5", "lw": 1, "zorder": 0, "label": "since the point before"}
        axes.plot(seconds[1:][some], now, marker=marker, **look)
    axes.set_ylabel("accuracy, %")


def draw_watch(history: Sequence[Moment], port: str, unit: float = 1.0) -> Any:
    """Draw accuracy, heap and drifts over the seconds of the watch.

    For a predicted number, draw the mean absolute error instead of the accuracy; unit is the unit
    of a raw integer.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    upper, middle, lower = figure.subplots(3, sharex=True, height_ratios=(3, 1, 1))
    seconds = np.array([m.seconds for m in history])
    marker = "o" if len(history) < _FEW else None

    def values(name: str) -> Any:
        return np.array([getattr(m.status, name) for m in history])

    if any(m.errors for m in history):
        _draw_errors(upper, history, unit, marker)
    else:
        _draw_accuracy(upper, seconds, values, marker)
    upper.set_title(f"{port}: {history[-1].status.samples:,} samples", parse_math=False)
    middle.plot(seconds, values("heap_used") / 1024, color="C0", marker=marker)
    middle.set_ylabel("heap, KiB")
    lower.step(seconds, values("drifts"), where="post", color="C3", marker=marker)
    lower.set_ylabel("drifts")
    lower.yaxis.get_major_locator().set_params(integer=True)
    lower.set_xlabel("seconds")
    middle.set_ylim(bottom=0)
    lower.set_ylim(bottom=0)
    for axes in (upper, middle, lower):
        axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure

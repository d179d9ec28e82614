"""The plot of a monitored run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .device_watch import Moment

_FEW = 10  # points that a line alone would not show


def draw_watch(history: Sequence[Moment], port: str) -> Any:
    """Accuracy, heap and drifts over the seconds of the watch."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    upper, middle, lower = figure.subplots(3, sharex=True, height_ratios=(3, 1, 1))
    seconds = np.array([m.seconds for m in history])
    marker = "o" if len(history) < _FEW else None

    def values(name: str) -> Any:
        return np.array([getattr(m.status, name) for m in history])

    upper.plot(seconds, values("accuracy") / 10_000, color="C0", marker=marker, label="all so far")
    nochange = values("accuracy_nochange") / 10_000
    upper.plot(seconds, nochange, color="C1", ls="--", label="NoChange (the last label)")
    samples, right = np.diff(values("samples")), np.diff(values("right"))
    some = samples > 0
    if some.any():
        now = 100 * right[some] / samples[some]
        look = {"color": "0.5", "lw": 1, "zorder": 0, "label": "since the point before"}
        upper.plot(seconds[1:][some], now, marker=marker, **look)
    upper.set_ylabel("accuracy, %")
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

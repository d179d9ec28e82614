"""Pictures of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .errors import UserError
from .simulate import Result, running_accuracy

_ENDINGS = (".png", ".svg", ".pdf")


def check_plot_file(path: Path) -> None:
    """Raise UserError if no plot can be written there."""
    if path.suffix.lower() not in _ENDINGS:
        raise UserError(f"--plot {path}: the name has to end in {', '.join(_ENDINGS)}")
    if not path.parent.is_dir():
        raise UserError(f"--plot {path}: there is no folder {path.parent}")


def plot_run(result: Result, path: Path) -> None:
    """Accuracy over time, beside the baselines, and below it what the model's state did."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True, height_ratios=(3, 1))
    window = max(10, min(1000, result.samples // 20))
    seen = np.arange(1, result.samples + 1)
    thin = np.unique(np.linspace(0, result.samples - 1, 2000).astype(int))
    sums = np.concatenate([[0], np.cumsum(result.right)])
    if result.samples > window:
        sliding = (sums[window:] - sums[:-window]) / window * 100
        late = thin[thin >= window] - window
        label = f"last {window:,} samples"
        upper.plot(seen[late + window - 1], sliding[late], color="0.75", lw=1, label=label)
    upper.plot(seen[thin], running_accuracy(result.right)[thin], color="C0", label="all so far")
    points = [p.samples for p in result.history]
    nochange = [p.accuracy_nochange for p in result.history]
    majority = [p.accuracy_majority for p in result.history]
    upper.plot(points, nochange, color="C1", ls="--", label="NoChange (the last label)")
    upper.plot(points, majority, color="C2", ls=":", label="MajorityClass")
    upper.set_ylabel("accuracy, %")
    early = len(points) // 10  # where the curves have not settled yet
    settled = [p.accuracy for p in result.history[early:]]
    upper.set_ylim(max(0, min(*settled, *nochange[early:], *majority[early:]) - 5), 100.5)
    upper.set_title(f"{result.stream}: {result.accuracy:.2f} % of {result.samples:,} samples")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    for name in result.progress:
        values = [p.progress[name] for p in result.history]
        lower.step(points, values, where="post")
        lower.set_ylabel(name.replace("_", " "))
    lower.set_ylim(bottom=0)
    lower.yaxis.get_major_locator().set_params(integer=True)
    lower.set_xlabel("samples")
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)

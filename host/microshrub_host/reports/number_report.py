"""What `simulate --target` says of a run over a regression stream."""

from __future__ import annotations

from ..base.text import count
from ..evaluation.regression import NumberResult
from .report import RunReport

_DIGITS = 5  # of an error that count


def of_numbers(result: NumberResult) -> RunReport:
    """Its errors beside those of the simple guesses, and whether it beats them."""
    size = f"{count(result.samples, 'sample')}, {count(result.features, 'feature')}"
    ahead = f", {count(result.horizon, 'sample')} ahead" if result.horizon else ""
    return RunReport(
        f"{size}; the target is {result.target}{ahead}",
        _interval_rows(result),
        _verdict(result),
        "The mean absolute error over time beside those of simple guesses, and the last "
        "predictions.",
        _errors(result),
    )


def _errors(result: NumberResult) -> list[list[str]]:
    """A table, its head first."""
    found = {
        result.model: result.errors,
        "NoChange (the last target)": result.nochange,
        "mean of the targets so far": result.running_mean,
    }
    scores = {name: (each.mae, each.rmse, each.r2) for name, each in found.items()}
    rows = [[name, *(f"{x:.{_DIGITS}g}" for x in each)] for name, each in scores.items()]
    return [["", "MAE", "RMSE", "R2"], *rows]


def _interval_rows(result: NumberResult) -> list[tuple[str, str]]:
    found = result.interval
    if found is None:
        return []
    name = f"intervals of {found.share:g} %"
    return [(name, f"hold {found.inside:.2f} %, mean width {found.mean_width:.{_DIGITS}g}")]


def _verdict(result: NumberResult) -> str:
    """Whether the model's mean absolute error beats that of the simple guesses, as a sentence."""
    guesses = {"NoChange": result.nochange.mae, "the running mean": result.running_mean.mae}
    best = min(guesses, key=lambda name: guesses[name])
    lead = 1 - result.errors.mae / guesses[best] if guesses[best] else 0.0
    if lead > 0:
        return f"The model's mean absolute error is {lead:.1%} below that of {best}."
    return f"The model does not beat {best} (mean absolute error {guesses[best]:.{_DIGITS}g})."

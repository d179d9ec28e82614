"""What `simulate` says of a run, over a stream of classes or of numbers."""

from __future__ import annotations

from collections.abc import Mapping

from ..base.text import count
from ..evaluation.classes import Result
from ..evaluation.regression import NumberResult
from .report import RunReport

_LEAK = "neighbours in time leak: a sample is learned after others that are nearly the same"
_WINDOWS = "windows overlap, and a sample is learned after others that share its readings"
_FEW = 100  # samples below which there is no verdict


def of_classes(result: Result, *, shuffled: bool = False) -> RunReport:
    """Its accuracies beside those of the baselines, and whether it beats them."""
    size = (
        f"{count(result.samples, 'sample')}, "
        f"{count(result.features, 'feature')}, {count(result.classes, 'class')}"
    )
    rows = [
        ("accuracy", f"{result.accuracy:.2f} %"),
        ("  mean of the running accuracy", f"{result.running_average_accuracy:.2f} %"),
        ("  NoChange (the last label)", f"{result.accuracy_nochange:.2f} %"),
        ("  MajorityClass", f"{result.accuracy_majority:.2f} %"),
        ("kappa", f"{result.kappa:.2f} %"),
        ("kappa temporal", f"{result.kappa_temporal:.2f} %"),
        *result.by_class.rows(),
        *(result.alone.rows() if result.alone else []),
    ]
    said = verdict(result, shuffled=shuffled)
    picture = "Accuracy over time beside the baselines, and the state of the model."
    return RunReport(size, rows, said, picture)


def verdict(result: Result, *, shuffled: bool = False) -> str:
    """Whether the model beats repeating the last label and the majority class, in sentences; and
    how often it is right without labels, which alone counts if labels come in runs."""
    if result.alone and _knows_without_labels(result):
        return (
            f"{result.alone.sentence()} Always naming the most frequent class is right in "
            f"{result.accuracy_majority:.2f} %. This is what counts: the stream has long runs of "
            f"one label, so repeating the last label is right in {result.accuracy_nochange:.2f}"
            " %, but only as long as somebody gives labels."
        )
    said = _with_labels(result, shuffled)
    return f"{said} {result.alone.sentence()}" if result.alone else said


def _with_labels(result: Result, shuffled: bool) -> str:
    if result.samples < _FEW:
        return f"{count(result.samples, 'sample')}: too few to tell whether the model is useful."
    baselines = {"NoChange": result.accuracy_nochange, "MajorityClass": result.accuracy_majority}
    if result.asking:  # they have all labels
        return _verdict_of_few(result, baselines)
    best = max(baselines, key=lambda name: baselines[name])
    leak = _WINDOWS if result.alone and result.alone.windows else _LEAK
    gain = result.accuracy - baselines[best]
    if gain > 0:
        said = f"The model is {gain:.2f} points above the better of the two simple baselines."
        return f"{said} {_shuffled(leak)}" if shuffled else said
    said = f"The model does not beat {best} ({baselines[best]:.2f} %)."
    if best == "NoChange" and _in_runs(result):
        said += (
            " The stream has long runs of one label; a model is only useful there if labels "
            "come late or never."
        )
        if not shuffled:
            said += (
                f" --shuffle SEED breaks the runs up, but then {leak}, so accuracy is too high."
            )
    return said


def _knows_without_labels(result: Result) -> bool:
    """Whether labels in runs hide what the model knows: it is below repeating the last label, and
    far above the majority class without any."""
    hidden = result.accuracy <= result.accuracy_nochange and _in_runs(result)
    if not (result.alone and hidden) or result.asking or result.samples < _FEW:
        return False
    return result.alone.accuracy - result.accuracy_majority > _margin(result.alone.samples)


def _verdict_of_few(result: Result, baselines: Mapping[str, float]) -> str:
    """The same of a model that does not know all labels, and of baselines that do."""
    ahead = [name for name, accuracy in baselines.items() if result.accuracy > accuracy]
    if ahead:
        return f"The model is above {' and '.join(ahead)}, which know every label."
    return "The model does not beat the simple baselines, but these know every label."


def _in_runs(result: Result) -> bool:
    """Whether a label repeats far more often than in a random order: three standard errors."""
    chance = max(result.accuracy_majority, result.label_agreement)
    return result.accuracy_nochange - chance > _margin(result.samples)


def _margin(samples: int) -> float:
    """Percent: three standard errors of a share in so many samples, at least 5."""
    return float(max(5, 150 / samples**0.5))


def _shuffled(leak: str) -> str:
    return f"But they were shuffled, and in a recording {leak}. A board will be less accurate."


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

"""The report of `simulate` on a run over classes or a regression stream."""

from __future__ import annotations

from collections.abc import Mapping

from ..base.text import count
from ..evaluation.by_class import ByClass
from ..evaluation.classes import Result
from ..evaluation.regression import NumberResult
from .result_tables import RunReport

_LEAK = "neighbours in time leak: a sample is learned after others that are nearly the same"
_WINDOWS = "windows overlap, and a sample is learned after others that share its readings"
_FEW = 100  # samples; with fewer, there is no verdict


def of_classes(result: Result, *, shuffled: bool = False) -> RunReport:
    """Report a run over classes: compare its accuracies with the baselines'."""
    size = (
        f"{count(result.samples, 'sample')}, "
        f"{count(result.features, 'feature')}, {count(result.classes, 'class')}"
    )
    unseen = result.unseen
    rows = [
        *(unseen.rows() if unseen else []),
        ("accuracy", f"{result.accuracy:.2f} %"),
        ("  NoChange (the last label)", f"{result.accuracy_nochange:.2f} %"),
        ("  MajorityClass", f"{result.accuracy_majority:.2f} %"),
    ]
    details = [
        *(unseen.detail_rows() if unseen else []),
        ("mean of the running accuracy", f"{result.running_average_accuracy:.2f} %"),
        ("kappa", f"{result.kappa:.2f} %"),
        ("kappa temporal", f"{result.kappa_temporal:.2f} %"),
        *result.by_class.rows(),
    ]
    head = unseen and unseen.headline
    of = "on unseen data" if head else "while labels come"
    return RunReport(
        size,
        rows,
        verdict(result, shuffled=shuffled),
        "Accuracy over time beside the baselines, and the state of the model.",
        first=answer(result),
        last=confused(head.by_class if head else result.by_class),
        details=details,
        matrix=(head.by_class if head else result.by_class).matrix(),
        matrix_title=f"predictions {of}",
    )


def answer(result: Result) -> str:
    """Return the main figure with its baseline, in a sentence or two."""
    if result.unseen is None:
        return (
            f"While labels come: right in {result.accuracy:.2f} % (repeating the last label: "
            f"{result.accuracy_nochange:.2f} %, naming the most frequent class: "
            f"{result.accuracy_majority:.2f} %)."
        )
    head, sentence = result.unseen.headline, result.unseen.answer()
    if head is None or head.accuracy - head.guessing > _margin(head.samples):
        return sentence
    return f"{sentence} {_beside_guessing(head.by_class)}"


def _beside_guessing(by_class: ByClass) -> str:
    """Return a sentence about a model whose accuracy is near that of guessing.

    If most samples are of one class, no accuracy is far above guessing, so the recalls decide.
    """
    asked = [total for total in by_class.counts.sum(axis=1).tolist() if total]
    found, chance = by_class.balanced_accuracy, 100 / len(asked)
    error = sum(1 / total for total in asked) ** 0.5 / len(asked)  # equivalent: 1/error**2 samples
    if found - chance <= _margin(1 / error**2):
        return "That is no better than guessing."
    return f"Averaged over the classes, it finds {found:.0f} % (guessing: {chance:.0f} %)."


def confused(by_class: ByClass) -> str:
    """Return the two most confused classes in a sentence; empty if no classes are confused."""
    pair = by_class.confused()
    if pair is None:
        return ""
    one, other, wrong, samples = pair
    return f"Most confused: {one} and {other} ({wrong:,} of {samples:,})."


def verdict(result: Result, *, shuffled: bool = False) -> str:
    """Return sentences about the unseen data, and about accuracy while labels come.

    The latter state whether the model beats repeating the last label and the majority class.
    """
    unseen = result.unseen
    message = unseen.sentences() if unseen else []
    if unseen and unseen.headline and _hidden(result):
        message.append(
            f"Repeating the last label is right in {result.accuracy_nochange:.2f} %, as labels "
            "come in long runs, but only as long as somebody gives labels."
        )
        return " ".join(message)
    return " ".join([*message, _with_labels(result, shuffled)])


def _with_labels(result: Result, shuffled: bool) -> str:
    if result.samples < _FEW:
        return f"{count(result.samples, 'sample')}: too few to tell whether the model is useful."
    baselines = {"NoChange": result.accuracy_nochange, "MajorityClass": result.accuracy_majority}
    if result.label_budget:  # the baselines have all labels
        return _verdict_of_few(result, baselines)
    best = max(baselines, key=lambda name: baselines[name])
    leak = _WINDOWS if result.windows else _LEAK
    gain = result.accuracy - baselines[best]
    if gain > 0:
        message = f"The model is {gain:.2f} points above the better of the two simple baselines."
        return f"{message} {_shuffled(leak)}" if shuffled else message
    message = f"The model does not beat {best} ({baselines[best]:.2f} %)."
    if best == "NoChange" and _in_runs(result):
        message += (
            " The stream has long runs of one label; a model is only useful there if labels "
            "come late or never."
        )
        if not shuffled:
            message += (
                f" --shuffle SEED breaks the runs up, but then {leak}, so accuracy is too high."
            )
    return message


def _hidden(result: Result) -> bool:
    """Return whether runs of labels may hide the model's use, as repeating labels beats it."""
    few = result.label_budget or result.samples < _FEW
    return not few and result.accuracy <= result.accuracy_nochange and _in_runs(result)


def _verdict_of_few(result: Result, baselines: Mapping[str, float]) -> str:
    """Return the verdict on a model that gets few labels, while the baselines get all."""
    ahead = [name for name, accuracy in baselines.items() if result.accuracy > accuracy]
    if ahead:
        return f"The model is above {' and '.join(ahead)}, which know every label."
    return "The model does not beat the simple baselines, but these know every label."


def _in_runs(result: Result) -> bool:
    """Return whether labels repeat more than in random order, by three standard errors."""
    chance = max(result.accuracy_majority, result.label_agreement)
    return result.accuracy_nochange - chance > _margin(result.samples)


def _margin(samples: float) -> float:
    """Return three standard errors of a share in that many samples, in percent, at least 5."""
    return float(max(5, 150 / samples**0.5))


def _shuffled(leak: str) -> str:
    return f"But they were shuffled, and in a recording {leak}. A board will be less accurate."


_DIGITS = 5  # significant digits of an error


def of_numbers(result: NumberResult) -> RunReport:
    """Report a run over a regression stream: compare its errors with the baselines'."""
    size = f"{count(result.samples, 'sample')}, {count(result.features, 'feature')}"
    ahead = f", {count(result.horizon, 'sample')} ahead" if result.horizon else ""
    return RunReport(
        f"{size}; the target is {result.target}{ahead}",
        _interval_rows(result),
        "",
        "The mean absolute error over time beside those of baselines, and the last predictions.",
        scores=_errors(result),
        first=_verdict(result),
    )


def _errors(result: NumberResult) -> list[list[str]]:
    """Return the errors as a table, its head first."""
    outcome = {
        result.model: result.errors,
        "NoChange (the last target)": result.nochange,
        "mean of the targets so far": result.running_mean,
    }
    scores = {name: (each.mae, each.rmse, each.r2) for name, each in outcome.items()}
    rows = [[name, *(f"{x:.{_DIGITS}g}" for x in each)] for name, each in scores.items()]
    return [["", "MAE", "RMSE", "R2"], *rows]


def _interval_rows(result: NumberResult) -> list[tuple[str, str]]:
    outcome = result.interval
    if outcome is None:
        return []
    name = f"intervals of {outcome.share:g} %"
    return [(name, f"hold {outcome.inside:.2f} %, mean width {outcome.mean_width:.{_DIGITS}g}")]


def _verdict(result: NumberResult) -> str:
    """Return a sentence on whether the model's mean absolute error beats the baselines'."""
    baselines = {"NoChange": result.nochange.mae, "the running mean": result.running_mean.mae}
    best = min(baselines, key=lambda name: baselines[name])
    lead = 1 - result.errors.mae / baselines[best] if baselines[best] else 0.0
    if lead > 0:
        return f"The model's mean absolute error is {lead:.1%} below that of {best}."
    return f"The model does not beat {best} (mean absolute error {baselines[best]:.{_DIGITS}g})."

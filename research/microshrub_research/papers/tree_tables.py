"""The part that the experiments on Hoeffding trees share: measures of a run, and ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .experiment import ExperimentResults, Method, Picture, ReportTable, RunOutcome
from .printed_figures import Paper
from .ranks import Ranking, compare_ranks
from .ranks_plot import draw_ranks
from .shrub_tables import with_paper

KB = 1024
_GB_SECONDS = 1e9 * 3600
_STYLES = ("-", "--", ":", "-.")

Measure = Callable[[RunOutcome], float | None]
SIZES = (
    "Sizes are averages over time in KB of 1024 bytes: for ours the smallest pool that would have "
    "sufficed so far, for River's and MOA's their own measures without what they took before the "
    "first sample. GB-hours are size times time."
)


def first(experiment: ExperimentResults, stream: str, method: str) -> RunOutcome | None:
    """Return the run of the method's first configuration, the paper's; None if it failed."""
    runs = (result for result in experiment.of(stream, method) if result.configuration == 0)
    return next(runs, None)


def last(name: str) -> Measure:
    """Return the measure "nodes", "depth" or "features" of the tree at the end."""

    def measure(result: RunOutcome) -> float | None:
        return result.shapes[-1][1].get(name) if result.shapes else None

    return measure


def tree_bytes(result: RunOutcome) -> float | None:
    """Return the mean of the tree's bytes over time; for ours, without the pool's unused part."""
    used = [shape["bytes"] for samples, shape in result.shapes if samples and "bytes" in shape]
    return sum(used) / len(used) if used else result.average_bytes


def kilobytes(result: RunOutcome) -> float | None:
    """Return tree_bytes() in KB."""
    size = tree_bytes(result)
    return None if size is None else size / KB


def gigabyte_hours(result: RunOutcome) -> float | None:
    """Return MOA's RAM-hours: the size in GB times the hours of the run."""
    size = tree_bytes(result)
    return None if size is None or result.seconds is None else size * result.seconds / _GB_SECONDS


# The text of a row's second column: the measure, its format, the paper's table
MEASURES: Mapping[str, tuple[Measure, str, str]] = {
    "accuracy, %": (lambda result: result.accuracy, "{:.2f}", "accuracy"),
    "running average, %": (lambda result: result.running_average_accuracy, "{:.2f}", ""),
    "nodes": (last("nodes"), "{:,.0f}", ""),
    "depth": (last("depth"), "{:,.0f}", ""),
    "features tested": (last("features"), "{:,.0f}", ""),
    "size, KB": (kilobytes, "{:,.1f}", ""),
    "time, s": (lambda result: result.seconds, "{:,.2f}", "seconds"),
    "GB-hours": (gigabyte_hours, "{:.1e}", "gigabyte_hours"),
}
_BEST = ("accuracy, %", "running average, %")


def measures_table(
    experiment: ExperimentResults,
    title: str,
    streams: Sequence[str],
    theirs: Callable[[str, str, str], float | None],
    notes: Sequence[str],
) -> ReportTable:
    """Return every measure of every method's first configuration on these streams.

    theirs(paper's table, stream, method) is the paper's own figure; the best accuracies are bold.
    """
    names = [method.name for method in experiment.methods]
    rows: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    for stream in streams:
        results = [first(experiment, stream, name) for name in names]
        for words, (measure, form, table) in MEASURES.items():
            values = [None if result is None else measure(result) for result in results]
            known = [value for value in values if value is not None]
            if words in _BEST and known:
                best |= {(len(rows), 2 + c) for c, v in enumerate(values) if v == max(known)}
            texts = [
                with_paper(value, theirs(table, stream, name) if table else None, form)
                for value, name in zip(values, names, strict=True)
            ]
            rows.append([stream, words, *texts])
    return ReportTable(title, ["stream", "measure", *names], rows, best, notes)


def of_paper(
    paper: Paper, name: Callable[[str], str], part: str
) -> Callable[[str, str, str], float | None]:
    """Return `theirs` for measures_table(): name(stream) is the row in the paper's TABLE_part."""

    def theirs(table: str, stream: str, method: str) -> float | None:
        if f"{table}_{part}" not in paper.tables:
            return None
        return paper.value(f"{table}_{part}", name(stream), method)

    return theirs


def rank(
    experiment: ExperimentResults, names: Sequence[str], value: Callable[[str, str], float | None]
) -> Ranking | None:
    """Rank the methods by value(stream, method) over the streams on which all have one.

    Larger values are better. None if there are too few methods or streams for a test.
    """
    rows = [[value(stream, name) for name in names] for stream in experiment.streams]
    whole = [row for row in rows if None not in row]
    if len(names) < 2 or len(whole) < 2:
        return None
    return compare_ranks(names, np.array(whole, dtype=np.float64))


def ranks_table(title: str, rankings: Mapping[str, Ranking], notes: Sequence[str]) -> ReportTable:
    """Return a table of average ranks of the same methods by several measures,
    and Friedman's tests.
    """
    first = next(iter(rankings.values()))
    rows = [
        [words, *(f"{value:.2f}" for value in ranking.ranks), f"{ranking.p_value:.2g}"]
        for words, ranking in rankings.items()
    ]
    about = (
        f"1 is the best. Over {first.data_sets} streams; p is that of Friedman's test, that the "
        "methods are all the same."
    )
    return ReportTable(title, ["by", *first.names, "p"], rows, notes=[about, *notes])


def ranks_picture(name: str, ranking: Ranking, by: str) -> Picture:
    """Return a critical difference diagram."""
    text = f"Average ranks by {by} over {ranking.data_sets} streams"
    caption = f"{text}. Better is on the right; what a bar joins does not differ significantly."
    return Picture(name, draw_ranks(ranking, text), caption)


def looks(experiment: ExperimentResults) -> dict[str, dict[str, Any]]:
    """Return how to draw each method's line: its own colour; ours are solid,
    each thinner than the previous one, so that a line below another one is visible.
    """
    return {
        method.name: {
            "color": f"C{number % 10}",
            "ls": "-" if is_ours(method) else _STYLES[1 + number % 3],
            "lw": max(1.2, 4 - 0.8 * number) if is_ours(method) else 1.2,
        }
        for number, method in enumerate(experiment.methods)
    }


def is_ours(method: Method) -> bool:
    """Return whether the method is one of our learners."""
    return method.contenders[0].system == "ours"


def errors(result: RunOutcome, points: int = 50) -> tuple[list[float], list[float]]:
    """Return the middles of at most `points` parts of the stream,
    and the percentage of errors in each part.
    """
    samples = np.array([0, *(at for at, _ in result.accuracies)])
    wrong = samples * (1 - np.array([0, *(a for _, a in result.accuracies)]) / 100)
    ends = np.unique(np.linspace(0, len(samples) - 1, points + 1).astype(int))
    seen, missed = samples[ends], wrong[ends]
    middles = (seen[1:] + seen[:-1]) / 2
    return middles.tolist(), (np.diff(missed) / np.diff(seen) * 100).tolist()

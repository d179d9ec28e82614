"""The tables and pictures of the paper on regularized Hoeffding trees, with its own figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .experiment import ExperimentResults, Picture, ReportTable, RunOutcome
from .printed_figures import Paper, load_paper
from .tree_tables import (
    MEASURES,
    SIZES,
    first,
    is_ours,
    looks,
    measures_table,
    of_paper,
    rank,
    ranks_picture,
    ranks_table,
)

PAPER = "regularized"
REAL = ("elec", "weather")  # real streams that are not in the paper
_PAIRS = (("HT", "HT-REG"), ("HAT", "HAT-REG"))
_PARTS = {
    "stationary": "Stationary synthetic streams (Tables 2 to 4)",
    "drifting": "Synthetic streams with a gradual change in the middle (Tables 5 to 7)",
    "real": "Real streams (Tables 8 to 10)",
}
_THEIRS = (
    "The paper's figures, for 1,000,000 samples with 500 features on another computer, are in "
    "brackets."
)
_FEWER = ("nodes", "features tested", "size, KB", "time, s")  # measures for which less is better


def tables(experiment: ExperimentResults) -> list[ReportTable]:
    """Return all tables, in the order of the paper."""
    paper = load_paper(PAPER)
    made = []
    for part, title in _PARTS.items():
        streams = [stream for stream in experiment.streams if part_of(stream) == part]
        if streams:
            theirs = of_paper(paper, _row, part)
            made.append(measures_table(experiment, title, streams, theirs, [_THEIRS, SIZES]))
    made.append(_gains(experiment, paper))
    return [table for table in (*made, *_omegas(experiment), *_ranks(experiment)) if table.rows]


def part_of(stream: str) -> str:
    """Return which of the paper's three parts a stream belongs to."""
    if stream.endswith("-drift"):
        return "drifting"
    return "stationary" if "-" in stream else "real"


def _row(stream: str) -> str:
    return stream.split("-")[0]


# --- The effect of regularization ----------------------------------------------------------------


def _gains(experiment: ExperimentResults, paper: Paper) -> ReportTable:
    """Return a table of the changes by omega 0.5: accuracy in points,
    other measures as factors.
    """
    rows = []
    for stream in experiment.streams:
        for plain, regular in _PAIRS:
            before, after = (first(experiment, stream, name) for name in (plain, regular))
            if before is not None and after is not None:
                rows.append([stream, regular, *_gain(before, after, paper)])
    return ReportTable(
        "What regularization changes",
        ["stream", "method", "accuracy, points", *(f"times fewer {m}" for m in _FEWER)],
        rows,
        notes=[
            "Each regularized tree beside the one without; in brackets the paper's, which gives "
            "the nodes and features in pictures only: near 900 nodes and more than 200 features "
            "without regularization after its 1,000,000 samples, and a handful with it."
        ],
    )


def _gain(plain: RunOutcome, regular: RunOutcome, paper: Paper) -> list[str]:
    part, row = part_of(plain.stream), _row(plain.stream)

    def theirs(table: str) -> tuple[float, float] | None:
        both = [paper.value(f"{table}_{part}", row, r.method) for r in (plain, regular)]
        return None if both[0] is None or both[1] is None else (both[0], both[1])

    assert plain.accuracy is not None
    assert regular.accuracy is not None
    points = theirs("accuracy")
    printed = f" ({points[1] - points[0]:+.2f})" if points else ""
    texts = [f"{regular.accuracy - plain.accuracy:+.2f}{printed}"]
    for words in _FEWER:
        measure = MEASURES[words][0]
        before, after = measure(plain), measure(regular)
        figures = theirs("seconds") if words == "time, s" else None
        printed = f" ({figures[0] / figures[1]:.1f})" if figures else ""
        texts.append(f"{before / after:.1f}{printed}" if before and after else "-")
    return texts


def _omegas(experiment: ExperimentResults) -> list[ReportTable]:
    """Return section 5.1: HT-REG with several omegas; no table if only one was run."""
    rows = []
    for stream in experiment.streams:
        results = sorted(experiment.of(stream, "HT-REG"), key=_omega)
        for result in results if len(results) > 1 else []:
            texts = [form.format(value) for value, form in _values(result)]
            rows.append([stream, f"{_omega(result):.1f}", *texts])
    if not rows:
        return []
    notes = [
        "Section 5.1. The paper's Figures 1 to 3 show accuracies that hardly differ (with 0.8 and "
        "0.9 about a point more on AGR) and fewer features with a smaller omega."
    ]
    head = ["stream", "omega", "accuracy, %", "nodes", "features tested"]
    return [ReportTable("HT-REG with other omegas", head, rows, notes=notes)]


def _omega(result: RunOutcome) -> float:
    return float(result.settings["regularization"])


def _values(result: RunOutcome) -> list[tuple[float, str]]:
    outcome = []
    for words in ("accuracy, %", "nodes", "features tested"):
        measure, form, _ = MEASURES[words]
        outcome.append((measure(result) or 0.0, form))
    return outcome


# --- Ranks ---------------------------------------------------------------------------------------


def _ours(experiment: ExperimentResults) -> list[str]:
    return [method.name for method in experiment.methods if is_ours(method)]


def _value(experiment: ExperimentResults, words: str) -> Callable[[str, str], float | None]:
    """Return a function: a method's measure on a stream, negated if less is better."""
    measure = MEASURES[words][0]

    def value(stream: str, name: str) -> float | None:
        result = first(experiment, stream, name)
        measured = None if result is None else measure(result)
        return None if measured is None else (-measured if words in _FEWER else measured)

    return value


def _ranks(experiment: ExperimentResults) -> list[ReportTable]:
    rankings = {}
    for words in ("accuracy, %", *_FEWER):
        ranking = rank(experiment, _ours(experiment), _value(experiment, words))
        if ranking is not None:
            rankings[words] = ranking
    notes = ["The paper tests at a level of 0.01."]
    return [ranks_table("Average ranks of ours", rankings, notes)] if rankings else []


# --- Pictures ------------------------------------------------------------------------------------


def pictures(experiment: ExperimentResults) -> list[Picture]:
    """Return Figures 4 to 11 for each stream, Figures 1 to 3, and diagrams of ranks."""
    made = []
    for words, name in (("accuracy, %", "ranks-accuracy"), ("nodes", "ranks-nodes")):
        ranking = rank(experiment, _ours(experiment), _value(experiment, words))
        if ranking is not None:
            by = words if words not in _FEWER else f"fewer {words}"
            made.append(ranks_picture(name, ranking, by))
    return made + [_over_time(experiment, stream) for stream in experiment.streams]


def _over_time(experiment: ExperimentResults, stream: str) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 7), layout="constrained")
    upper, middle, lower = figure.subplots(3, sharex=True)
    for name, look in looks(experiment).items():
        result = first(experiment, stream, name)
        if result is None:
            continue
        upper.plot(*zip(*result.accuracies, strict=True), label=name, **look)
        for axes, what in ((middle, "nodes"), (lower, "features")):
            _draw_shapes(axes, result, what, look)
    upper.set_ylabel("running accuracy, %")
    upper.set_ylim(bottom=_lowest(experiment, stream))
    middle.set_ylabel("nodes")
    lower.set_ylabel("features tested")
    lower.set_xlabel("samples")
    for axes in (upper, middle, lower):
        axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    figure.suptitle(stream, fontsize=11, parse_math=False)
    caption = f"{stream}: accuracy so far, nodes of the tree and features that it tests."
    return Picture(f"{stream}-time", figure, caption)


def _draw_shapes(axes: Any, result: RunOutcome, what: str, look: dict[str, Any]) -> None:
    points = [(samples, shape[what]) for samples, shape in result.shapes if what in shape]
    if points:
        axes.plot(*zip(*points, strict=True), **look)


def _lowest(experiment: ExperimentResults, stream: str) -> float:
    """Return a value just below the curves of accuracy after their first tenth, which is noisy."""
    kept = [
        accuracy
        for name in looks(experiment)
        if (result := first(experiment, stream, name)) is not None
        for samples, accuracy in result.accuracies
        if samples > result.samples / 10
    ]
    return min(kept, default=0.0) - 1

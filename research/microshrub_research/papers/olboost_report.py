"""The tables and pictures of the paper on Online Local Boosting.

Its Table I counts the data sets on which one method was better than another by Wilcoxon's signed
rank test over all settings, two-sided and then one-sided.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .experiment import ExperimentResults, Picture, ReportTable
from .printed_figures import Paper, load_paper
from .ranks import ALPHA, Ranking, signed_rank
from .shrub_tables import with_paper
from .tree_tables import MEASURES, SIZES, first, is_ours, rank, ranks_picture, ranks_table

PAPER = "olboost"
PLAIN, BOOSTED = "VFDT", "O_VFDT"
LEAVES = ("mc", "nb", "nba")  # with the settings of tree_set
_BASES = ("VFDT", "SVFDT-I", "SVFDT-II")
# Table I's parts: the paper's table, the measure here, whether more is better, and the title
_PARTS = (
    ("accuracy", "accuracy, %", True, "(a) Accuracy"),
    ("memory", "size, KB", False, "(b) Memory"),
    ("seconds", "time, s", False, "(c) Time"),
)
_MEDIANS = ("accuracy, %", "running average, %", "nodes", "size, KB", "time, s")
_BEST = _MEDIANS[:2]
_NONE = "-"


def tables(experiment: ExperimentResults) -> list[ReportTable]:
    """Return Table I, and tables of the figures that the paper shows as pictures."""
    paper = load_paper(PAPER)
    names = [name for name in paper.methods if name in {m.name for m in experiment.methods}]
    made = [_counts_table(experiment, paper, names, *part) for part in _PARTS]
    made += [_medians_table(experiment, names), _gains_table(experiment)]
    made += [_leaves_table(experiment), _others_table(experiment)]
    ranking = _rank(experiment, names)
    if ranking is not None:
        title = "Average ranks by the median accuracy"
        made.append(ranks_table(title, {"accuracy, %": ranking}, []))
    return [table for table in made if table.rows]


# --- Table I -------------------------------------------------------------------------------------


def _counts_table(
    experiment: ExperimentResults,
    paper: Paper,
    names: Sequence[str],
    table: str,
    words: str,
    more: bool,
    title: str,
) -> ReportTable:
    rows = []
    for one in names:
        counts = [
            None if one == other else _count(experiment, one, other, words, more)
            for other in names
        ]
        theirs = [None if one == other else paper.value(table, one, other) for other in names]
        texts = [with_paper(c, t, "{:.0f}") for c, t in zip(counts, theirs, strict=True)]
        rows.append([one, *texts])
    return ReportTable(
        f"Table I {title}",
        ["better, than", *names],
        rows,
        notes=[
            f"On how many of {len(experiment.streams)} streams the row's method was better than "
            "the column's, and in brackets the paper's count of its 11: Wilcoxon's signed-rank "
            f"test over all settings, p < {ALPHA} two-sided. The paper does not state its level."
        ],
    )


def _count(experiment: ExperimentResults, one: str, other: str, words: str, more: bool) -> int:
    pairs = [_paired(experiment, stream, one, other, words) for stream in experiment.streams]
    return sum(is_better(a, b) if more else is_better(b, a) for a, b in pairs)


def _paired(
    experiment: ExperimentResults, stream: str, one: str, other: str, words: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the measure of both methods in the settings that both finished, in the same order."""
    first_one, second = (_by_settings(experiment, stream, name, words) for name in (one, other))
    both = [key for key in first_one if key in second]
    return np.array([first_one[k] for k in both]), np.array([second[k] for k in both])


def _by_settings(
    experiment: ExperimentResults, stream: str, name: str, words: str
) -> dict[int, float]:
    measure = MEASURES[words][0]
    values = {result.configuration: measure(result) for result in experiment.of(stream, name)}
    return {number: value for number, value in values.items() if value is not None}


def is_better(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Return whether a is significantly larger than b, both in the same settings."""
    from scipy.stats import rankdata

    apart = a - b
    if signed_rank(apart) >= ALPHA:
        return False
    ranks = rankdata(np.abs(apart))
    return bool(ranks[apart > 0].sum() > ranks[apart < 0].sum())


# --- Medians, gains, leaves ----------------------------------------------------------------------


def _median(experiment: ExperimentResults, stream: str, name: str, words: str) -> float | None:
    values = list(_by_settings(experiment, stream, name, words).values())
    return float(np.median(values)) if values else None


def _medians_table(experiment: ExperimentResults, names: Sequence[str]) -> ReportTable:
    rows: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    for stream in experiment.streams if names else []:
        for words in _MEDIANS:
            values = [_median(experiment, stream, name, words) for name in names]
            known = [value for value in values if value is not None]
            if words in _BEST and known:
                best |= {(len(rows), 2 + c) for c, v in enumerate(values) if v == max(known)}
            rows.append(
                [stream, words, *(with_paper(v, None, MEASURES[words][1]) for v in values)]
            )
    notes = ["Over all settings (the paper's Figure 2 shows them as boxes).", SIZES]
    return ReportTable("Medians", ["stream", "measure", *names], rows, best, notes)


def _gains_table(experiment: ExperimentResults) -> ReportTable:
    """Return a table of how often and by how much boosting raises each tree's
    accuracy on each stream.
    """
    claims = load_paper(PAPER).tables["said"]
    known = load_paper(PAPER).tables["setting"]["datasets"]
    rows = []
    for stream in experiment.streams:
        texts = []
        for base in _BASES:
            boosted, plain = _paired(experiment, stream, f"O_{base}", base, "accuracy, %")
            raised = int((boosted > plain).sum())
            points = float(np.median(boosted) - np.median(plain)) if len(plain) else 0.0
            texts.append(f"{points:+.2f} ({raised} of {len(plain)})" if len(plain) else _NONE)
        paper = "always" if stream in claims["always_raised"] else "yes"
        paper = "no" if stream in claims["median_not_raised"] else paper
        if set(texts) != {_NONE}:
            rows.append([stream, *texts, paper if stream in known else _NONE])
    return ReportTable(
        "Does boosting raise accuracy",
        ["stream", *_BASES, "the paper"],
        rows,
        notes=[
            "The difference of the medians in points, and in how many settings it was above 0; of "
            "the paper, whether the median is higher."
        ],
    )


def _leaves_table(experiment: ExperimentResults) -> ReportTable:
    rows = []
    for stream in experiment.streams:
        for leaf in LEAVES:
            pair = [first(experiment, stream, f"{name} {leaf}") for name in (PLAIN, BOOSTED)]
            values = [None if result is None else result.accuracy for result in pair]
            if values == [None, None]:
                continue
            gain = None if None in values else values[1] - values[0]  # type: ignore[operator]
            texts = [with_paper(value, None, "{:.2f}") for value in values]
            rows.append([stream, leaf, *texts, with_paper(gain, None, "{:+.2f}")])
    notes = ["Accuracy in percent with the default grace period, 200, and tie threshold, 0.05."]
    head = ["stream", "leaf", PLAIN, BOOSTED, "points"]
    return ReportTable("Boosting with each rule for leaves", head, rows, notes=notes)


def _others_table(experiment: ExperimentResults) -> ReportTable:
    """Return a table of River's and MOA's VFDT and ours, with the same settings."""
    names = [f"{PLAIN} nba", *(m.name for m in experiment.methods if not is_ours(m))]
    rows = []
    for stream in experiment.streams if len(names) > 1 else []:
        for words in _MEDIANS:
            values = [_median(experiment, stream, name, words) for name in names]
            rows.append(
                [stream, words, *(with_paper(v, None, MEASURES[words][1]) for v in values)]
            )
    title = "VFDT of three systems with the same settings"
    return ReportTable(title, ["stream", "measure", *names], rows, notes=[SIZES])


def _rank(experiment: ExperimentResults, names: Sequence[str]) -> Ranking | None:
    return rank(experiment, names, lambda s, name: _median(experiment, s, name, "accuracy, %"))


# --- Pictures ------------------------------------------------------------------------------------


def pictures(experiment: ExperimentResults) -> list[Picture]:
    """Return Figure 2 for each stream, Figure 3, and a diagram of ranks."""
    names = [
        name for name in load_paper(PAPER).methods if name in {m.name for m in experiment.methods}
    ]
    if not names:
        return []
    ranking = _rank(experiment, names)
    made = [] if ranking is None else [ranks_picture("ranks", ranking, "the median accuracy")]
    made.append(_by_size(experiment))
    return made + [_boxes(experiment, stream) for stream in experiment.streams]


def _boxes(experiment: ExperimentResults, stream: str) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, words in zip(
        figure.subplots(1, 3), ("accuracy, %", "size, KB", "time, s"), strict=True
    ):
        for place, base in enumerate(_BASES):
            for shift, name, color in ((-0.2, base, "0.6"), (0.2, f"O_{base}", "C1")):
                values = list(_by_settings(experiment, stream, name, words).values())
                if values:
                    box = axes.boxplot(
                        values, positions=[place + shift], widths=0.32, patch_artist=True
                    )
                    box["boxes"][0].set_facecolor(color)
                    box["medians"][0].set_color("k")
        axes.set_xticks(range(len(_BASES)), _BASES, fontsize=8)
        axes.set_xlim(-0.6, len(_BASES) - 0.4)
        axes.set_ylabel(words)
        axes.grid(axis="y", alpha=0.3)
    figure.suptitle(f"{stream}: grey without, orange with OLBoost", fontsize=11, parse_math=False)
    caption = f"{stream}: all settings of each tree, without and with boosting (Figure 2)."
    return Picture(f"{stream}-boxes", figure, caption)


def _by_size(experiment: ExperimentResults) -> Picture:
    """Plot the relative accuracy of the boosted trees by the nodes of the plain ones."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for number, stream in enumerate(experiment.streams):
        points = [point for base in _BASES for point in _relative(experiment, stream, base)]
        if points:
            nodes, accuracies = zip(*points, strict=True)
            axes.plot(nodes, accuracies, "o", ms=4, alpha=0.7, color=f"C{number}", label=stream)
    axes.axhline(1, color="k", lw=0.8)
    axes.set_xscale("log")
    axes.set_xlabel("nodes of the tree")
    axes.set_ylabel("accuracy with / without OLBoost")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    caption = "What boosting gains by the size of the tree, each point a setting (Figure 3)."
    return Picture("gain-by-size", figure, caption)


def _relative(experiment: ExperimentResults, stream: str, base: str) -> list[tuple[float, float]]:
    boosted, plain = (
        _by_settings(experiment, stream, name, "accuracy, %") for name in (f"O_{base}", base)
    )
    nodes = _by_settings(experiment, stream, base, "nodes")
    return [(nodes[n], boosted[n] / plain[n]) for n in nodes if n in boosted and plain[n]]

"""The tables of the Shrub Ensembles paper: our measurements, and in brackets the paper's.

The area under the Pareto front (APF) is that of accuracy against average model size, from 0 to the
biggest model of the stream, for models below 100 MB (section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from microshrub_host.evaluation import pareto

from .common_part import common_part
from .experiment import RUNNING, TRUE, ExperimentResults, ReportTable, RunOutcome
from .printed_figures import Paper, load_paper
from .ranks import ALPHA, Ranking, compare_ranks

PAPER = "shrub-ensembles"
KB = 1024
MOST_BYTES = 100 * KB**2
_LIMITS: Sequence[tuple[str, float | None, str]] = (
    ("without a limit", None, "accuracy"),
    ("below 10 MB", 10 * KB**2, "accuracy_10_mb"),
    ("below 1 MB", KB**2, "accuracy_1_mb"),
    ("below 64 KB", 64 * KB, ""),  # not in the paper
    ("below 16 KB", 16 * KB, ""),
)
_NONE = "-"
_BRACKETS = (
    "The paper's own figures, for the whole stream or 1,000,000 samples of its "
    "generators, are in brackets."
)
_FEW = 6  # with fewer streams, no two methods can differ: 2 of 2**5 signs are 0.0625

Row = tuple[list[str], list[float | None]]  # the texts, and the values that show the best


def tables(experiment: ExperimentResults) -> list[ReportTable]:
    """Return all tables, in the order of the paper and its appendix."""
    paper = load_paper(PAPER)
    made = [
        _apf_table(experiment, paper, RUNNING, "mean over time of the running accuracy"),
        _apf_table(experiment, None, TRUE, "prequential accuracy"),
    ]
    made += [_best_table(experiment, paper, *limit) for limit in _LIMITS]
    common = common_part(experiment)
    if common is not experiment:
        made.append(_common_table(common))
    ranking = rank(common)
    if ranking is not None:
        made += [_ranks_table(ranking, paper), _pairs_table(ranking)]
    return [*made, _runs_table(experiment)]


def apf(experiment: ExperimentResults, stream: str, method: str, measure: str) -> float | None:
    """Return the normalised area under the method's Pareto front on a stream;
    None without a model.
    """
    points = points_of(experiment, stream, method, measure)
    everybody = [
        p for m in experiment.methods for p in points_of(experiment, stream, m.name, measure)
    ]
    if not points:
        return None
    return pareto.area(points, max(size for size, _ in everybody))


def points_of(
    experiment: ExperimentResults, stream: str, method: str, measure: str = RUNNING
) -> list[tuple[float, float]]:
    """Return (average bytes, accuracy in percent) of the method's models below 100 MB."""
    return [
        (result.average_bytes, result.measure(measure))
        for result in experiment.of(stream, method)
        if result.average_bytes is not None and result.average_bytes < MOST_BYTES
    ]


def rank(experiment: ExperimentResults) -> Ranking | None:
    """Rank the methods by their APF over the streams, which is 0 without a model.

    None for fewer than two methods or streams.
    """
    names = [method.name for method in experiment.methods]
    areas = [
        [apf(experiment, s, name, RUNNING) or 0.0 for name in names] for s in experiment.streams
    ]
    if len(names) < 2 or len(areas) < 2:
        return None
    return compare_ranks(names, np.array(areas))


def rank_paper(paper: Paper) -> Ranking:
    """Rank the methods of the paper's Table 1."""
    rows = np.nan_to_num(np.array(list(paper.tables["apf"].values()), dtype=np.float64))
    return compare_ranks(paper.methods, rows)


def _apf_table(
    experiment: ExperimentResults, paper: Paper | None, measure: str, words: str
) -> ReportTable:
    def row(stream: str) -> Row:
        values = [apf(experiment, stream, method.name, measure) for method in experiment.methods]
        texts = [
            with_paper(value, paper.value("apf", stream, method.name) if paper else None, "{:.4f}")
            for value, method in zip(values, experiment.methods, strict=True)
        ]
        return [stream, *texts], values

    return _table(
        experiment,
        f"Area under the Pareto front, {words}",
        ["stream"],
        [row(stream) for stream in experiment.streams],
        [
            "Normalised by the largest model of the stream; models below 100 MB, ours within 1 "
            f"MB. Larger is better. {_BRACKETS if paper else ''}".strip()
        ],
    )


def _common_table(common: ExperimentResults) -> ReportTable:
    """Return a table of the areas over the samples that all methods learned, which are ranked."""
    table = _apf_table(common, None, RUNNING, "over the samples that all methods learned")
    lengths = {
        stream: max(
            (r.samples for m in common.methods for r in common.of(stream, m.name)), default=0
        )
        for stream in common.streams
    }
    listed = ", ".join(f"{name} {samples:,}" for name, samples in lengths.items())
    about = f"Samples: {listed}; read off the curves of about 200 points, where there were more."
    return replace(table, notes=[*table.notes, about])


def _best_table(
    experiment: ExperimentResults, paper: Paper, words: str, within: float | None, name: str
) -> ReportTable:
    rows: list[Row] = []
    for stream in experiment.streams:
        best = [
            experiment.best(stream, method.name, within=within) for method in experiment.methods
        ]
        for title, value, form, table in _MEASURES if within is None else _MEASURES[:3]:
            theirs = {"accuracy": name, "size": "" if within else "size"}.get(table, table)
            values = [None if result is None else value(result) for result in best]
            texts = [
                with_paper(v, paper.value(theirs, stream, m.name) if theirs else None, form)
                for v, m in zip(values, experiment.methods, strict=True)
            ]
            compared: list[float | None] = values if "%" in title else []
            rows.append(([stream, title, *texts], compared))
    return _table(
        experiment,
        f"The best of each method {words}",
        ["stream", "measure"],
        rows,
        [
            "The configuration with the highest mean over time of the running accuracy: that is "
            "running, the paper's measure; accuracy is correct of all samples. Sizes are averages "
            "over time, in KB of 1024 bytes, MOA's and River's without what they took before the "
            "first sample. " + (_BRACKETS if name else "The paper has no such table.")
        ],
    )


def _bytes(result: RunOutcome) -> float | None:
    return None if result.average_bytes is None else result.average_bytes / KB


# The measure, its format, and the paper's table without a limit that has it, too
_MEASURES: Sequence[tuple[str, Callable[[RunOutcome], float | None], str, str]] = (
    ("running, %", lambda result: result.running_average_accuracy, "{:.2f}", "accuracy"),
    ("accuracy, %", lambda result: result.accuracy, "{:.2f}", ""),
    ("size, KB", _bytes, "{:,.1f}", "size"),
    ("time, s", lambda result: result.seconds, "{:,.1f}", "time"),
)


def with_paper(value: float | None, theirs: float | None, form: str) -> str:
    """Return our figure, and in brackets the paper's if there is one."""
    ours = _NONE if value is None else form.format(value)
    return ours if theirs is None else f"{ours} ({form.format(theirs)})"


def _table(
    experiment: ExperimentResults,
    title: str,
    head: Sequence[str],
    rows: Sequence[Row],
    notes: Sequence[str],
) -> ReportTable:
    """Return a table in which the best value of each row is bold."""
    best = set()
    for r, (_, values) in enumerate(rows):
        known = [value for value in values if value is not None]
        places = [c for c, value in enumerate(values) if known and value == max(known)]
        best |= {(r, len(head) + c) for c in places}
    names = [method.name for method in experiment.methods]
    return ReportTable(title, [*head, *names], [texts for texts, _ in rows], best, notes)


def _ranks_table(ranking: Ranking, paper: Paper) -> ReportTable:
    theirs = rank_paper(paper)
    by_name = dict(zip(theirs.names, theirs.ranks, strict=True))
    order = np.argsort(ranking.ranks, kind="stable")
    rows = []
    for i in order:
        name = ranking.names[i]
        rank = f"{by_name[name]:.2f}" if name in by_name else _NONE
        rows.append([name, f"{ranking.ranks[i]:.2f}", rank])
    differ = "differ" if ranking.differ else "do not differ significantly"
    return ReportTable(
        "Average ranks by the area under the Pareto front",
        ["method", "rank", "the paper's"],
        rows,
        notes=[
            f"1 is the best. Over {ranking.data_sets} streams the methods {differ} (Friedman's "
            f"test: chi squared {ranking.chi_squared:.2f}, p = {ranking.p_value:.3g}; Iman's and "
            f"Davenport's F {ranking.f_statistic:.2f}). A method without a model on a stream "
            "counts as 0. The paper's ranks are computed from its Table 1, over its 9 methods "
            "and 12 streams."
        ],
    )


def _pairs_table(ranking: Ranking) -> ReportTable:
    names = ranking.names
    too_few = f" With less than {_FEW} streams none can." if ranking.data_sets < _FEW else ""
    rows = [
        [name, *(_NONE if i == j else f"{ranking.pairs[i, j]:.3f}" for j in range(len(names)))]
        for i, name in enumerate(names)
    ]
    return ReportTable(
        "Pairwise Wilcoxon signed-rank tests",
        ["p", *names],
        rows,
        notes=[f"p-values with Holm's correction; below {ALPHA} two methods differ.{too_few}"],
    )


def _runs_table(experiment: ExperimentResults) -> ReportTable:
    """Return a table of the configurations that learned each stream,
    and of the samples learned.
    """
    rows = []
    for stream in experiment.streams:
        runs = [experiment.of(stream, method.name) for method in experiment.methods]
        rows.append([stream, *(_extent(of) for of in runs)])
    names = [method.name for method in experiment.methods]
    return ReportTable(
        "How much was run",
        ["stream", *names],
        rows,
        notes=["Configurations of each method, and the samples of the stream that they learned."],
    )


def _extent(runs: Sequence[RunOutcome]) -> str:
    if not runs:
        return _NONE
    return f"{len(runs)} of {max(result.samples for result in runs):,}"

"""Thickets of several sizes compared with other learners on many streams, as a page of tables.

Thickets run with several seeds each; the tables show the mean.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from microshrub_host.base.text import count
from microshrub_host.reports.markdown import markdown_table

from ..compare.comparison_runner import Cell
from ..papers.ranks import ALPHA, Ranking, compare_ranks

_NONE = "-"


@dataclass(frozen=True)
class Score:
    """The result of one learner on one stream: a cell for each seed, or a single cell."""

    cells: Sequence[Cell]

    @property
    def accuracy(self) -> float | None:
        """The mean in percent; None if a run failed."""
        result = [cell.accuracy for cell in self.cells if cell.accuracy is not None]
        return statistics.fmean(result) if len(result) == len(self.cells) else None

    @property
    def spread(self) -> float | None:
        """The standard deviation over the seeds, in points; None for one run or a failed one."""
        result = [cell.accuracy for cell in self.cells if cell.accuracy is not None]
        return statistics.stdev(result) if 1 < len(result) == len(self.cells) else None


Scores = Mapping[str, Mapping[str, Score]]  # by stream and by learner


def markdown(
    scores: Scores,
    ours: Sequence[str],
    command: str,
    seeds: int,
    picture: str | None = None,
    others: Sequence[str] = (),
) -> str:
    """Return the whole page; `ours` are the names of our thickets, the smallest first.

    `picture` is the file of the critical difference diagram, `others` are our other learners.
    """
    streams = list(scores)
    learners = list(next(iter(scores.values())))
    paragraphs = [
        f"Made by `{command}`; do not edit it by hand. Prequential accuracy in percent, of ours "
        f"the mean over {count(seeds, 'seed')}. No learner was given an option but its size and "
        "its seed; ensembles of MOA and River have ten members.",
        "## Accuracy",
        _accuracies(scores, learners),
    ]
    notes = [
        f"On {stream}, {name}: {cell.failure} after {cell.samples:,} samples."
        for stream in streams
        for name, score in scores[stream].items()
        for cell in score.cells[:1]
        if cell.failure
    ]
    paragraphs += ["\n".join(f"- {note}" for note in notes)] if notes else []
    if seeds > 1:
        paragraphs += ["## Spread over the seeds", "Standard deviations in points."]
        paragraphs.append(_table(scores, [*ours, *others], lambda score: _text(score.spread)))
    if len(ours) > 1:
        paragraphs += ["## What twice the bytes are worth", _doubling(scores, ours)]
    rivals = [name for name in learners if name not in (*ours, *others) and ":" in name]
    if rivals:
        paragraphs += ["## Ahead of the best of the others", _ahead(scores, ours, rivals)]
    for title, field in (("Bytes", "model_bytes"), ("Samples a second", "samples_per_second")):
        paragraphs += [f"## {title}", _table(scores, learners, _figure(field))]
    if len(streams) > 1 and len(learners) > 1:
        paragraphs += ["## Ranks", *_ranks(scores)]
        paragraphs += [f"![Critical difference diagram]({picture})"] if picture else []
    return "\n\n".join(paragraphs) + "\n"


def _text(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return _NONE if value is None else f"{value:+.2f}"


def _figure(field: str) -> Callable[[Score], str]:
    """Return a function that formats the mean of a field of the cells as a whole number."""

    def words(score: Score) -> str:
        result = [getattr(cell, field) for cell in score.cells]
        known = [value for value in result if value is not None]
        return f"{statistics.fmean(known):,.0f}" if known else _NONE

    return words


def _table(scores: Scores, learners: Sequence[str], words: Callable[[Score], str]) -> str:
    rows = [
        [stream, *(words(result[name]) for name in learners)] for stream, result in scores.items()
    ]
    return markdown_table(["stream", *learners], rows)


def mean(scores: Scores, learner: str) -> float | None:
    """Return a learner's mean accuracy over all streams; None if a stream has no accuracy."""
    result = [of_stream[learner].accuracy for of_stream in scores.values()]
    known = [value for value in result if value is not None]
    return statistics.fmean(known) if len(known) == len(result) else None


def _accuracies(scores: Scores, learners: Sequence[str]) -> str:
    rows = []
    for stream, result in scores.items():
        values = [result[name].accuracy for name in learners]
        best = max((value for value in values if value is not None), default=math.inf)
        words = [f"**{_text(v)}**" if v == best else _text(v) for v in values]
        rows.append([stream, *words])
    rows.append(["mean", *(_text(mean(scores, name)) for name in learners)])
    return markdown_table(["stream", *learners], rows)


def _doubling(scores: Scores, ours: Sequence[str]) -> str:
    """Return a table from each size to the next: the mean change,
    and the greatest loss on a stream.
    """
    rows = []
    for smaller, larger in pairwise(ours):
        gains = {}
        for stream, result in scores.items():
            before, after = result[smaller].accuracy, result[larger].accuracy
            if before is not None and after is not None:
                gains[stream] = after - before
        if gains:
            worst = min(gains, key=lambda stream: gains[stream])
            change = f"{statistics.fmean(gains.values()):+.2f}"
            rows.append([f"{smaller} to {larger}", change, f"{gains[worst]:+.2f}", worst])
    return markdown_table(["from, to", "mean", "least", "on"], rows)


def _ahead(scores: Scores, ours: Sequence[str], rivals: Sequence[str]) -> str:
    """Return by how many points ours are ahead of the best rival on each stream,
    and on how many.
    """
    apart: dict[str, list[float | None]] = {name: [] for name in ours}
    rows = []
    for stream, result in scores.items():
        known = {name: result[name].accuracy for name in rivals}
        there = {name: value for name, value in known.items() if value is not None}
        best = max(there, key=lambda name: there[name]) if there else ""
        for name in ours:
            mine = result[name].accuracy
            apart[name].append(None if mine is None or not best else mine - there[best])
        words = [_signed(apart[name][-1]) for name in ours]
        rows.append([stream, best or _NONE, _text(there.get(best)), *words])
    values = [[v for v in apart[name] if v is not None] for name in ours]
    means = [_signed(statistics.fmean(known) if known else None) for known in values]
    wins = [f"{sum(v > 0 for v in known)} of {len(known)}" for known in values]
    rows += [["mean", "", "", *means], ["streams ahead", "", "", *wins]]
    return markdown_table(["stream", "best of the others", "its accuracy", *ours], rows)


def ranking(scores: Scores) -> Ranking | None:
    """Rank the learners over the streams on which none failed;
    None for fewer than two streams or learners.
    """
    learners = list(next(iter(scores.values())))
    rows = [[result[name].accuracy for name in learners] for result in scores.values()]
    whole = [row for row in rows if None not in row]
    if len(whole) < 2 or len(learners) < 2:
        return None
    return compare_ranks(learners, np.array(whole, dtype=np.float64))


def _ranks(scores: Scores) -> list[str]:
    """Return average ranks, and which learners differ significantly."""
    result = ranking(scores)
    if result is None:
        return ["Too few streams have figures of all learners."]
    order = np.argsort(result.ranks, kind="stable")
    table = markdown_table(
        ["learner", "average rank"],
        [[result.names[i], f"{result.ranks[i]:.2f}"] for i in order],
    )
    groups = [", ".join(result.names[i] for i in clique) for clique in result.cliques]
    about = (
        f"1 is the best, over the {result.data_sets} streams that all learned to the end. "
        f"Friedman's test says with p = {result.p_value:.2g} that all are the same."
    )
    together = (
        "No two within one of these groups differ significantly (Wilcoxon's signed-rank test, "
        f"Holm's correction, {ALPHA}): " + "; ".join(f"({group})" for group in groups) + "."
    )
    return [about, table, *([together] if groups else [])]

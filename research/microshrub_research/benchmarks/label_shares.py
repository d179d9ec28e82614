"""Accuracy against the share of labels: queries where the model is unsure, and at random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from microshrub_host.base.text import count
from microshrub_host.evaluation.prequential import evaluate
from microshrub_host.library.learners import DEFAULT, defaults
from microshrub_host.reports.markdown import markdown_table
from microshrub_host.simulation.label_budget import LabelBudget
from microshrub_host.streams.stream import Stream

from .variable_uncertainty import accuracy_with

PERCENT = (1, 2, 5, 10, 20, 50)
MAIN = 10  # percent of labels in the first table
DELAY = 100  # samples
UNANSWERED = 0.2  # share of the queries

TEXT = """\
# Active learning

Made by `{command}`; do not edit it by hand. A thicket of 64 KB, without options, learns
only the labels that it asks for (`simulate --label-budget`). Prequential accuracy over all
samples in percent, the mean of {seeds}. Streams called shuffled, wisdm and roomocc are in a random
order: in their own, where the last label is next to unbeatable, it is not known if few labels are.

{picture}## With {main} % of the labels

At random means that each label is learned with a probability of {main} %, and that nothing is
learned in between. So it is with theirs, the variable uncertainty with randomisation of Zliobaite,
Bifet, Pfahringer and Holmes (2014), with their constants and the same learner.

{first}

Within 1 point of all labels on {near} of {streams} streams; above random on {above} of {streams},
above theirs on {ahead}.

## Any share of the labels

Asking, and in brackets at random:

{shares}

## Late answers, and none

With {main} %: as above; with answers {delay} samples after the query; with a fifth of the
queries never answered; and with both.

{hard}
"""


@dataclass
class LabelRow:
    """The results of one stream: accuracies in percent,
    by the percent of labels that are allowed.
    """

    stream: str
    samples: int
    full: float = 0.0
    queried: dict[int, float] = field(default_factory=dict)
    random: dict[int, float] = field(default_factory=dict)
    paper: float = 0.0  # at the main share
    asked: dict[int, float] = field(default_factory=dict)  # queries, in percent of the samples
    hard: list[float] = field(default_factory=list)  # late labels, unanswered queries, both

    @property
    def lost(self) -> float:
        """The accuracy with all labels minus the accuracy at the main share, in points."""
        return self.full - self.queried[MAIN]


def options_of(percent: int) -> LabelBudget:
    """Return the options of a QueryStrategy for this percentage of labels."""
    return LabelBudget(percent / 100)


def at_random(percent: int) -> LabelBudget:
    """Return the options for learning this percentage of labels, drawn at random."""
    return LabelBudget(unanswered=1 - percent / 100)


def measure(name: str, stream: Stream, seeds: int) -> Iterator[LabelRow]:
    """Yield the row of a stream as it fills: once for each of the runs() learners."""
    row = LabelRow(name, len(stream.labels))
    row.full, _ = _mean(stream, None, seeds)
    yield row
    for percent in PERCENT:
        row.queried[percent], row.asked[percent] = _mean(stream, options_of(percent), seeds)
        yield row
        row.random[percent], _ = _mean(stream, at_random(percent), seeds)
        yield row
    row.paper = float(np.mean([accuracy_with(stream, MAIN / 100, seed) for seed in range(seeds)]))
    yield row
    for change in _HARD:
        row.hard.append(_mean(stream, replace(options_of(MAIN), **change), seeds)[0])
        yield row


_HARD: Sequence[Mapping[str, Any]] = (
    {"delay": DELAY},
    {"unanswered": UNANSWERED},
    {"delay": DELAY, "unanswered": UNANSWERED},
)


def runs() -> int:
    """Return the number of learners on a stream."""
    return 2 + 2 * len(PERCENT) + len(_HARD)


def _mean(stream: Stream, budget: LabelBudget | None, seeds: int) -> tuple[float, float]:
    """Return the accuracy and the share of queries, in percent: means over the seeds."""
    shape = {"features": stream.values.shape[1], "classes": len(stream.class_names)}
    result = [
        evaluate(
            stream,
            DEFAULT,
            {**shape, **defaults(DEFAULT), "seed": seed},
            companions=[budget] if budget else [],
        )
        for seed in range(seeds)
    ]
    asked = [run.label_budget.share for run in result if run.label_budget]
    return float(np.mean([run.accuracy for run in result])), float(np.mean(asked or [100.0]))


def page(rows: Sequence[LabelRow], seeds: int, command: str, picture: str | None) -> str:
    """Return the whole page as Markdown; `picture` is the file with the curves."""
    drawn = f"![Accuracy against the share of labels, for each stream]({picture})\n\n"
    return TEXT.format(
        command=command,
        seeds=count(seeds, "seed"),
        picture=drawn if picture else "",
        main=MAIN,
        first=_first(rows),
        near=sum(row.lost <= 1 for row in rows),
        above=sum(row.queried[MAIN] > row.random[MAIN] for row in rows),
        ahead=sum(row.queried[MAIN] > row.paper for row in rows),
        streams=len(rows),
        shares=_shares(rows),
        delay=DELAY,
        hard=_hard(rows),
    )


def _first(rows: Sequence[LabelRow]) -> str:
    head = [
        "stream",
        "samples",
        "all labels",
        "queries",
        "lost",
        "asked for",
        "at random",
        "theirs",
    ]
    table = [
        [
            row.stream,
            f"{row.samples:,}",
            f"{row.full:.2f}",
            f"{row.queried[MAIN]:.2f}",
            f"{row.lost:.2f}",
            f"{row.asked[MAIN]:.2f} %",
            f"{row.random[MAIN]:.2f}",
            f"{row.paper:.2f}",
        ]
        for row in rows
    ]
    return markdown_table(head, table)


def _shares(rows: Sequence[LabelRow]) -> str:
    def cell(row: LabelRow, percent: int) -> str:
        return f"{row.queried[percent]:.2f} ({row.random[percent]:.2f})"

    head = ["stream", *(f"{percent} %" for percent in PERCENT), "all"]
    table = [
        [row.stream, *(cell(row, percent) for percent in PERCENT), f"{row.full:.2f}"]
        for row in rows
    ]
    return markdown_table(head, table)


def _hard(rows: Sequence[LabelRow]) -> str:
    head = ["stream", "at once", "late", "a fifth unanswered", "both"]
    table = [
        [row.stream, *(f"{accuracy:.2f}" for accuracy in (row.queried[MAIN], *row.hard))]
        for row in rows
    ]
    return markdown_table(head, table)

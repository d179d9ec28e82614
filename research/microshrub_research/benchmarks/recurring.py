"""Recurring concepts: two concepts in turn, and the accuracy at each visit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from microshrub_host.base.text import count
from microshrub_host.base.versions import version_of
from microshrub_host.reports.markdown import markdown_table

from .lessons import Lesson
from .taught_learners import TaughtLearner
from .taught_sets import SYNTH_SAMPLES, Opener

VISITS = 5
LENGTH = 2000  # samples of a visit
FIRST = 100  # first samples of a visit, which have an accuracy of their own
CONCEPTS: Mapping[str, tuple[str, str]] = {
    "agrawal": ("agrawal_0", "agrawal_4"),
    "clusters": ("clusters_0", "clusters_1"),
    "trees": ("trees_0", "trees_1"),
}

TEXT = """\
# Concepts that return

Made by `{command}`; do not edit it by hand. Two concepts take turns, {length:,} samples of each:
the first, the second, and so on, {visits} visits in all. Every label is told after its prediction.
Prequential accuracy in percent, the mean over {seeds}. Thickets have no warm-up, and River
{river}'s learners are those of `benchmark teach`. The concepts are Agrawal's functions 0 and 4;
50 clusters of five classes, drawn twice; and two random trees of four classes, over five numbers
and five categories.

## The first {first} samples of each visit

{firsts}

## All samples

{whole}
"""


@dataclass
class Visits:
    """The results of one learner on one stream, for each seed: accuracies in percent."""

    firsts: list[list[float]] = field(default_factory=list)  # of each visit
    whole: list[float] = field(default_factory=list)


VisitTable = dict[tuple[str, str], Visits]  # by stream and learner


def lesson(name: str, sets: Opener, length: int = LENGTH) -> Lesson:
    """Return the stream: the two concepts in turn, each continued from its last visit."""
    pair = [sets(each) for each in CONCEPTS[name]]
    left, parts = [0, 0], []
    for visit in range(VISITS):
        turn = visit % 2
        part = np.arange(left[turn], left[turn] + length) % SYNTH_SAMPLES
        left[turn] += length
        parts.append((pair[turn].values[part], pair[turn].labels[part]))
    values = np.concatenate([rows for rows, _ in parts])
    labels = np.concatenate([of_rows for _, of_rows in parts])
    classes = len(pair[0].class_names)
    return Lesson(values, labels, values[:0], labels, classes, prequential=True, drawn=False)


def measure(
    name: str, learners: Sequence[TaughtLearner], sets: Opener, seeds: int, length: int = LENGTH
) -> Iterator[tuple[str, Visits]]:
    """Yield each learner's name and results, one learner after the other."""
    stream = lesson(name, sets, length)
    for learner in learners:
        visits = Visits()
        for seed in range(seeds if learner.drawn else 1):
            right = 100.0 * (learner.answers(stream, seed) == stream.answers)
            of_visits = right.reshape(VISITS, length)
            visits.firsts.append(of_visits[:, :FIRST].mean(axis=1).tolist())
            visits.whole.append(float(right.mean()))
        yield learner.name, visits


def page(
    table: VisitTable, learners: Sequence[TaughtLearner], seeds: int, length: int, command: str
) -> str:
    """Return the whole page as Markdown."""
    names = list(dict.fromkeys(name for name, _ in table))
    firsts = [
        [name, str(visit + 1), *(_first(table[name, each.name], visit) for each in learners)]
        for name in names
        for visit in range(VISITS)
    ]
    whole = [
        [name, *(f"{np.mean(table[name, each.name].whole):.2f}" for each in learners)]
        for name in names
    ]
    called = [each.name for each in learners]
    return TEXT.format(
        command=command,
        length=length,
        visits=VISITS,
        seeds=count(seeds, "seed"),
        river=version_of("river"),
        first=FIRST,
        firsts=markdown_table(["stream", "visit", *called], firsts),
        whole=markdown_table(["stream", *called], whole),
    )


def _first(visits: Visits, visit: int) -> str:
    return f"{np.mean([of_seed[visit] for of_seed in visits.firsts]):.1f}"

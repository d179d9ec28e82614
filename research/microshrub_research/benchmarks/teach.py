"""Accuracies after the last label: the figures of the lessons, and their page."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from microshrub_host.base.text import count
from microshrub_host.base.versions import version_of, versions
from microshrub_host.reports.markdown import markdown_table

from ..papers.kept_results import KeptResults
from .lessons import TESTS, Lesson
from .taught_learners import TREES, TaughtLearner
from .taught_sets import Opener

_OTHERS = ("river", "scikit-learn")  # packages whose versions are part of the results' head
_NONE = "-"

TEXT = """\
# Once no label comes

Made by `{command}`; do not edit it by hand. Each learner is taught some samples with their labels,
and is then asked about others without a label. Balanced accuracy in percent (the mean over the
classes of how many of each are recognised), unless it says otherwise; the mean over {seeds}: a
seed draws samples and the order of the classes, too. A dash stands for a learner that cannot take
the lesson.

Thickets have no option but their size, and no warm-up: their ranges grow. NaiveBayes (Gaussian),
KNN, softmax, HAT and ARF are River {river}'s with its defaults (ten trees in ARF), KNN and softmax
behind its standard scaler, KNN with an exact search. The others learn all samples at once:
scikit-learn {scikit}'s extremely randomised trees and random forest, {trees} trees each, and its
linear discriminant analysis with shrinkage; in G also its logistic regression and 5 neighbours,
both behind its standard scaler, and its Gaussian naive Bayes.
"""


@dataclass(frozen=True)
class Grades:
    """The accuracies of one learner in one lesson, in percent."""

    plain: float
    balanced: float


Key = tuple[str, str, str, str]  # test, set, way, learner


@dataclass
class GradeTable:
    """All results: the grades of each seed."""

    figures: dict[Key, list[Grades]] = field(default_factory=dict)

    def add(self, key: Key, figures: Grades) -> None:
        """Add the grades of another seed."""
        self.figures.setdefault(key, []).append(figures)

    def mean(self, key: Key, accuracy: str) -> float | None:
        """Return the mean over the seeds, plain or balanced; None if there are no grades."""
        value = self.figures.get(key)
        return statistics.fmean(getattr(each, accuracy) for each in value) if value else None


def keeping(folder: Path | None, most: int) -> AbstractContextManager[KeptResults | None]:
    """Open the folder for the others' figures; without a folder, the context's value is None.

    Raises UserError if the folder has figures of another limit, or of other versions.
    """
    if folder is None:
        return nullcontext()
    head = {"experiment": "teach", "--limit": most, **versions()}
    return KeptResults(folder, head | {name: version_of(name) for name in _OTHERS}, "--keep")


def measure(
    letter: str,
    names: Sequence[str],
    learners: Sequence[TaughtLearner],
    sets: Opener,
    most: int,
    seeds: int,
    kept: KeptResults | None = None,
) -> Iterator[tuple[Key, Grades]]:
    """Yield the figures of a test one by one; ours are always measured, the others' if not kept.

    A figure that does not depend on the seed is measured once, and given for each seed.
    """
    test = TESTS[letter]
    before = _before(kept)
    for name in names:
        for way in test.ways:
            for seed in range(seeds):
                lesson = test.make(name, way, sets, most, seed)
                for learner in learners:
                    if not (takes(letter, learner) and learner.can(lesson)):
                        continue
                    key = letter, name, way, learner.name
                    run = key, seed if lesson.drawn or learner.drawn else 0
                    if run not in before:
                        before[run] = _figures(learner, lesson, seed)
                        if kept and not learner.ours:
                            kept.append({"key": key, "seed": run[1], **vars(before[run])})
                    yield key, before[run]


def _before(kept: KeptResults | None) -> dict[tuple[Key, int], Grades]:
    return {
        (tuple(record["key"]), record["seed"]): Grades(record["plain"], record["balanced"])
        for record in (kept.records if kept else ())
    }


def _figures(learner: TaughtLearner, lesson: Lesson, seed: int) -> Grades:
    right = learner.answers(lesson, seed) == lesson.answers
    of_class = [right[lesson.answers == each].mean() for each in np.unique(lesson.answers)]
    return Grades(100 * float(right.mean()), 100 * float(np.mean(of_class)))


def total(letter: str, names: Sequence[str], learners: Sequence[TaughtLearner], seeds: int) -> int:
    """Return the greatest number of figures that measure() yields."""
    some = [learner for learner in learners if takes(letter, learner)]
    return len(names) * len(TESTS[letter].ways) * len(some) * seeds


def takes(letter: str, learner: TaughtLearner) -> bool:
    """Return whether the learner is in the test's table."""
    return learner.ours or learner.name in TESTS[letter].peers


def page(
    grades: GradeTable,
    names: Mapping[str, Sequence[str]],
    learners: Sequence[TaughtLearner],
    seeds: int,
    command: str,
) -> str:
    """Return the whole page as Markdown; `names` are the sets of each test that was run."""
    text = TEXT.format(
        command=command,
        seeds=count(seeds, "seed"),
        river=version_of("river"),
        scikit=version_of("scikit-learn"),
        trees=TREES,
    )
    sections = [_section(grades, letter, names[letter], learners) for letter in names]
    return "\n".join([text, *sections])


def _section(
    grades: GradeTable, letter: str, names: Sequence[str], learners: Sequence[TaughtLearner]
) -> str:
    test = TESTS[letter]
    there = {key[3] for key in grades.figures if key[0] == letter}
    shown = [learner.name for learner in learners if learner.name in there]
    parts = [f"## {test.title}", test.about]
    for accuracy in test.accuracies:
        if len(test.accuracies) > 1:
            parts.append(f"### {accuracy.capitalize()} accuracy")
        parts.append(_table(grades, letter, names, shown, accuracy))
    return "\n\n".join(parts) + "\n"


def _table(
    grades: GradeTable, letter: str, names: Sequence[str], learners: Sequence[str], accuracy: str
) -> str:
    """Return a table: a row for each way with the means over the sets, then one for each set."""
    test = TESTS[letter]

    def row(way: str, sets: Sequence[str], called: str) -> list[str]:
        cells = [
            [grades.mean((letter, name, way, learner), accuracy) for name in sets]
            for learner in learners
        ]
        return [way, called, *map(_mean, cells)]

    rows = [row(way, names, f"mean of {len(names)}") for way in test.ways if len(names) > 1]
    one_by_one = test.each if len(names) > 1 else test.ways
    rows += [row(way, [name], name) for name in names for way in one_by_one]
    return markdown_table(["taught", "set", *learners], rows)


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{statistics.fmean(known):.1f}" if known and len(known) == len(values) else _NONE

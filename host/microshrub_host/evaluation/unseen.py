"""The accuracy of a model on stretches that it has never seen, without labels; see holdout.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base.text import count
from .by_class import ByClass, percent
from .stretches import GROUPS, RUNS

_ROUND = 1000  # from this many samples on, a percentage has a decimal


@dataclass(frozen=True)
class Holdout:
    """The accuracies, in percent, on held-out samples after learning the rest."""

    by_class: ByClass = field(repr=False)  # of all draws together
    draws: tuple[float, ...]  # the accuracy in each draw
    stretches: int  # held-out stretches in all draws together
    learned: int  # samples learned, averaged over the draws
    guessing: float  # the accuracy of always predicting the majority class of the learned samples
    forest: float | None  # the accuracy of a batch forest, if available

    @property
    def samples(self) -> int:
        """The number of held-out samples in all draws together."""
        return int(self.by_class.counts.sum())

    @property
    def accuracy(self) -> float:
        """The percentage of held-out samples predicted correctly."""
        return 100 * float(np.trace(self.by_class.counts)) / self.samples

    @property
    def balanced_accuracy(self) -> float:
        """The mean of the classes' recalls."""
        return self.by_class.balanced_accuracy

    def record(self) -> dict[str, Any]:
        """Return the accuracies for --json."""
        known = self.by_class.record()
        return {
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced_accuracy,
            "recall": known["recall"],
            "confusion": known["confusion"],
            "samples": self.samples,
            "samples_learned": self.learned,
            "stretches": self.stretches,
            "draws": list(self.draws),
            "guessing": self.guessing,
            "batch_forest": self.forest,
        }

    @property
    def short(self) -> str:
        """A text like "90 % of 82 samples (guessing: 35 %)", with the mean samples of a draw."""
        each = count(self._each, "sample") if self._each < _ROUND else f"{self._each:,}"
        return f"{self.percent(self.accuracy)} of {each} (guessing: {self.percent(self.guessing)})"

    @property
    def text(self) -> str:
        """A text like `short`, with the spread of the draws and the batch forest's accuracy."""
        apart = f", {self.spread} of {len(self.draws)} draws" * (len(self.draws) > 1)
        right = f"{self.percent(self.accuracy)} of {count(self._each, 'sample')}"
        baselines = [f"guessing: {self.percent(self.guessing)}"]
        if self.forest is not None:
            baselines.append(f"batch forest: {self.percent(self.forest)}")
        return f"{right}{apart} ({', '.join(baselines)})"

    @property
    def spread(self) -> str:
        """The lowest and the highest accuracy of the draws, as text."""
        low, high = (self.percent(each) for each in (min(self.draws), max(self.draws)))
        return f"{high} in each" if low == high else f"{low.removesuffix(' %')} to {high} in each"

    @property
    def _each(self) -> int:
        return round(self.samples / len(self.draws))

    def percent(self, share: float) -> str:
        """Format a percentage, with a decimal if there are many samples; only 100 is "100 %"."""
        return percent(share, int(self.samples >= _ROUND))


@dataclass(frozen=True)
class Unseen:
    """The accuracy on unseen data, over whole stretches, and the accuracy as of now.

    `holdout` is about stretches drawn from the whole stream: groups, runs of a label or blocks of
    time. `now` is about the last stretches, after all samples before them were learned. `ends` is
    about the ends of stretches that are otherwise learned. Each is None if it cannot be measured.
    """

    by: str  # the kind of stretches: stretches.RUNS, GROUPS or BLOCKS
    holdout: Holdout | None
    now: Holdout | None
    ends: Holdout | None  # ends of the only stretch of a class
    drifts: bool  # whether old stretches are predicted clearly worse than recent ones
    single: tuple[str, ...]  # classes with only one stretch
    group: str = ""  # the column that names the groups

    @property
    def headline(self) -> Holdout | None:
        """The main figure: as of now if the stream drifts, else over drawn stretches."""
        return self.now if self.drifts and self.now else self.holdout

    def record(self) -> dict[str, Any]:
        """Return the accuracies for --json."""
        parts = {"holdout": self.holdout, "as_of_now": self.now, "ends_of_runs": self.ends}
        head = self.headline
        return {
            "accuracy_on_unseen_data": head and head.accuracy,
            "unseen_data": {
                "headline": head and next(name for name, each in parts.items() if each is head),
                "stretches": self.group or self.by,
                "drifts": self.drifts,
                "cannot_tell": list(self.single),
                **{name: part and part.record() for name, part in parts.items()},
            },
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return a table's rows of names and values, the headline first."""
        head = self.headline
        parts = [(f"of whole {self._several}", self.holdout), ("as of now", self.now)]
        parts.append((f"ends of the same {self._several}", self.ends))
        others = [(f"  {name}", each.short) for name, each in parts if each and each is not head]
        if not head:
            why = f"unknown: each class has one {self._one} only"
            return [("on unseen data", why), *others]
        drawn, forest = len(head.draws), head.forest
        return [
            ("on unseen data", head.short),
            *([(f"  of {drawn} draws", head.spread)] if drawn > 1 else []),
            *([] if forest is None else [("  batch forest", head.percent(forest))]),
            *others,
        ]

    def detail_rows(self) -> list[tuple[str, str]]:
        """Return a table's rows with details of the headline."""
        head = self.headline
        if not head:
            return []
        return [
            ("balanced accuracy, on unseen data", head.percent(head.balanced_accuracy)),
            *head.by_class.recall_rows(),
        ]

    def answer(self) -> str:
        """Return the headline as a sentence."""
        head = self.headline
        if not head:
            return f"On its own: unknown, as each class has one {self._one} only."
        what = "what it never saw" if head is self.holdout else "the newest data"
        right, guessing = head.percent(head.accuracy), head.percent(head.guessing)
        return f"On its own: right in {right} of {what} (guessing: {guessing})."

    def sentences(self) -> list[str]:
        """Return sentences about the held-out stretches, and about classes not tested."""
        return [*self._main(), *self._cannot_tell()]

    @property
    def _one(self) -> str:
        return self.group or {RUNS: "run", GROUPS: "group"}.get(self.by, "block of time")

    @property
    def _several(self) -> str:
        if self.group in ("file", "recording"):  # no column, but the sources that were read
            return f"{self.group}s"
        return f"groups of {self.group}" if self.group else self.by

    def _main(self) -> list[str]:
        head = self.headline
        if not head:
            return []
        learned = count(head.learned, "sample")
        if head is self.holdout:
            return [
                f"The unseen data are whole {self._several}, none of them among the {learned} "
                "that the model learned."
            ]
        sentences = [
            "The stream drifts, so what counts are its last stretches, after the "
            f"{learned} before them were learned."
        ]
        if self.holdout:
            sentences.append(
                f"In whole {self._several} drawn from all of it, the model is right in "
                f"{self.holdout.text}, clearly more in recent ones than in old ones."
            )
        return sentences

    def _cannot_tell(self) -> list[str]:
        if not self.single:
            return []
        is_one = len(self.single) == 1
        sentences = [
            f"The figure cannot tell how well {_listed(self.single)} will be recognised: "
            f"{'that class has' if is_one else 'these classes have'} one {self._one} only"
            f"{'' if is_one else ' each'}. Record {'it' if is_one else 'each'} once more, at "
            "another time."
        ]
        if self.ends:
            sentences.append(
                f"At the end of the same {self._several}, the model is right in {self.ends.text}, "
                "which is easier than anything new."
            )
        return sentences


def _listed(names: Sequence[str]) -> str:
    """Return names as "a, b and c"; of many names, the first three."""
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more classes"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))

"""Recall for each class, for streams on which some classes are rare.

A model that never predicts the rare class can have 99 % accuracy. The balanced accuracy is the
mean of the classes' recalls, the G-mean their geometric mean (Kubat, Matwin: Addressing the Curse
of Imbalanced Training Sets, ICML 1997), which is 0 if one class is never predicted correctly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST = 12  # classes with a row each in a table


@dataclass(frozen=True)
class ByClass:
    """The confusion matrix: how many samples of each class got each prediction.

    Its shape is (classes, classes), with a row for each label. Recalls are in percent, None for a
    class without samples; balanced accuracy and G-mean leave out such classes.
    """

    names: tuple[str, ...]
    counts: NDArray[np.int64] = field(repr=False)

    @classmethod
    def none_yet(cls, names: tuple[str, ...]) -> ByClass:
        """Return a confusion matrix of zeros, for use before the first sample."""
        return cls(names, np.zeros((len(names), len(names)), dtype=np.int64))

    def add(self, labels: NDArray[np.uint8], predictions: NDArray[np.uint8]) -> None:
        """Count samples with these labels and predictions."""
        np.add.at(self.counts, (labels, predictions), 1)

    @property
    def recalls(self) -> list[float | None]:
        """The percentage of each class's samples that were predicted correctly."""
        totals = self.counts.sum(axis=1)
        pairs = zip(np.diag(self.counts).tolist(), totals.tolist(), strict=True)
        return [100 * right / total if total else None for right, total in pairs]

    @property
    def balanced_accuracy(self) -> float:
        """The mean of the recalls; 0 without samples."""
        known = self._known()
        return sum(known) / max(len(known), 1)

    @property
    def g_mean(self) -> float:
        """The geometric mean of the recalls; 0 without samples."""
        known = self._known()
        return (
            100
            * math.prod(recall / 100 for recall in known) ** (1 / max(len(known), 1))
            * bool(known)
        )

    def _known(self) -> list[float]:
        return [recall for recall in self.recalls if recall is not None]

    def record(self) -> dict[str, Any]:
        """Return the scores and the confusion matrix for --json."""
        return {
            "balanced_accuracy": self.balanced_accuracy,
            "g_mean": self.g_mean,
            "recall": dict(zip(self.names, self.recalls, strict=True)),
            "confusion": self.counts.tolist(),
        }

    def confused(self) -> tuple[str, str, int, int] | None:
        """Return the two classes confused most often, the number of these errors, and the number
        of the two classes' samples; None if no prediction was wrong."""
        wrong = self.counts - np.diag(np.diag(self.counts))
        pairs = np.triu(wrong + wrong.T)
        if not pairs.any():
            return None
        a, b = np.unravel_index(pairs.argmax(), pairs.shape)
        return self.names[a], self.names[b], int(pairs[a, b]), int(self.counts[[a, b]].sum())

    def matrix(self) -> list[list[str]]:
        """Return the confusion matrix as a table, head first; empty for too many classes."""
        if len(self.names) > _MOST:
            return []
        rows = zip(self.names, self.counts.tolist(), self.recalls, strict=True)
        return [
            ["actual \\ predicted", *self.names, "recall"],
            *(
                [name, *(f"{n:,}" for n in counts), "" if recall is None else percent(recall)]
                for name, counts, recall in rows
            ),
        ]

    def rows(self) -> list[tuple[str, str]]:
        """Return a table's rows: names and scores, with a row per class unless there are many."""
        return [
            ("balanced accuracy", f"{self.balanced_accuracy:.2f} %"),
            ("G-mean", f"{self.g_mean:.2f} %"),
            *self.recall_rows(),
        ]

    def recall_rows(self) -> list[tuple[str, str]]:
        """Return a row for the recall of each class; none if there are too many classes."""
        if len(self.names) > _MOST:
            return []
        totals = self.counts.sum(axis=1).tolist()
        each = zip(self.names, self.recalls, totals, strict=True)
        return [(f"  recall of {name}", recall_text(r, total)) for name, r, total in each]


def percent(share: float, decimals: int = 0) -> str:
    """Format a percentage for texts; one below 100 that would be rounded to 100 has 2 decimals."""
    text = f"{share:.{decimals}f}"
    return f"{share:.2f} %" if float(text) == 100 > share else f"{text} %"


def recall_text(recall: float | None, total: int) -> str:
    """Return a recall as text: `12.50 % of 8`."""
    return "no samples" if recall is None else f"{recall:.2f} % of {total:,}"

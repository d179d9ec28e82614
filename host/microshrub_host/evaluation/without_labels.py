"""What a model knows once nobody tells it labels: how many of the samples kept aside were right.

A prequential accuracy tells each label right after its prediction, and so rewards whoever repeats
the last one. On the shelf there is no label. Here a learner learns four of every five samples, in
their order, and is then asked about the others, in theirs (kept_aside.py). Of samples made of
windows, whole stretches of time are the others: windows that overlap are nearly the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .by_class import ByClass


@dataclass(frozen=True)
class WithoutLabels:
    """How many of the samples that were kept aside were right, in percent."""

    samples: int  # that were asked
    learned: int
    accuracy: float
    by_class: ByClass = field(repr=False)
    windows: bool = False  # whether whole stretches of time were kept aside

    @property
    def balanced_accuracy(self) -> float:
        """The mean of the classes' recalls, in percent."""
        return self.by_class.balanced_accuracy

    def record(self) -> dict[str, Any]:
        """For --json."""
        return {
            "accuracy_without_labels": self.accuracy,
            "balanced_accuracy_without_labels": self.balanced_accuracy,
            "recall_without_labels": self.by_class.record()["recall"],
            "samples_without_labels": self.samples,
        }

    def rows(self) -> list[tuple[str, str]]:
        """For a table: names and values."""
        how = ", in runs" * self.windows
        found = [
            ("without labels", f"{self.accuracy:.2f} % of {self.samples:,} kept aside{how}"),
            ("  balanced accuracy", f"{self.balanced_accuracy:.2f} %"),
        ]
        return [*found, *self.by_class.recall_rows()]

    def sentence(self) -> str:
        """What it means."""
        how = ", in whole stretches of time," * self.windows
        return (
            f"Without labels, after learning {self.learned:,} samples, the model predicts "
            f"{self.accuracy:.2f} % of {self.samples:,} held-out samples{how} correctly "
            f"(balanced accuracy {self.balanced_accuracy:.2f} %)."
        )

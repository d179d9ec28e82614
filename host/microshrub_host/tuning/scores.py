"""What a search compares models by: accuracy, or the mean absolute error of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scores:
    """The scores of one model: on the first part, on the rest, and on the whole stream."""

    first: float
    rest: float
    whole: float
    error: float = 0.0  # the standard error of `first`


@dataclass(frozen=True)
class Measure:
    """What the figures are, and which of two is the better one."""

    name: str
    unit: str  # in a table's head, behind "rest, "
    rising: bool  # whether more is better
    key: str  # in the JSON

    def worth(self, score: float) -> float:
        """The score so that more is better."""
        return score if self.rising else -score

    def difference(self, score: float, other: float) -> str:
        """How much better or worse the one is than the other, in words."""
        gain = self.worth(score) - self.worth(other)
        much = f"{abs(gain):.2f} points" if self is ACCURACY else f"{abs(gain):.4g}"
        return f"{much} {'better' if gain > 0 else 'worse'}"

    def text(self, score: float) -> str:
        """As tables have it."""
        return f"{score:.2f}" if self is ACCURACY else f"{score:.4g}"

    def told(self, score: float) -> str:
        """As sentences have it."""
        return f"{self.text(score)} %" if self is ACCURACY else f"MAE {self.text(score)}"


ACCURACY = Measure("accuracy", "%", rising=True, key="accuracy")
MAE = Measure("mean absolute error", "MAE", rising=False, key="mean_absolute_error")


def error_of_accuracy(percent: float, samples: int) -> float:
    """The standard error of an accuracy, in points."""
    return math.sqrt(percent * (100 - percent) / samples)

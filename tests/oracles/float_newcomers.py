"""What newcomers.py says in floats and lists, with nothing made fast."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence


class FloatNewcomers:
    """Scores are not cut to whole numbers; the threshold is in their unit.

    The memory keeps the order of its places, and a place whose sample goes is taken by the next
    one. `new` is decided by the caller where the floats are too near to the threshold to tell.
    """

    def __init__(
        self, features: int, classes: int, window: int, period: int, reach: int, collect: int
    ) -> None:
        self.window, self.period = window, period
        self.near = reach * features
        self.room = 4 * collect
        self.enough = max(1, min(8, window // (2 * classes)))
        self.codes: list[list[int]] = []
        self.labels: list[int] = []
        self.hand = 0
        self.threshold = 0.0
        self.aside: list[list[int]] = []
        self.patience = 0

    def score(self, codes: Sequence[int]) -> float:
        """How unlike the memory the codes are."""
        if len(self.codes) < 3:
            return 0.0
        away = [
            sum(abs((a >> 8) - (b >> 8)) for a, b in zip(other, codes, strict=True))
            for other in self.codes
        ]
        mean = sum(sorted(away)[:3]) / 3
        return min(32 * math.log2((self.near + mean) / self.near), 255.99)

    def can_tell(self) -> bool:
        """Whether there is enough in the memory for anything to be new."""
        return self.threshold > 0 and 4 * len(self.codes) >= self.window

    def meet(self, codes: Sequence[int], label: int, score: float, new: bool) -> None:
        """Take a sample with this score, which is new or is not."""
        if new:
            self.aside = [*self.aside, list(codes)][-self.room :]
            self.patience = 0
        else:
            self.patience += 1
            if self.patience == 8:
                self.patience = 0
                self.aside = self.aside[1:]
        if label < 0:
            return
        if self.labels.count(label) < self.enough:
            pass
        elif len(self.codes) < self.window:
            self.threshold = max(self.threshold, score)
        else:
            self.threshold += 8 * (score > self.threshold) - 8 / self.period
        self.threshold = max(self.threshold, 0.0)
        self.keep(codes, label)

    def keep(self, codes: Sequence[int], label: int) -> None:
        """Remember a sample; one of the class with the most of them goes."""
        if len(self.codes) < self.window:
            self.codes.append(list(codes))
            self.labels.append(label)
            return
        counts = Counter(self.labels)
        most = max(counts.values())
        goes = label
        if counts[label] < most:
            goes = min(c for c in counts if counts[c] == most)
        while self.labels[self.hand] != goes:
            self.hand = (self.hand + 1) % self.window
        self.codes[self.hand], self.labels[self.hand] = list(codes), label
        self.hand = (self.hand + 1) % self.window

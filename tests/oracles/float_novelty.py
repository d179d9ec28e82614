"""The algorithm of novelty_detection.py in floats and lists, without optimisation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


def away(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the distance of two samples, by the upper halves of their codes."""
    return sum(abs((p >> 8) - (q >> 8)) for p, q in zip(a, b, strict=True))


@dataclass(eq=False)
class Candidate:
    """An unknown sample; candidates are in the ring's order, the oldest first."""

    codes: list[int]
    distance: int  # from the memory, at its arrival
    asked: bool = False


class Signal:
    """The mean of a signal over labelled samples, and the mean deviation from it."""

    def __init__(self, least: float) -> None:
        self.least = least
        self.mean = self.deviation = 0.0
        self.seen = 0

    def above(self, value: float) -> float:
        return (value - self.mean) / max(self.deviation, self.least)

    def learn(self, value: float) -> None:
        self.seen = min(self.seen + 1, 256)
        far = value - self.mean
        self.mean += far / self.seen
        self.deviation += (abs(far) - self.deviation) / self.seen


class FloatNovelty:
    """A novelty detector whose memory has a fixed order; a new sample replaces a removed one.

    Where the floats are too close to decide, the caller decides whether a sample is unknown.
    """

    def __init__(
        self, features: int, classes: int, window: int, period: int, reach: int, collect: int
    ) -> None:
        self.window, self.period, self.collect = window, period, collect
        self.near = reach * features
        self.room = 10 * collect
        self.few = max(1, collect - 1)
        self.enough = max(1, min(8, window // (2 * classes)))
        self.codes: list[list[int]] = []
        self.labels: list[int] = []
        self.hand = 0
        self.height, self.uncertainty = Signal(1 / 20), Signal(1 / 50)
        self.limit = 0.0
        self.close = 1.0
        self.candidates: list[
            Candidate
        ] = []  # while no sample gets a label, only the oldest is removed
        self.since = 0

    def distance(self, codes: Sequence[int]) -> float:
        """Return the mean distance from the three nearest in the memory; 0 if there are fewer."""
        if len(self.codes) < 3:
            return 0.0
        return sum(sorted(away(codes, other) for other in self.codes)[:3]) / 3

    def height_of(self, codes: Sequence[int]) -> float:
        """Return the distance in octaves."""
        return math.log2((self.near + self.distance(codes)) / self.near)

    def novelty(self, codes: Sequence[int], uncertainty: float) -> float:
        return self.height.above(self.height_of(codes)) + self.uncertainty.above(uncertainty) / 2

    def can_tell(self) -> bool:
        """Return whether the memory has enough samples for any sample to be unknown."""
        return 4 * len(self.codes) >= self.window

    def collect_candidate(self, codes: Sequence[int], far: bool) -> int:
        """Add an unknown sample; return the number of candidates that resemble it."""
        distance_of_sample = int(self.distance(codes) + 0.01)
        distances = [away(codes, odd.codes) for odd in self.candidates]
        most = 2 * sorted([*distances, 65535, 65535])[1] + self.near
        belongs = [
            odd
            for odd, distance in zip(self.candidates, distances, strict=True)
            if distance < min(distance_of_sample, odd.distance) * self.close and distance <= most
        ]
        if distances and distances[-1] == min(distances) and self.since < 4 and not far:
            return len(belongs)
        candidate = Candidate(list(codes), distance_of_sample)
        self.candidates = [*self.candidates, candidate][-self.room :]
        self.since = 0
        if len(belongs) >= self.few:
            self._join(
                [odd for odd in belongs if odd in self.candidates] + [candidate], len(belongs) + 1
            )
        return len(belongs)

    def _join(self, new: list[Candidate], count: int) -> None:
        asked = [odd for odd in self.candidates if odd.asked]
        if asked and not any(odd.asked for odd in new):
            if len(asked) >= min(self.collect, count):
                return
            for odd in asked:
                odd.asked = False
        for odd in new:
            odd.asked = True

    def group(self) -> list[Candidate]:
        return [odd for odd in self.candidates if odd.asked]

    def learn(
        self, codes: Sequence[int], label: int, uncertainty: float, odd: bool, new: bool
    ) -> None:
        """Learn a sample with a label."""
        if self.labels.count(label) >= self.enough:
            self.height.learn(self.height_of(codes))
            self.uncertainty.learn(uncertainty)
            if self.can_tell():
                self.limit += (38 if odd else -26) / 256
                if len(self.candidates) >= 16:
                    self.close += 0.03 / self.period - 0.03 * new
                    self.close = min(max(self.close, 0.5), 2)
        self.keep(codes, label)

    def keep(self, codes: Sequence[int], label: int) -> None:
        """Store a sample; a full memory removes one of the most frequent class."""
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

"""The anomaly score in floats, as defined in firmware's anomaly.py, without optimisation.

It has no `normal`: the window follows the stream.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence


class FloatAnomaly:
    """An anomaly score that is not rounded to whole numbers; the threshold has the same unit."""

    def __init__(self, features: int, period: int, window: int, reach: int) -> None:
        self.near = reach * (features + 1)
        self.period = period
        self.samples: deque[list[int]] = deque(maxlen=window)
        self.threshold = 0.0
        self.quiet = self.period  # samples since the last one above the threshold
        self.alarms = 0
        self.over = 0  # alarms in excess of one per period
        self.age = 0  # samples of this period
        self.first: list[float] = []  # scores while the window fills
        self.last = [0] * features
        self.run = [0] * features
        self.usual = [127 * 256] * features  # in 1/256
        self.seen = 0
        self.mean = [0.0] * features  # mean position of values,
        self.away = [0.0] * features  # mean distance to it, and to the previous sample
        self.jump = [0.0] * features

    def score(self, codes: Sequence[int]) -> float:
        """Return the score of the codes without adding them to the window."""
        sample = [code >> 8 for code in codes]
        if not self.samples:
            return 0.0
        distances = [
            sum(abs(a - b) for a, b in zip(other, sample, strict=True)) for other in self.samples
        ]
        alike = [(self.near / (self.near + distance)) ** 2 for distance in distances]
        return -16 * math.log2(sum(alike) / len(alike))

    def stuck(self, codes: Sequence[int]) -> float:
        """Return the addition for features that repeat their codes for longer than usual."""
        most = 1.0
        for f, code in enumerate(codes):
            if code == self.last[f]:
                self.run[f] = min(self.run[f] + 1, 127)
                if self.run[f] == 127:
                    self.usual[f] = 127 * 256
                most = max(most, self.run[f] / (self.usual[f] / 256 + 2))
            else:
                faded = self.usual[f] - self.usual[f] // 256
                longer = 256 * self.run[f] > self.usual[f]
                self.usual[f] = 256 * self.run[f] if longer else faded
                self.run[f] = 0
                self.last[f] = code
        return 16 * math.log2(most)

    def spike(self, codes: Sequence[int]) -> float:
        """Return the least score of a sample with a sudden large step."""
        self.seen = min(self.seen + 1, 1024)
        most = 2.5
        for f, code in enumerate(codes):
            place, before = place_of(code), place_of(self.last[f])
            if self.seen == 1:
                self.mean[f] = before = place
            away, jump = abs(place - self.mean[f]), abs(place - before)
            usual, jumps = self.away[f] + 0.25, self.jump[f] * 4 / 5 + 0.25
            if self.seen > 64:
                most = max(most, min(away / usual, jump / jumps))
            self.mean[f] += (place - self.mean[f]) / self.seen
            self.away[f] += (away - self.away[f]) / self.seen
            self.jump[f] += (jump - self.jump[f]) / self.seen
        return 192 * math.log2(most / 2.5)

    def update(self, codes: Sequence[int]) -> float:
        """Return the score of the codes, and add them to the window."""
        full = len(self.samples) == self.samples.maxlen
        far = max(self.score(codes), self.spike(codes))
        score = min(far + self.stuck(codes), 256)
        if not full:
            self.first.append(score)
        else:
            if self.first:
                self.threshold = begins(self.first, self.period)
                self.first = []
            above = score > self.threshold
            if above and self.quiet >= min(48, max(1, self.period // 8)):
                self.threshold += 16 if self.over > 0 else 8
                self.over += 1
                self.alarms += 1
            self.quiet = 0 if above else self.quiet + 1
            self.threshold = max(0.0, self.threshold - 8 / self.period)
            self.age += 1
            if self.age == self.period:
                self.age, self.over = 0, max(self.over - 1, -4)
        self.samples.append([code >> 8 for code in codes])
        return score


def begins(scores: Sequence[float], period: int) -> float:
    """Return the first threshold: an exponential tail through the scores' mean and
    the highest one.
    """
    highest, count = max(scores), len(scores)
    if count < 2:
        return highest
    mean = sum(scores) / count
    times = min(max(math.log(5 / 4 * period) / math.log(count), 1), 4)
    return max(highest, min(mean + (highest - mean) * times, highest + 24, 256))


def place_of(code: int) -> float:
    """Return the position of a code's value, in 1/49152 of its range, as in quantizer.py."""
    if 8192 <= code < 57344:
        return code - 8192
    beyond = 8191 - code if code < 8192 else code - 57344
    octave, rest = divmod(beyond, 256)
    farther = max(beyond - 2047, 0) * 48
    if octave > 7:
        octave, rest = 7, 255
    away = 768 * (2**octave * (1 + rest / 256) - 1) + farther
    return -away if code < 8192 else 49152 + away

"""Similar gestures, by a hand whose speed, size and steadiness vary."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sensor_support import RATE

from microshrub_host.evaluation.holdout import answers, draws
from microshrub_host.evaluation.stretches import find
from microshrub_host.library.learners import defaults
from microshrub_host.simulation.feature_extraction import extracted
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.streams.stream import Stream

Point = tuple[float, float]
Reading = tuple[float, ...]
Make = Callable[["Hand", str, int], list[Reading]]
TURNS = 1.5  # turns per second
SHAKES = 3.0
STEADY = {TURNS: 60.0, SHAKES: 8.0}  # the size of a gesture; the hand trembles by a part of it
UNITS = 20  # counts per pixel
GRAVITY, TURNING = 16384 / 9.80665, 131  # counts of an MPU-6050
AXES = {"pointer": ("x", "y", "dx", "dy"), "motion": ("ax", "ay", "az", "gx", "gy", "gz")}


class Hand:
    """A hand with a random seed."""

    def __init__(self, seed: int = 5) -> None:
        self._random = random.Random(seed)
        self._angle = 0.0

    def points(self, shape: Callable[[float], Point], turns: float, readings: int) -> list[Point]:
        """Return places on a shape, one for each reading, at about `turns` turns a second."""
        made = []
        speed, size = self._random.uniform(0.9, 1.1), self._random.uniform(0.85, 1.15)
        for _ in range(readings):
            self._angle += 2 * math.pi * turns * speed / RATE
            x, y = shape(self._angle)
            shake = [STEADY[turns] * self._random.gauss(0, 0.04) for _ in range(2)]
            made.append((size * x + shake[0], size * y + shake[1]))
        return made


def _ellipse(wide: float, high: float) -> Callable[[float], Point]:
    return lambda angle: (wide * math.cos(angle), high * math.sin(angle))


DRAWN: dict[str, Callable[[float], Point]] = {  # pixels
    "clockwise": _ellipse(60, 60),
    "anticlockwise": _ellipse(60, -60),
    "eight": lambda angle: (60 * math.cos(angle), 60 * math.sin(2 * angle)),
    "rest": _ellipse(0, 0),
}
SHAKEN = {  # m/s²
    "across": _ellipse(8, 0.5),
    "up": _ellipse(0.5, 8),
    "round": _ellipse(8, 8),
    "back": _ellipse(8, -8),
}


def pointer(hand: Hand, text: str, readings: int) -> list[Reading]:
    """Return readings as the page's pointer sensor takes them."""
    made, before = [], (0.0, 0.0)
    for x, y in hand.points(DRAWN[text], TURNS, readings):
        made.append(tuple(UNITS * each for each in (x, y, x - before[0], y - before[1])))
        before = x, y
    return made


def motion(hand: Hand, text: str, readings: int) -> list[Reading]:
    """Return readings as the page's motion sensor takes them."""
    points = hand.points(SHAKEN[text], SHAKES, readings)
    return [
        (x * GRAVITY, y * GRAVITY, 9.8 * GRAVITY, 0.0, 0.0, 20 * x * TURNING) for x, y in points
    ]


def shown_and_measured(sensor: str, seed: int, size: int) -> tuple[float, float]:
    """Return the percentage on unseen data as the page shows it, and the true one.

    Four gestures are taught class after class in three rounds of six seconds, and only predicted
    in two more rounds.
    """
    make: Make = pointer if sensor == "pointer" else motion
    names = [*DRAWN] if sensor == "pointer" else [*SHAKEN]
    hand = Hand(seed)
    rows, labels = _samples(sensor, make, hand, names, [*range(4)] * 5)
    taught = labels[:, 1] < 12
    learned = _Learned(size, rows[taught], labels[taught, 0])
    is_whole = labels[:, 2] >= 3  # the window holds no other gesture
    unseen = ~taught & is_whole
    right = learned.answers(rows[taught], labels[taught, 0], rows[unseen]) == labels[unseen, 0]
    return learned.shown(is_whole[taught]), 100 * float(right.mean())


class _Learned:
    def __init__(self, size: int, rows: NDArray[np.int32], labels: NDArray[np.uint8]) -> None:
        self._rows, self._labels = rows, labels.astype(np.uint8)
        shape = {"features": rows.shape[1], "classes": 4, "bytes": size, "seed": 0}
        self._parameters = {**defaults("thicket"), **shape}

    def answers(
        self, rows: NDArray[np.int32], labels: NDArray[np.integer[Any]], asked: NDArray[np.int32]
    ) -> NDArray[np.uint8]:
        known = rows, labels.astype(np.uint8)
        return np.asarray(answers("thicket", self._parameters, *known, asked))

    def shown(self, is_whole: NDArray[np.bool_]) -> float:
        """Return the page's percentage, of the samples with a window from one recording."""
        right = of = 0
        for draw in draws(find(self._labels, 4)):
            out = draw.asked & is_whole
            known = self._rows[draw.learned], self._labels[draw.learned]
            answers = self.answers(*known, self._rows[out])
            right += int((answers == self._labels[out]).sum())
            of += int(out.sum())
        return 100 * right / of


def _samples(
    sensor: str, make: Make, hand: Hand, names: list[str], order: Iterable[int]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return samples, and for each its class, its recording and its place in the recording."""
    readings, marks = [], []
    for number, c in enumerate(order):
        made = make(hand, names[c], 6 * RATE)
        readings += made
        marks += [(c, number)] * len(made)
    values = np.clip(np.round(np.array(readings)), -32768, 32767)
    classes = np.array([c for c, _ in marks], np.uint8)
    raw = Stream("hand", values, classes, AXES[sensor], tuple(names))
    made_of = extracted(raw, FeatureOptions.of(("window=32", "hop=8", "rate=50", "zero=0")))
    last = np.asarray(made_of.times)
    numbers = np.array([marks[place][1] for place in last])
    starts = np.searchsorted(numbers, numbers)
    labels = np.stack([np.asarray(made_of.labels), numbers, np.arange(len(numbers)) - starts], 1)
    return np.asarray(made_of.values, dtype=np.int32), labels.astype(np.int64)

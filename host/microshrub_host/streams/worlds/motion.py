"""Readings of an accelerometer: gestures of a hand, and the frame of a fan."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from .world import Row, whole

G = 16384.0  # counts for 1 g, at the MPU-6050's range of 2 g
TAUGHT = ("rest", "shake", "circle") * 3  # class after class, three rounds
_GESTURE_RATE, _FAN_RATE = 100, 200  # readings a second


def gestures(random: np.random.Generator) -> Iterator[Row]:
    """Yield a hand's acceleration: three gestures, each taught for six seconds, three times.

    Then the gestures follow in random order for a minute.
    """
    for label in TAUGHT:
        yield from gesture(random, label, 6.0)
    for _ in range(24):
        label = str(random.choice(["rest", "shake", "circle"]))
        yield from gesture(random, label, random.uniform(1.5, 3.5))


def gesture(random: np.random.Generator, label: str, seconds: float) -> Iterator[Row]:
    """Yield the readings of one of three gestures, for a number of seconds."""
    hertz = {"rest": 0.2, "shake": random.uniform(3.2, 5.0), "circle": random.uniform(0.9, 1.5)}
    size = {"rest": 0.01, "shake": random.uniform(0.5, 1.1), "circle": random.uniform(0.4, 0.8)}
    tilt = random.normal(0, 0.12, 2)  # of the hand, never the same twice
    start = random.uniform(0, 2 * math.pi)
    for k in range(round(seconds * _GESTURE_RATE)):
        phase = start + 2 * math.pi * hertz[label] * k / _GESTURE_RATE
        along, across = math.sin(phase), math.cos(phase)
        if label == "shake":
            across = 0.2 * math.sin(2 * phase)  # back and forth, with little sideways motion
        felt = np.array([tilt[0] + size[label] * along, tilt[1] + size[label] * across, 1.0])
        yield whole(G * (felt + random.normal(0, 0.03, 3))), label


def fan(random: np.random.Generator) -> Iterator[Row]:
    """Yield a fan's acceleration: normal, with a covered grille, and with a weight on a blade.

    Each state comes twice, then they alternate for a while.
    """
    for label in ("normal", "blocked", "unbalanced") * 2:
        yield from _running(random, label, 15.0)
    for label in ("normal", "unbalanced", "normal", "blocked", "normal"):
        yield from _running(random, label, 12.0)


def _running(random: np.random.Generator, label: str, seconds: float) -> Iterator[Row]:
    turns = {"normal": 22.0, "blocked": 25.0, "unbalanced": 21.0}[label]  # turns a second
    turns += random.normal(0, 0.2)
    once = {"normal": 0.05, "blocked": 0.05, "unbalanced": 0.17}[label]  # unbalance, once per turn
    blades = {"normal": 0.04, "blocked": 0.12, "unbalanced": 0.04}[label]  # air, at three blades
    rub = partial(random.normal, 0, 0.02)
    phase = random.uniform(0, 2 * math.pi)
    for _ in range(round(seconds * _FAN_RATE)):
        phase += 2 * math.pi * turns * random.normal(1, 0.004) / _FAN_RATE
        push = once * np.array([math.sin(phase), math.cos(phase), 0.1 * math.sin(phase)])
        push = push + blades * np.array([0.2, 0.2, 1.0]) * math.sin(3 * phase)
        yield whole(G * (push + rub(3) + np.array([0.0, 0.0, 1.0]))), label

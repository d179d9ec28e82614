"""A hand that is taught gestures, left alone, and then holds the sensor turned by 90 degrees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .motion import TAUGHT, gesture
from .world import Row

COLUMNS = ("ax", "ay", "az")
CLASSES = ("circle", "rest", "shake")
RATE = 100  # readings a second
_SECONDS = 6.0  # duration of a taught gesture
_ALONE = 24  # gestures in a row without a label
LESSON, ALONE, TURNED, AGAIN, AFTER, BEFORE = range(6)  # the phases, in their order


@dataclass(frozen=True)
class HandReading:
    """A sensor's reading, the gesture, and its phase."""

    values: list[int]
    label: str
    phase: int


def readings(seed: int) -> Iterator[HandReading]:
    """Yield the readings of all phases: LESSON and AGAIN are taught class after class.

    The other phases have no labels for the learner. From TURNED to AFTER, the sensor is turned; in
    BEFORE it is in its first position.
    """
    random = np.random.default_rng(seed)
    for phase in (LESSON, ALONE, TURNED, AGAIN, AFTER, BEFORE):
        for values, label in _made(random, phase):
            turned = phase in (TURNED, AGAIN, AFTER)
            yield HandReading(_turned(values) if turned else values, label, phase)


def _made(random: np.random.Generator, phase: int) -> Iterator[Row]:
    if phase in (LESSON, AGAIN):
        for label in TAUGHT if phase == LESSON else dict.fromkeys(TAUGHT):
            yield from gesture(random, label, _SECONDS)
        return
    for _ in range(_ALONE):
        yield from gesture(random, str(random.choice(CLASSES)), random.uniform(1.5, 3.5))


def _turned(values: list[int]) -> list[int]:
    x, y, z = values
    return [z, y, -x]

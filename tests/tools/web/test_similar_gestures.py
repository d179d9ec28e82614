"""Gestures that are alike, taught class after class: once nobody tells labels, it knows them."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable

import pytest
from browser_support import Browser
from sensor_support import LIES, MOVED, RATE, draw, settle
from teach_support import begin, name, press, said

Point = tuple[float, float]
Make = Callable[[Browser, str, int], None]


class Hand:
    """A hand that is never quite as fast, as wide or as steady as before."""

    def __init__(self) -> None:
        self._random = random.Random(5)
        self._angle = 0.0

    def points(self, wide: float, high: float, turns: float, readings: int) -> list[Point]:
        """Places on an ellipse, one for each reading; so many turns a second, or nearly."""
        made = []
        speed, size = self._random.uniform(0.9, 1.1), self._random.uniform(0.85, 1.15)
        for _ in range(readings):
            self._angle += 2 * math.pi * turns * speed / RATE
            shake = [self._random.gauss(0, 0.04) for _ in range(2)]
            x = wide * size * (math.cos(self._angle) + shake[0])
            y = high * size * (math.sin(self._angle) + shake[1])
            made.append((x, y))
        return made


DRAWN = {"circle": (60, 60), "oval": (60, 24), "line": (60, 0)}  # pixels
SHAKEN = {"across": (8, 0.5), "up": (0.5, 8), "around": (8, 8)}  # m/s²


def drawing(hand: Hand) -> Make:
    def make(page: Browser, text: str, readings: int) -> None:
        points = hand.points(*DRAWN[text], 1.5, readings)
        draw(page, lambda at: points[round(at * RATE)], readings)

    return make


def shaking(hand: Hand) -> Make:
    def make(page: Browser, text: str, readings: int) -> None:
        points = [(*point, 20 * point[0]) for point in hand.points(*SHAKEN[text], 3, readings)]
        page.run(MOVED % json.dumps(points))

    return make


@pytest.mark.long
def test_nine_of_ten_that_were_drawn_are_right(held: Browser) -> None:
    name(held, ", ".join(DRAWN))
    begin(held)
    assert share_right(held, [*DRAWN], drawing(Hand())) >= 0.9


@pytest.mark.long
def test_nine_of_ten_that_were_shaken_are_right(held: Browser) -> None:
    name(held, ", ".join(SHAKEN))
    held.run("document.querySelector('#source').value = 'motion'")
    held.run(LIES)
    begin(held)
    assert share_right(held, [*SHAKEN], shaking(Hand())) >= 0.9


def share_right(held: Browser, gestures: list[str], make: Make) -> float:
    """Teach them, class after class in three rounds; then only predict, and count."""
    for text in gestures * 3:
        press(held, text)
        make(held, text, 6 * RATE)
    press(held, "only predict")
    settle(held)
    right = asked = 0
    for text in gestures * 2:
        make(held, text, 75)  # until a window holds nothing but this gesture
        for _ in range(10):
            make(held, text, 15)
            settle(held)
            right += said(held) == text
            asked += 1
    return right / asked

"""A washing machine's current, the air of a room, the soil of a pot, a keypad."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .world import Row, whole

_DAY = 288  # readings a day: one every five minutes
_PHASES = (("wash", 900), ("heat", 600), ("wash", 900), ("spin", 300), ("off", 600))  # seconds


def washing(random: np.random.Generator) -> Iterator[Row]:
    """Yield a washing machine's current in milliamperes, once a second: four washes."""
    for _ in range(4):
        for label, seconds in _PHASES:
            turn = int(random.integers(0, 16))
            for k in range(round(seconds * random.uniform(0.8, 1.2))):
                turning = (k + turn) % 16 < 10  # the drum turns, stops, and turns back
                usual = {
                    "off": 8.0,
                    "heat": 8700.0 + 500.0 * turning,
                    "wash": 900.0 * turning + 60.0,
                    "spin": 1700.0 + 600.0 * min(k / 60, 1),
                }[label]
                yield whole(np.array([usual + random.normal(0, 4 + 0.04 * usual)])), label


def room(random: np.random.Generator) -> Iterator[Row]:
    """Yield readings in an office, every five minutes for three weeks, and whether it is occupied.

    The values are light in lux, CO2 in ppm, and temperature in hundredths of a degree.
    """
    carbon, warm = 430.0, 19.5
    for day in range(21):
        came, went = random.normal(8.5, 0.5), random.normal(17.0, 0.7)
        for k in range(_DAY):
            hour = 24 * k / _DAY
            there = day % 7 < 5 and came < hour < went and not 12 < hour < 12.75
            sun = max(0.0, math.sin(math.pi * (hour - 6) / 14)) * random.uniform(0.6, 1.0)
            carbon += (28.0 if there else 0.0) + 0.05 * (425.0 - carbon) + random.normal(0, 4)
            goal = 18.5 + 2.5 * sun + 2.0 * there
            warm += 0.06 * (goal - warm) + random.normal(0, 0.03)
            lamps = 380.0 if there else 0.0
            light = 260.0 * sun + lamps + abs(random.normal(0, 6))
            yield (
                whole(np.array([light, carbon, 100 * warm])),
                "occupied" if there else "empty",
            )


def soil(random: np.random.Generator) -> Iterator[Row]:
    """Yield the state of a pot of basil, every half an hour for two months.

    The values are moisture in thousandths, temperature in tenths of a degree, and humidity in
    tenths of a percent. At eight o'clock the basil is watered if the soil is dry.
    """
    wet = 620.0
    for step in range(60 * 48):
        hour = step % 48 / 2
        sun = max(0.0, math.sin(math.pi * (hour - 6) / 14)) * random.uniform(0.3, 1.0)
        warm = 18.0 + 7.0 * sun + random.normal(0, 0.3)
        wet -= (0.4 + 4.0 * sun * warm / 20) * (wet / 620)
        if hour == 8 and wet < 330:
            wet = random.uniform(600, 640)
        air = 620 - 220 * sun + random.normal(0, 8)
        seen = np.array([wet + random.normal(0, 3), 10 * warm, air])
        yield whole(seen), ""


def keypad(random: np.random.Generator) -> Iterator[Row]:
    """Yield the counts of four touch pads, as of an MPR121, with a finger on one of five places.

    The places are on and between the pads; the sixth label is for no finger. Each place is pressed
    a dozen times, in turns.
    """
    places = {"left": 0.0, "mid-left": 0.8, "middle": 1.5, "mid-right": 2.2, "right": 3.0}
    pads = np.arange(4)
    for _ in range(12):
        for label in (*places, "nothing"):
            where = places.get(label, -9.0) + random.normal(0, 0.08)
            near = np.exp(-((pads - where) ** 2) / 0.9) * random.uniform(0.75, 1.15)
            for _ in range(4):
                yield whole(620 - 240 * near + random.normal(0, 7, 4)), label

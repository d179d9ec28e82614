"""Series with seasons, trends, jumps or none of these, for forecasts far ahead; seeded."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

Series = NDArray[np.float64]

DAY, WEEK = 24, 168


def walk(chance: Generator, time: Series) -> Series:
    """Return sums of noise: only the last value helps to forecast the next one."""
    series: Series = np.cumsum(chance.normal(0, 1, len(time)))
    return series


def transformer(chance: Generator, time: Series) -> Series:
    """Return a transformer's oil temperature by the hour: the day, the week, the year,
    the weather.
    """
    day, week, year = (
        height * np.sin(2 * np.pi * time / period)
        for height, period in ((4, DAY), (2, WEEK), (5, 4000))
    )
    series: Series = 30 + day + week + year + wandering(chance, len(time), 0.98, 0.7)
    return series


def power(chance: Generator, time: Series) -> Series:
    """Return a house's power by the hour: two peaks a day, lower on two of seven days."""
    hour = time % DAY
    peaks = np.exp(-(((hour - 8) / 3) ** 2)) + 1.5 * np.exp(-(((hour - 19) / 3) ** 2))
    weekday = 1 - 0.4 * (time // DAY % 7 > 4)
    series: Series = 20 + 100 * peaks * weekday + wandering(chance, len(time), 0.7, 4)
    return series


def jumps(chance: Generator, time: Series) -> Series:
    """Return a level that jumps about every 700 samples, with noise."""
    jumped = (chance.random(len(time)) < 1 / 700) * chance.normal(0, 20, len(time))
    series: Series = np.cumsum(jumped) + chance.normal(0, 2, len(time))
    return series


def trend(chance: Generator, time: Series) -> Series:
    """Return a steady rise with a season of 50 samples."""
    season = 3 * np.sin(2 * np.pi * time / 50)
    series: Series = 0.01 * time + season + wandering(chance, len(time), 0.9, 0.5)
    return series


def server(chance: Generator, time: Series) -> Series:
    """Return a server's load every five minutes: the day, a slow random part, and bursts."""
    bursts = 60 * (chance.random(len(time)) < 0.005)
    day = 20 * np.sin(2 * np.pi * time / 288)
    return 40 + day + wandering(chance, len(time), 0.95, 1.5) + bursts


def spots(chance: Generator, time: Series) -> Series:
    """Return cycles of about 132 samples whose length and height change, like the sunspots'."""
    speed = 2 * np.pi / 132 * (1 + 0.1 * wandering(chance, len(time), 0.99, 0.1))
    height = 80 + 30 * np.sin(2 * np.pi * time / 1000)
    cycle = height * (1 + np.sin(np.cumsum(speed))) / 2
    series: Series = np.maximum(0, cycle + chance.normal(0, 12, len(time)))
    return series


def wandering(chance: Generator, count: int, memory: float, noise: float) -> Series:
    """Return autoregressive noise of the first order:
    each value is `memory` times the previous one, plus noise.
    """
    series = np.empty(count)
    value = 0.0
    for k, fresh in enumerate(chance.normal(0, noise, count)):
        series[k] = value = memory * value + fresh
    return series


SERIES: Mapping[str, Callable[[Generator, Series], Series]] = {
    each.__name__: each for each in (walk, transformer, power, jumps, trend, server, spots)
}


def series(name: str, count: int, seed: int) -> Series:
    """Return `count` values of the series of that name, rounded to thousandths."""
    values = SERIES[name](default_rng(seed), np.arange(count, dtype=np.float64))
    return np.round(values, 3)

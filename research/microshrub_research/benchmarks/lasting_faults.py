"""Machines with a fault that begins and stays: each from a few lines of physics, seeded.

A row stands for a window of readings; rows are a minute apart. The first two thirds are normal;
then the fault begins small, grows to its full size, and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from .injected_anomalies import Marks, Values
from .series import wandering

COUNT = 3000
BEGIN = 2000  # row in which the fault begins
Growth = NDArray[np.float64]


def bearing(chance: Generator, worn: Growth) -> Values:
    """Simulate a bearing that wears: vibration, its peaks and the temperature,
    as the load changes.
    """
    load = 1 + 0.3 * wandering(chance, COUNT, 0.98, 0.2)
    vibration = load * (1 + 0.5 * worn) * chance.lognormal(0, 0.1, COUNT)
    peaks = vibration * (3 + 2 * worn * chance.random(COUNT) + chance.normal(0, 0.2, COUNT))
    heat = 40 + 8 * load + 4 * worn + wandering(chance, COUNT, 0.95, 0.3)
    return np.stack([vibration, peaks, heat], axis=1)


def sensor(chance: Generator, stuck: Growth) -> Values:
    """Simulate a room whose humidity sensor sticks: it follows the true humidity less and less."""
    time = np.arange(COUNT)
    warmth = 21 + 2 * np.sin(2 * np.pi * time / 480) + wandering(chance, COUNT, 0.97, 0.15)
    damp = 50 - 4 * (warmth - 21) + wandering(chance, COUNT, 0.9, 0.8)
    damp = damp * (1 - stuck) + (58 + chance.normal(0, 0.3, COUNT)) * stuck
    gas = 600 + 150 * np.sin(2 * np.pi * time / 480 + 1) + wandering(chance, COUNT, 0.95, 12)
    return np.stack([warmth, damp, gas], axis=1)


def pump(chance: Generator, dry: Growth) -> Values:
    """Simulate a pump that runs dry: the flow and the current fall, the motor warms up."""
    duty = (wandering(chance, COUNT, 0.99, 0.1) > 0).astype(np.float64)
    flow = duty * 12 * (1 - 0.6 * dry) + np.abs(chance.normal(0, 0.4, COUNT))
    current = duty * (3 + 0.12 * flow) + chance.normal(0, 0.15, COUNT)
    warmth = 35 + 10 * duty + 3 * dry * duty + wandering(chance, COUNT, 0.95, 0.5)
    return np.stack([flow, current, warmth], axis=1)


FAULTS: Mapping[str, Callable[[Generator, Growth], Values]] = {
    each.__name__: each for each in (bearing, sensor, pump)
}


def faulty(name: str, seed: int) -> tuple[Values, Marks]:
    """Return the rows of this machine, and which of them belong to the fault."""
    growth = np.zeros(COUNT)
    growth[BEGIN:] = np.minimum(np.linspace(0.2, 1.4, COUNT - BEGIN), 1)
    return FAULTS[name](default_rng(seed), growth), np.arange(COUNT) >= BEGIN

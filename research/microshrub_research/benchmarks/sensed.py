"""Recordings of sensors whose single readings say little: each from a few lines of physics.

A recording consists of sessions. Each session has every class once, in an order of its own, with
speeds, sizes and places that no other session has. All are seeded and simulated; none was
measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from microshrub_host.streams.stream import Stream

from .series import wandering

Signal = NDArray[np.float64]
G = 16384.0  # counts for an acceleration of 1 g


@dataclass(frozen=True)
class Sensed:
    """A sensor: `take` returns the readings of one class, shape (readings, channels)."""

    about: str
    rate: int  # readings per second
    seconds: float  # of a class in a session, on average
    channels: Sequence[str]
    classes: Sequence[str]
    take: Callable[[Generator, str, Signal], Signal]  # (generator, class, times in seconds)
    sessions: int = 16
    taught: int = 10  # training sessions


def machine(chance: Generator, state: str, time: Signal) -> Signal:
    """Simulate a shaft with bearings at 14 to 46 turns per second: an unbalanced weight shakes it
    once per turn, a bent coupling twice, and along the shaft; play causes halves and many
    multiples; a worn bearing is hit 3.57 times per turn and rings.
    """
    turns = chance.uniform(14, 46)
    angle = 2 * np.pi * np.cumsum(turns * (1 + 0.003 * chance.normal(size=len(time)))) / 1000
    force = (turns / 30) ** 1.2  # faster shafts are louder
    sizes = {"unbalanced": (0.5, 0.05), "bent": (0.12, 0.4), "loose": (0.2, 0.12)}
    once, twice = sizes.get(state, (0.1, 0.04))
    radial = once * np.sin(angle) + twice * np.sin(2 * angle + 1)
    axial = 0.4 * once * np.sin(angle + 2) + (1.2 if state == "bent" else 0.4) * twice * np.sin(
        2 * angle
    )
    if state == "loose":
        for order in (0.5, 1.5, 2.5, 3, 4):
            radial += 0.1 * np.sin(order * angle + chance.uniform(0, 6))
    result = force * chance.uniform(0.8, 1.25) * np.stack([radial, axial], axis=1)
    if state == "worn":
        hits = np.diff(np.floor(3.57 * angle / (2 * np.pi)), prepend=0) > 0
        ring = np.exp(-90 * time[:60]) * np.sin(2 * np.pi * 330 * time[:60])
        blows = hits * force * chance.uniform(0.25, 0.45, len(time))
        result += np.convolve(blows, ring)[: len(time), None] * [1.0, 0.5]
    shaken: Signal = G * (result + chance.normal(0, 0.03, result.shape) + [1.0, 0.0])
    return shaken


def gesture(chance: Generator, what: str, time: Signal) -> Signal:
    """Simulate a hand that holds an accelerometer, never the same way up twice."""
    speed = {"shake": 4.2, "circle": 1.3, "swing": 1.3, "knock": 1.8}.get(what, 0.3)
    speed *= chance.uniform(0.8, 1.25)
    wobble = 1 + 0.1 * wandering(chance, len(time), 0.98, 0.2)
    phase = chance.uniform(0, 6) + 2 * np.pi * np.cumsum(speed * wobble) / 50
    size = chance.uniform(0.4, 0.9)
    x, y, z = (np.zeros(len(time)) for _ in range(3))
    if what in ("shake", "swing"):
        x, y = size * np.sin(phase), 0.15 * size * np.sin(2 * phase)
    elif what == "circle":
        x, y = size * np.sin(phase), size * np.cos(phase)
    elif what == "knock":
        z = 2.5 * size * np.maximum(0, np.sin(phase) - 0.8) / 0.2
    else:
        x, y = 0.02 * np.sin(phase), 0.02 * np.cos(phase)
    return _held(chance, np.stack([x, y, 1 + z], axis=1), 0.03)


def direction(chance: Generator, what: str, time: Signal) -> Signal:
    """Simulate a hand that draws a circle, clockwise or not, or an eight:
    each time with another tempo, size, shape and tilt, and with noise.
    """
    tempo = chance.uniform(0.7, 1.6) * (1 + 0.1 * np.sin(time / 0.8))
    phase = chance.uniform(0, 6) + 2 * np.pi * np.cumsum(tempo) * time[1]
    size, shape = chance.uniform(0.3, 0.9), chance.uniform(0.6, 1.4)
    x, y = size * np.sin(phase + chance.normal(0, 0.2)), size * shape * np.cos(phase)
    if what == "clockwise":
        y = -y
    elif what == "eight":
        y = 0.8 * size * shape * np.sin(2 * phase)
    elif what == "rest":
        x, y = x * 0.03, y * 0.03
    return _held(chance, np.stack([x, y, np.ones(len(time))], axis=1), 0.05)


def _held(chance: Generator, moved: Signal, noise: float) -> Signal:
    """Return the readings, in counts, of a sensor in a hand with this motion, tilted at random."""
    a, b = chance.normal(0, 0.35, 2)
    turn = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    tilt = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    result = moved @ turn @ tilt
    felt: Signal = G * (result + chance.normal(0, noise, result.shape))
    return felt


def current(chance: Generator, what: str, time: Signal) -> Signal:
    """Simulate a clamp around a cable of 50 Hz: a heater draws a sine, a dimmer cuts it,
    a power supply draws peaks, a drill has brushes, a fridge's motor is magnetised;
    each in many sizes.
    """
    phase = 2 * np.pi * 50 * time + chance.uniform(0, 6)
    volt = np.sin(phase)
    size = float(np.exp(chance.uniform(np.log(600), np.log(5000))))
    if what == "heater":
        wave = volt
    elif what == "dimmer":
        wave = volt * ((phase % np.pi) > chance.uniform(0.3, 0.55) * np.pi)
    elif what == "supply":
        wave = np.sign(volt) * np.maximum(0, np.abs(volt) - chance.uniform(0.75, 0.9)) * 5
    elif what == "drill":
        load = 1 + 0.3 * wandering(chance, len(time), 0.99, 0.1)
        sparks = chance.normal(0, 0.12, len(time)) * np.abs(volt)
        wave = load * (np.sin(phase - 0.5) + 0.15 * np.sin(3 * phase)) + sparks
    elif what == "fridge":
        wave = np.sin(phase - 0.9) + 0.12 * np.sin(3 * (phase - 0.9)) + 0.05 * np.sin(5 * phase)
    else:
        wave, size = 0 * volt, 1.0
    return (size * wave + chance.normal(0, 12, len(time)))[:, None]


def breath(chance: Generator, how: str, time: Signal) -> Signal:
    """Simulate a belt on a chest: rate and depth of the breath, the heart, the belt's position."""
    rate, depth = {
        "calm": (0.22, 1.0), "fast": (0.6, 0.7), "deep": (0.16, 2.2), "talking": (0.22, 1.1),
        "held": (0.2, 0.03),
    }[how]  # fmt: skip
    rate, depth = rate * chance.uniform(0.85, 1.2), depth * chance.uniform(0.75, 1.3)
    uneven = 0.6 if how == "talking" else 0.15
    speed = rate * np.exp(uneven * wandering(chance, len(time), 0.98, 0.2))
    phase = chance.uniform(0, 6) + 2 * np.pi * np.cumsum(speed) / 20
    chest = np.sin(phase) + 0.2 * np.sin(2 * phase + 0.5)
    if how == "talking":
        chest = np.maximum(chest, -0.2) + 0.12 * wandering(chance, len(time), 0.7, 0.7)
    pulse = 0.05 * np.sin(2 * np.pi * chance.uniform(0.95, 1.6) * time) ** 3
    belt = chance.normal(0, 2) + 0.1 * wandering(chance, len(time), 0.999, 0.05)
    noise = chance.normal(0, 0.02, len(time))
    return 1000 * (depth * chest + pulse + belt + noise)[:, None]


SENSED: Mapping[str, Sensed] = {
    "machine": Sensed(
        "a rotating machine at 14 to 46 turns a second, and four faults", 1000, 4, ("ax", "ay"),
        ("normal", "unbalanced", "bent", "loose", "worn"), machine,
    ),
    "gestures": Sensed(
        "five gestures of a hand", 50, 12, ("ax", "ay", "az"),
        ("rest", "shake", "circle", "swing", "knock"), gesture,
    ),
    "directions": Sensed(
        "circles to the right and to the left, eights and rest of a hand", 50, 6,
        ("ax", "ay", "az"), ("clockwise", "anticlockwise", "eight", "rest"), direction,
        sessions=13, taught=3,
    ),
    "current": Sensed(
        "the current of five appliances, or none", 1000, 3, ("ampere",),
        ("off", "heater", "dimmer", "supply", "drill", "fridge"), current,
    ),
    "breathing": Sensed(
        "five ways to breathe", 20, 60, ("belt",),
        ("calm", "fast", "deep", "talking", "held"), breath,
    ),
}  # fmt: skip


def sensed(name: str, seed: int, sessions: int | None = None, rate: int | None = None) -> Stream:
    """Return the recording: a row for each reading, whole numbers of 16 bits.

    By default, `sessions` and `rate` are the sensor's own; another rate is for "directions" alone.
    """
    world, chance = SENSED[name], default_rng(seed)
    rate = world.rate if rate is None else rate
    values, labels = [], []
    for _ in range(world.sessions if sessions is None else sessions):
        for place in chance.permutation(len(world.classes)):
            readings = round(world.seconds * chance.uniform(0.8, 1.2) * rate)
            time = np.arange(readings) / rate
            taken = world.take(chance, world.classes[place], time)
            values.append(np.clip(np.rint(taken), -32768, 32767))
            labels.append(np.full(readings, place, np.uint8))
    return Stream(
        name, np.concatenate(values), np.concatenate(labels), tuple(world.channels),
        tuple(world.classes),
    )  # fmt: skip

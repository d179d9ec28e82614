"""Recordings of groups that differ: people, days and rooms, each from a few lines.

The groups of the test are not in the training data. A group has each class twice, for a while, in
an order of its own. All are seeded and simulated; none was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from microshrub_host.streams.stream import Stream

GROUPS = 20
_TIMES = 2  # visits of each class in a group
_SHORT, _LONG = 15, 45  # samples of a visit: at least, and below

Values = NDArray[np.float64]
Take = Callable[[int, int], Values]  # (class, number of samples) -> (samples, features)


def _smoothed(chance: Generator, samples: int, features: int) -> Values:
    """Return noise of deviation 1 of which half persists for about eight samples."""
    noise = chance.normal(size=(samples + 15, features))
    slow = np.stack([np.convolve(n, np.ones(16) / 4, "valid") for n in noise.T], axis=1)
    return np.asarray((slow + noise[:samples]) / np.sqrt(2))


def person(chance: Generator) -> Take:
    """Simulate a worn sensor in five activities, with three levels, three deviations and two
    tempos.

    Each person wears the sensor tilted, moves more or less than others, and faster or slower.
    """
    kinds = default_rng(5)
    levels = kinds.normal(0, 500, (5, 3))
    sizes = np.exp(kinds.normal(5, 0.8, (5, 3)))
    tempos = np.exp(kinds.normal(0, 0.5, (5, 2)))
    offset = chance.normal(0, 500, 3)
    gain = np.exp(chance.normal(0, 0.5))
    tempo = np.exp(chance.normal(0, 0.3))

    def take(label: int, samples: int) -> Values:
        noise = _smoothed(chance, samples, 8)
        size = gain * sizes[label] * np.exp(0.25 * noise[:, 3:6])
        beat = 100 * tempo * tempos[label] * np.exp(0.15 * noise[:, 6:])
        return np.hstack([levels[label] * gain + offset + 80 * noise[:, :3], size, beat])

    return take


def day(chance: Generator) -> Take:
    """Simulate a room with no, one or several people: its air, its noise and its light.

    The levels of the outside, of the heating and of the sun drift from day to day.
    """
    base = np.array([420, 2100, 4500, 300, 200]) + chance.normal(0, [80, 300, 1000, 30, 240])
    of_people = np.array([[0, 0, 0, 0, 0], [120, 40, 150, 60, 250], [420, 130, 400, 140, 280]])
    slope = chance.normal(0, [60, 200, 300, 15, 250])

    def take(label: int, samples: int) -> Values:
        noise = _smoothed(chance, samples, 5) * [35, 25, 80, 25, 60]
        begin, end = np.sort(chance.uniform(0, 1, 2)).tolist()
        hours = np.linspace(begin, end, samples)
        return np.asarray(base + of_people[label] + hours[:, None] * slope + noise)

    return take


def room(chance: Generator) -> Take:
    """Simulate six colours by the red, green, blue and infrared light that they reflect.

    Each room has a light of another strength and colour, and some stray light.
    """
    reflected = default_rng(6).uniform(0.1, 0.9, (6, 4))
    light = 3000 * np.exp(chance.normal(0, 0.5) + chance.normal(0, 0.2, 4))
    past = chance.uniform(0, 500, 4)

    def take(label: int, samples: int) -> Values:
        near = np.exp(0.12 * _smoothed(chance, samples, 1))
        noise = _smoothed(chance, samples, 4) * 40
        return np.asarray(light * reflected[label] * near + past + noise)

    return take


# the maker of each group, and the number of classes
KINDS: Mapping[str, tuple[Callable[[Generator], Take], int]] = {
    "people": (person, 5),
    "days": (day, 3),
    "rooms": (room, 6),
}


def recording(kind: str, seed: int) -> Stream:
    """Return a recording, group after group. Another seed gives other groups of the
    same classes.
    """
    make, classes = KINDS[kind]
    chance = default_rng((seed, len(kind)))
    values, labels, groups = [], [], []
    for group in range(GROUPS):
        take = make(chance)
        for label in np.concatenate([chance.permutation(classes) for _ in range(_TIMES)]):
            samples = int(chance.integers(_SHORT, _LONG))
            values.append(take(int(label), samples).round())
            labels.append(np.full(samples, label, np.uint8))
            groups.append(np.full(samples, group, np.intp))
    columns = values[0].shape[1]
    return Stream(
        kind,
        np.concatenate(values),
        np.concatenate(labels),
        tuple(f"x{i}" for i in range(columns)),
        tuple(f"class {c}" for c in range(classes)),
        groups=np.concatenate(groups),
        group_name="group",
    )

"""Gestures that differ by their direction: learned from three tries each, then ten new ones asked.

A hand draws circles and eights, each time at another tempo, size, shape and tilt. Windows that
hold a part of two gestures are left out.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import NDArray

from microshrub_host.evaluation import holdout
from microshrub_host.features.feature_choice import Place
from microshrub_host.features.feature_extraction import extracted
from microshrub_host.features.feature_options import FeatureOptions
from microshrub_host.library.learners import DEFAULT, defaults
from microshrub_host.streams.stream import Stream

NAMES = ("clockwise", "anticlockwise", "eight", "rest")
RATE = 50
READINGS = 6 * RATE  # of a try
TAUGHT, ASKED = 3, 10  # tries of each
GRAVITY = 4096


def gesture(rng: Generator, name: str) -> NDArray[np.float64]:
    tempo = rng.uniform(0.7, 1.6) * (1 + 0.1 * np.sin(np.arange(READINGS) / 40))
    phase = rng.uniform(0, 6) + 2 * np.pi * np.cumsum(tempo) / RATE
    size, shape = rng.uniform(0.3, 0.9), rng.uniform(0.6, 1.4)
    x, y = size * np.sin(phase + rng.normal(0, 0.2)), size * shape * np.cos(phase)
    if name == "clockwise":
        y = -y
    elif name == "eight":
        y = 0.8 * size * shape * np.sin(2 * phase)
    elif name == "rest":
        x, y = x * 0.03, y * 0.03
    a, b = rng.normal(0, 0.35, 2)  # how the hand is held
    ahead = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    aside = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    felt = np.stack([x, y, np.ones(READINGS)], axis=1) @ ahead @ aside
    result: NDArray[np.float64] = GRAVITY * (felt + rng.normal(0, 0.05, felt.shape))
    return result


def recording(seed: int) -> Stream:
    rng = np.random.default_rng(seed)
    places = [k for _ in range(TAUGHT + ASKED) for k in rng.permutation(len(NAMES))]
    values = np.rint(np.concatenate([gesture(rng, NAMES[k]) for k in places]))
    labels = np.repeat(np.array(places, np.uint8), READINGS)
    return Stream("hand", values, labels, ("ax", "ay", "az"), NAMES)


@functools.cache
def right(seed: int, *words: str) -> float:
    stream = recording(seed)
    options = FeatureOptions.of(list(words), Place(RATE, stream.feature_names))
    made = extracted(stream, options)
    assert made.times is not None
    begins = made.times - options.window + 1
    known = np.asarray(stream.labels)
    pure = (begins >= 0) & (begins // READINGS == made.times // READINGS)
    taught = made.times < TAUGHT * len(NAMES) * READINGS
    rows, labels = made.scale.apply(made.values), known[made.times]
    shape = {"features": rows.shape[1], "classes": len(NAMES)}
    parameters = shape | defaults(DEFAULT) | {"bytes": 16384}
    learned, unseen = pure & taught, pure & ~taught
    answers = holdout.answers(DEFAULT, parameters, rows[learned], labels[learned], rows[unseen])
    return 100 * float(np.mean(answers == labels[unseen]))


@pytest.mark.parametrize("words", ["", "window=64 hop=16"])
def test_a_direction_is_learned_from_three_tries(words: str) -> None:
    """Statistics of single axes do not tell it. Windows that are set have no bands."""
    assert np.mean([right(seed, *words.split()) for seed in range(4)]) > 88
    assert right(0, *words.split()) > right(0, *words.split(), "turns=none") + 12

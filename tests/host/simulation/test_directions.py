"""Gestures that differ in direction: learned from three tries each, tested on ten new ones."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from microshrub_research.benchmarks import features


@functools.cache
def right(seed: int, *words: str) -> tuple[float, ...]:
    """Return the accuracy in percent on windows of a single gesture,
    for thickets of 16 and of 64 KB.
    """
    options = features.options_for(features.DIRECTIONS, " ".join(words))
    return tuple(alone for alone, _ in features.direction(seed, options, features.SIZES))


@pytest.mark.parametrize("words", ["", "window=64 hop=16"])
def test_a_direction_is_learned_from_three_tries(words: str) -> None:
    """Statistics of single axes do not show the direction. Given windows have no bands."""
    with_turns = np.mean([right(seed, *words.split()) for seed in range(4)], axis=0)
    without = np.mean([right(seed, *words.split(), "turns=none") for seed in range(4)], axis=0)
    assert min(with_turns) > 85
    assert min(with_turns - without) > 12

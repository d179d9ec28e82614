"""Gestures that differ by their direction: learned from three tries each, ten new ones asked."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from microshrub_research.benchmarks import features


@functools.cache
def right(seed: int, *words: str) -> tuple[float, ...]:
    """Percent of the windows that hold one gesture alone, by thickets of 16 and of 64 KB."""
    options = features.options_for(features.DIRECTIONS, " ".join(words))
    return tuple(alone for alone, _ in features.direction(seed, options, features.SIZES))


@pytest.mark.parametrize("words", ["", "window=64 hop=16"])
def test_a_direction_is_learned_from_three_tries(words: str) -> None:
    """Statistics of single axes do not tell it. Windows that are set have no bands."""
    with_turns = np.mean([right(seed, *words.split()) for seed in range(4)], axis=0)
    without = np.mean([right(seed, *words.split(), "turns=none") for seed in range(4)], axis=0)
    assert min(with_turns) > 85
    assert min(with_turns - without) > 12

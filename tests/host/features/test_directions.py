"""Gestures that differ by their direction: learned from three tries each, ten new ones asked."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from microshrub_research.benchmarks import features


@functools.cache
def right(seed: int, *words: str) -> float:
    """Percent of the windows that hold one gesture alone, by a thicket of 16 KB."""
    options = features.options_for(features.DIRECTIONS, " ".join(words))
    return features.direction(seed, options, [features.SIZE])[0][0]


@pytest.mark.parametrize("words", ["", "window=64 hop=16"])
def test_a_direction_is_learned_from_three_tries(words: str) -> None:
    """Statistics of single axes do not tell it. Windows that are set have no bands."""
    with_turns = np.mean([right(seed, *words.split()) for seed in range(4)])
    without = np.mean([right(seed, *words.split(), "turns=none") for seed in range(4)])
    assert with_turns > 85
    assert with_turns > without + 12

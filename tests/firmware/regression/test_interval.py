"""Intervals contain their nominal share of the targets, whatever the errors are like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microshrub_host.library import loader

Interval = loader.load("python").Interval
RAW = st.integers(-(2**29) + 1, 2**29 - 1)


def held(share: float, errors: Any) -> float:
    interval = Interval(share)
    return float(np.mean([interval.learn(0, int(error)) for error in errors]))


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("scale", [30, 5000, 3_000_000])
def test_the_share_is_reached(share: float, scale: int) -> None:
    rng = np.random.default_rng(3)
    for errors in (
        rng.normal(0, scale, 6000),
        rng.exponential(scale, 6000),
        rng.normal(0, scale, 6000) * np.where(np.arange(6000) // 1000 % 2, 1, 8),
    ):
        assert held(share, errors) == pytest.approx(share, abs=0.015)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_the_half_width_is_near_the_quantile(share: float) -> None:
    interval, widths = Interval(share), []
    errors = np.abs(np.random.default_rng(5).normal(0, 10000, 8000))
    for error in errors:
        interval.learn(0, int(error))
        widths.append(interval.half)
    assert np.mean(widths[1000:]) == pytest.approx(np.quantile(errors, share), rel=0.1)


@given(st.lists(st.tuples(RAW, RAW), max_size=60))
def test_any_values_are_accepted(pairs: list[tuple[int, int]]) -> None:
    interval = Interval(0.9)
    for predicted, target in pairs:
        interval.learn(predicted, target)
        assert 0 <= interval.half < 2**29
    other = Interval(0.9)
    other.load(interval.save())
    assert other.half == interval.half


def test_micropython_agrees_without_allocating(run_micropython: Callable[[str], str]) -> None:
    output = run_micropython(
        "import micropython\n"
        "from microshrub import Interval\n"
        "interval, errors = Interval(0.9), [(i * 7919) % 4096 << i % 17 for i in range(500)]\n"
        "micropython.heap_lock()\n"
        "for error in errors:\n"
        "    interval.learn(-error, error)\n"
        "micropython.heap_unlock()\n"
        "print(interval.state_crc32(), interval.half)\n"
    )
    interval = Interval(0.9)
    for i in range(500):
        error = (i * 7919) % 4096 << i % 17
        interval.learn(-error, error)
    assert list(map(int, output.split())) == [interval.state_crc32(), interval.half]


def test_errors_are_reported() -> None:
    for share in (0.4, 1.0, "a"):
        with pytest.raises(ValueError, match="share has to be"):
            Interval(share)
    with pytest.raises(ValueError, match="target has to be"):
        Interval().learn(3, 2**29)

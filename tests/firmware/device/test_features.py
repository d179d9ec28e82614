"""Features of a window compared with numpy, on CPython with product checks, and on a board."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from property_support import examples

from microshrub_host.library import loader

PACKAGES = {name: loader.load(name).__name__ for name in ("checked", "llvm")}
LIMIT = 2**15
values = st.one_of(
    st.integers(-LIMIT, LIMIT - 1), st.sampled_from([-LIMIT, LIMIT - 1]), st.integers(-3, 3)
)

SCRIPT = """
from array import array
from microshrub.device.features import energy, outline, summarize
features = array("i", bytes(32))
for values, first in WINDOWS:
    ring = array("H", [v & 65535 for v in values])
    summarize(ring, len(values), first, 1, 0, features)
    features[5] = energy(ring, len(values), 1, 0)
    if len(values) > 1:
        outline(ring, len(values), first, 1, 0, features)
    print(list(features))
"""


def summarized(window: list[int], first: int = 0, engine: str = "checked") -> list[int]:
    module = sys.modules[f"{PACKAGES[engine]}.device.features"]
    ring = array("H", [v & 65535 for v in window])
    values = array("i", bytes(32))
    module.summarize(ring, len(window), first, 1, 0, values)
    values[5] = module.energy(ring, len(window), 1, 0)
    if len(window) > 1:
        module.outline(ring, len(window), first, 1, 0, values)
    return list(values)


def crossings(x: NDArray[np.int64]) -> int:
    signs = np.sign(x - x.sum() // len(x))
    signs = signs[signs != 0]
    return int(np.sum(signs[1:] != signs[:-1]))


def check(features: list[int], window: list[int], first: int) -> None:
    x = np.array(window, dtype=np.int64)
    ordered = np.roll(x, -first)
    mean, deviation, least, most, crossed, energy = features[:6]
    assert mean == x.sum() // len(x)
    wide = max(x.max() - mean, mean - x.min()) >= LIMIT  # then the last bit is dropped
    assert deviation == pytest.approx(x.std(), abs=4 if wide else 1.01)
    assert (least, most) == (x.min(), x.max())
    assert crossed == crossings(ordered)
    assert energy == (x**2).sum() // len(x) // 4
    assert all(-(2**29) < value < 2**29 for value in features)
    check_outline(features[6:], ordered, mean)


def doublings(part: float, whole: float) -> float:
    return float(256 * np.log2(part / whole))


def check_outline(outline: list[int], x: NDArray[np.int64], mean: int) -> None:
    """Check that form and mobility are as exact as integer distances allow."""
    if len(x) == 1 or x.min() == x.max():
        assert outline == [0, 0]
        return
    form, mobility = outline
    wide = x.max() - x.min() >= LIMIT  # then the last bit of a distance is dropped
    d = ((x - mean) >> wide).astype(float)
    steps = (np.diff(x) >> wide).astype(float)
    variance = np.mean(d**2)
    assert form == pytest.approx(doublings(variance, np.mean(np.abs(d)) ** 2), abs=2)
    stepped = max(np.sum(steps**2), 1) / len(steps)
    assert mobility == pytest.approx(doublings(stepped, variance), abs=2)


def test_form_and_mobility_do_not_depend_on_loudness() -> None:
    angle = 2 * np.pi * np.arange(1000) / 100
    noise = np.random.default_rng(2).normal(size=1000)
    results = {}
    for name, signal in (
        ("sine", np.sin(angle)), ("square", np.sign(np.sin(angle + 0.01))), ("noise", noise / 5),
    ):  # fmt: skip
        quiet, loud = (
            summarized(np.rint(size * signal).astype(int).tolist())[6:] for size in (900, 9000)
        )
        assert loud == pytest.approx(quiet, abs=8)
        results[name] = loud
    assert results["sine"][0] == pytest.approx(78, abs=2)
    assert results["square"][0] == pytest.approx(0, abs=2)
    assert results["noise"][0] == pytest.approx(167, abs=16)
    assert results["noise"][1] == pytest.approx(256, abs=24)
    assert results["sine"][1] == pytest.approx(512 * np.log2(2 * np.pi / 100), abs=8)


@given(st.lists(values, min_size=1, max_size=64), st.data())
def test_features_match_numpy(window: list[int], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(window) - 1))
    check(summarized(window, first), window, first)


@pytest.mark.parametrize("low", [-LIMIT, -LIMIT + 1, -5, 0])
@pytest.mark.parametrize("high", [LIMIT - 1, LIMIT - 2, 0])
@pytest.mark.parametrize("rows", [1, 2, 3, 1023, 1024])
def test_the_largest_windows_do_not_overflow(low: int, high: int, rows: int) -> None:
    for window in ([low] * rows, [high] * rows, [low, high] * (rows // 2) or [low]):
        check(summarized(window), window, 0)
    check(summarized([low] + [high] * (rows - 1)), [low] + [high] * (rows - 1), 0)


@settings(max_examples=examples(20))
@given(st.lists(values, min_size=1, max_size=64))
def test_llvm_gives_the_same_features(window: list[int]) -> None:
    assert summarized(window, 0, "llvm") == summarized(window)


def test_a_board_gives_the_same_features(run_micropython: Callable[[str], str]) -> None:
    rng = np.random.default_rng(5)
    windows = [(rng.integers(-LIMIT, LIMIT, n).tolist(), n // 3) for n in (1, 2, 64, 255, 1024)]
    windows += [([-LIMIT] * 1024, 0), ([LIMIT - 1] * 1024, 9), ([-LIMIT, LIMIT - 1] * 512, 5)]
    windows += [(rng.integers(-20, 20, 64).tolist(), 63)]
    lines = run_micropython(f"WINDOWS = {windows}\n" + SCRIPT).splitlines()
    assert lines == [str(summarized(window, first)) for window, first in windows]


class Ticks:
    """A clock in microseconds that wraps around at 2**30."""

    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now & (2**30 - 1)


@given(
    st.integers(1, 1000), st.integers(0, 2**30 - 1), st.lists(st.integers(0, 5000), max_size=80)
)
def test_samples_are_due_at_the_rate(rate: int, begin: int, steps: list[int]) -> None:
    clock = Ticks(begin)
    pace = sys.modules[f"{PACKAGES['checked']}.device.sensors"].Pace(rate, clock)
    period = 1_000_000 // rate
    taken = 0
    for step in [0, *steps]:
        clock.now += step
        was_due = pace.wait() <= 0
        assert pace.due() == was_due
        taken += was_due
        assert 0 < pace.wait() <= period
        assert taken + pace.missed == (clock.now - begin) // period + 1


def test_an_invalid_rate_is_refused() -> None:
    pace = sys.modules[f"{PACKAGES['checked']}.device.sensors"].Pace
    for rate in (0, 1001, 2.5, "50", "1/", "2/60"):
        with pytest.raises(ValueError, match="rate has to be"):
            pace(rate, Ticks(0))

"""A learner's forecasts are weighted against the last value and seasons, by known errors only."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples

from microshrub_host.evaluation.regression import NumberResult, evaluate_numbers
from microshrub_host.library import loader
from microshrub_host.library.learners import defaults, number_parameters
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_research.benchmarks.series import SERIES, series

LIBRARY: Any = loader.load("checked")
RAW = st.integers(-(2**29) + 1, 2**29 - 1)
SPANS = st.sampled_from([1, 1000]) | st.integers(1, 2**30 - 1)
MISSING = LIBRARY.MISSING
ROWS = 2500


def forecast(path: Path, name: str, horizon: int, seed: int = 3) -> NumberResult:
    file = path / f"{name}.csv"
    np.savetxt(file, series(name, ROWS, seed), fmt="%.3f", header="value", comments="")
    stream = open_numbers(str(file), target="value", horizon=horizon, lags=3, warmup=32)
    model = "thicket-regressor"
    parameters = number_parameters(model, stream.features, stream.late) | defaults(model)
    return evaluate_numbers(stream, model, parameters, warmup=32, interval=90)


@pytest.mark.parametrize(
    ("name", "horizons"),
    [
        ("walk", (1, 12, 48, 120)),
        ("transformer", (1, 12, 48, 120)),
        ("server", (1, 12, 48, 120)),
        ("jumps", (1, 12, 48)),  # 120 ahead, two or three jumps in all decide
    ],
)
def test_it_is_hardly_ever_worse_than_the_last_value(
    tmp_path: Path, name: str, horizons: tuple[int, ...]
) -> None:
    """With weights from errors alone it would be up to 14 % worse, due to chance far ahead."""
    for horizon in horizons:
        runs = [forecast(tmp_path, name, horizon, seed) for seed in range(31, 37)]
        ratios = [run.errors.mae / run.nochange.mae for run in runs]
        assert np.mean(ratios) < 1.01
        assert max(ratios) < 1.03


@pytest.mark.parametrize(
    ("name", "horizon", "ratio"),
    [("power", 1, 0.4), ("power", 48, 0.6), ("transformer", 12, 0.6), ("spots", 48, 0.6)],
)
def test_seasons_are_found(tmp_path: Path, name: str, horizon: int, ratio: float) -> None:
    """Without seasons, the errors would be at least 0.41, 1.16, 0.76 and 0.66 of NoChange's."""
    run = forecast(tmp_path, name, horizon)
    assert run.errors.mae < ratio * run.nochange.mae


@pytest.mark.parametrize("horizon", [1, 12, 48])
@pytest.mark.parametrize("name", sorted(SERIES))
def test_intervals_reach_their_share(tmp_path: Path, name: str, horizon: int) -> None:
    run = forecast(tmp_path, name, horizon)
    assert run.interval is not None
    targets = series(name, ROWS, 3)[horizon:]
    inside = np.abs(run.predictions - targets) <= run.half_widths
    assert 0.87 <= inside[300:].mean() <= 0.93


@pytest.mark.parametrize("period", [24, 100, 168])
def test_the_period_is_found(period: int) -> None:
    chance = np.random.default_rng(period)
    shape = chance.integers(0, 5000, period)
    naive = LIBRARY.NaiveForecasts(5, 350)
    ring = array("i", [MISSING] * 350)
    for k in range(5 * period):
        value = int(shape[k % period] + chance.integers(0, 50))
        ring[k % 350] = MISSING if k % 17 == 3 else value  # a gap is no difference
        naive.note(ring, k % 350, 5000)
    assert naive.period in range(period, 6 * period, period)


def test_a_sensor_that_is_silent_at_first_gets_the_right_period() -> None:
    """Periods with fewer comparisons have no advantage."""
    naive = LIBRARY.NaiveForecasts(5, 350)
    ring = array("i", [MISSING] * 350)
    chance = np.random.default_rng(8)
    shape = chance.integers(0, 5000, 24)
    for k in range(550):
        ring[k % 350] = MISSING if k < 400 else int(shape[k % 24] + chance.integers(0, 50))
        naive.note(ring, k % 350, 5000)
    assert naive.period in range(24, 350, 24)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 5), SPANS, st.lists(st.tuples(RAW, RAW), max_size=400))
def test_the_answer_is_always_among_the_forecasts(
    horizon: int, span: int, values: list[tuple[int, int]]
) -> None:
    kept = 2 * horizon + 340
    naive = LIBRARY.NaiveForecasts(horizon, kept)
    ring = array("i", [MISSING] * kept)
    for k, (y, model) in enumerate(values):
        at = k % horizon
        if k >= horizon:
            naive.judge(at, ring[(k - horizon) % kept], y, span)
        ring[k % kept] = y
        naive.note(ring, k % kept, span)
        answer = naive.foresee(at, model, ring, k % kept)
        _, _, opinions = (buffer for _, _, buffer in naive.buffers())
        heard = [model, y, opinions[4 * at + 1], opinions[4 * at + 2]]
        room = 2**15  # the loss of shares in 4096ths, for numbers of 30 bits
        assert min(heard) - room <= answer <= max(heard) + room
    other = LIBRARY.NaiveForecasts(horizon, kept)
    other.load(naive.save())
    assert other.state_crc32() == naive.state_crc32()

"""Runs of rows in one kernel equal take() row by row, however the rows are divided."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from property_support import examples

from microshrub_host.library import loader

RAW_MAX = 2**29 - 1
MISSING = -(2**29)
ENGINES = ("checked", "python", "llvm", "c")
LEARNERS: dict[str, dict[str, Any]] = {
    "LinearRegressor": {},
    "ShrubRegressor": {"window": 20, "trees": 2, "leaves": 4, "every": 3},
    "HoeffdingRegressor": {"nodes": 9, "leaves": 3, "bins": 5, "grace_period": 9},
    "ThicketRegressor": {"bytes": 4000},
}
Shape = dict[str, Any]

SHAPES = st.builds(
    lambda columns, column, horizon, lags, interval: {
        "columns": columns + (not horizon),
        "column": column % (columns + (not horizon)),
        "horizon": horizon,
        "lags": lags,
        "interval": interval,
    },
    st.integers(1, 3),
    st.integers(0, 9),
    st.sampled_from([0, 0, 1, 2, 7, 30]),
    st.integers(1, 9),
    st.sampled_from([None, 50, 90, 99]),
)


def rows_of(
    seed: int, columns: int, rows: int, odd: float = 0.2, unit: int = 500
) -> NDArray[np.int32]:
    """Draw a season and noise, in whole units; some values are outliers, limits, or missing."""
    rng = np.random.default_rng(seed)
    raw = rng.normal(0, 1000, (rows, columns)) + 3000 * np.sin(np.arange(rows) / 4)[:, None]
    raw[rng.random(raw.shape) < odd / 2] *= 1000
    raw = raw // unit * min(unit, 100)
    raw[rng.random(raw.shape) < odd / 4] = rng.choice([-RAW_MAX, RAW_MAX])
    raw[rng.random(raw.shape) < odd] = MISSING
    return raw.astype(np.int32)


def forecaster(engine: str, learner: str, shape: Shape, first: NDArray[np.int32]) -> Any:
    library: Any = loader.load(engine)
    lags = shape["lags"] if shape["horizon"] else 0
    parameters = {"features": shape["columns"] - 1 + lags, **LEARNERS[learner]}
    if learner == "ThicketRegressor":
        parameters["late"] = max(shape["horizon"] - 1, 0)
    made = library.Forecaster(getattr(library, learner)(**parameters), **shape)
    for row in first:
        made.observe(array("i", row.tolist()))
    made.freeze()
    return made


def row_by_row(made: Any, raw: NDArray[np.int32]) -> list[tuple[int, int]]:
    return [(made.take(array("i", row.tolist())), made.half) for row in raw]


def in_runs(made: Any, raw: NDArray[np.int32], cuts: list[int]) -> list[tuple[int, int]]:
    runs = runs_of(made).ForecastRuns(made)
    results: list[tuple[int, int]] = []
    for begin, end in pairwise([0, *sorted(cuts), len(raw)]):
        outputs, halves = (array("i", bytes(4 * (end - begin))) for _ in range(2))
        runs.take(array("i", raw[begin:end].ravel().tolist()), end - begin, outputs, halves)
        results += zip(outputs, halves, strict=True)
    return results


def runs_of(made: Any) -> Any:
    """Return the library module that defines the forecaster's runs."""
    package = type(made).__module__.partition(".")[0]
    return __import__(f"{package}.forecast_runs", fromlist=["ForecastRuns"])


def state(made: Any) -> dict[str, bytes]:
    rows = [row for part in made.parts for row in part.buffers()]
    return {name: bytes(memoryview(buffer)) for name, _, buffer in rows}


@settings(max_examples=examples(60), deadline=None)
@given(
    st.sampled_from(ENGINES), st.sampled_from(sorted(LEARNERS)), SHAPES,
    st.builds(rows_of, st.integers(0, 2**32 - 1), st.just(4), st.just(110),
              st.sampled_from([0, 0.02, 0.2]), st.sampled_from([1, 2000])),
    st.lists(st.integers(0, 90), max_size=4),
)  # fmt: skip
def test_a_run_equals_its_rows_one_by_one(
    engine: str, learner: str, shape: Shape, raw: NDArray[np.int32], cuts: list[int]
) -> None:
    raw = raw[:, : shape["columns"]]
    first, raw = raw[:20], raw[20:]
    twins = [forecaster(engine, learner, shape, first) for _ in range(3)]
    one_by_one = row_by_row(twins[0], raw)
    assert in_runs(twins[1], raw, []) == one_by_one
    assert in_runs(twins[2], raw, cuts) == one_by_one
    for twin in twins[1:]:
        assert state(twin) == state(twins[0])
        assert twin.outcome == twins[0].outcome


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("horizon", [0, 2])
def test_a_run_continues_after_take_and_the_other_way_round(engine: str, horizon: int) -> None:
    shape = {"columns": 2, "column": 1, "horizon": horizon, "lags": 3, "interval": 80}
    raw = rows_of(7, 2, 120, unit=2000)
    twins = [forecaster(engine, "LinearRegressor", shape, raw[:20]) for _ in range(2)]
    expected = row_by_row(twins[0], raw)
    outputs = row_by_row(twins[1], raw[:40]) + in_runs(twins[1], raw[40:70], [11])
    assert outputs + row_by_row(twins[1], raw[70:]) == expected
    assert state(twins[1]) == state(twins[0])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("odd", [0, 1])
def test_full_counts_are_halved_equally(engine: str, odd: int) -> None:
    """Sums of errors are halved together with their samples, and carry from word to word."""
    shape = {"columns": 2, "column": 0, "horizon": 0, "lags": 1, "interval": 90}
    raw = rows_of(3, 2, 30, odd=0)
    raw[25:28, 0] = RAW_MAX, -RAW_MAX, RAW_MAX
    twins = [forecaster(engine, "LinearRegressor", shape, raw[:20]) for _ in range(2)]
    for twin in twins:
        twin._flat[0][8] = 2**30 - 3  # samples taken, which wrap around
        words = twin.metrics._flat[0]
        words[:] = array("i", [2**29 - 2, 2**29 - 1 - odd, 2**29 - 3, 7 + odd, 1, 12345])
    expected = row_by_row(twins[0], raw[20:])
    assert in_runs(twins[1], raw[20:], [4]) == expected
    assert state(twins[1]) == state(twins[0])
    assert twins[1].metrics.scored < 2**29


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("horizon", [0, 1])
def test_a_target_out_of_range_counts_as_its_limit(engine: str, horizon: int) -> None:
    shape = {"columns": 2, "column": 1, "horizon": horizon, "lags": 1, "interval": None}
    raw = rows_of(5, 2, 60)
    beyond = raw.copy()
    raw[30:50:4, 1], beyond[30:50:4, 1] = RAW_MAX, 2**31 - 1
    raw[31:50:4, 1], beyond[31:50:4, 1] = -RAW_MAX, -(2**31)
    twins = [forecaster(engine, "LinearRegressor", shape, raw[:20]) for _ in range(2)]
    assert in_runs(twins[0], raw, []) == in_runs(twins[1], beyond, [33])
    assert state(twins[1]) == state(twins[0])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("horizon", [0, 3])
def test_an_interval_includes_its_ends(engine: str, horizon: int) -> None:
    """An interval without width contains a constant target."""
    shape = {"columns": 2, "column": 0, "horizon": horizon, "lags": 1, "interval": 90}
    raw = rows_of(2, 2, 60, odd=0)
    raw[:, 0] = 7
    made = forecaster(engine, "LinearRegressor", shape, raw[:20])
    assert in_runs(made, raw[20:], [9]) == [(7, 0)] * 40
    assert made.metrics.inside == made.metrics.scored == 40 - max(horizon, 1)
    assert made.outcome == 1

"""Regressors on all engines: the same bits in every buffer, no allocation, no overflow.

A session locks the heap of a real MicroPython while the learner works: an allocation fails.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples

from microshrub_host.library import loader
from microshrub_host.simulation import engines
from microshrub_host.simulation.pipeline import Forecast

CASES: list[tuple[str, dict[str, Any]]] = [
    ("ShrubRegressor", {"window": 60, "trees": 3, "leaves": 8, "every": 9}),
    ("ShrubRegressor", {"window": 8, "trees": 1, "leaves": 2, "every": 1, "step": 1.0}),
    ("ShrubRegressor", {"window": 200, "trees": 255, "leaves": 128, "every": 2, "seed": 5}),
    ("LinearRegressor", {}),
    ("LinearRegressor", {"rate": 0.25}),
    ("HoeffdingRegressor", {"nodes": 9, "leaves": 3, "bins": 5, "grace_period": 9}),
    ("ThicketRegressor", {"bytes": 3000, "late": 0}),
    ("ThicketRegressor", {"bytes": 16384, "late": 5}),
]


def outcome(
    engine: str, learner: str, parameters: dict[str, Any], target: dict[str, Any]
) -> dict[str, Any]:
    """Return predictions, status and buffers after a stream with outliers and missing values."""
    columns, column = target["columns"], target["column"]
    rng = np.random.default_rng(columns)
    raw = rng.normal(0, 1000, (250, columns)).astype(np.int32)
    raw[rng.random(raw.shape) < 0.02] *= 1000
    raw[:, column] += raw[:, 0]
    raw[rng.random(raw.shape) < 0.02] = -(2**29)  # missing
    with engines.start(engine, learner, parameters, [Forecast(target)]) as run:
        run.observe(raw[:40])
        run.freeze()
        predictions = [run.run(raw[:99]), run.run(raw[99:])]
        halves = np.frombuffer(run.outputs(), "<i4")
        buffers = {name: content for name, _, content in run.buffers()}
        status = run.status()
        saved = run.saved()
    whole = {name: value for name, value in vars(status).items() if value == value}
    whole |= {
        "halves": halves.tobytes(),
        "learner": saved.learner,
        "quantizer": saved.quantizer,
        **saved.more,
    }
    return {"predictions": np.concatenate(predictions).tobytes(), **whole, **buffers}


@pytest.mark.usefixtures("micropython_command")
@pytest.mark.parametrize(
    "target",
    [
        {"columns": 2, "column": 1, "horizon": 0, "lags": 0, "interval": None},
        {"columns": 1, "column": 0, "horizon": 1, "lags": 9, "interval": 50},
        {"columns": 13, "column": 4, "horizon": 6, "lags": 5, "interval": 90, "ends": [-9, 2000]},
    ],
)
@pytest.mark.parametrize(("learner", "change"), CASES)
def test_engines_agree(learner: str, change: dict[str, Any], target: dict[str, Any]) -> None:
    features = target["columns"] - 1 + target["lags"]
    parameters = {"features": features, **change}
    if "late" in change:
        parameters["late"] = max(target["horizon"] - 1, 0)
    expected = outcome(loader.fastest(), learner, parameters, target)
    for engine in ("c", "micropython"):
        other = outcome(engine, learner, parameters, target)
        assert [name for name in expected if expected[name] != other[name]] == []


@pytest.mark.long
@settings(max_examples=examples(15))
@given(st.sampled_from(CASES), st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_the_checked_engine_agrees_with_llvm(
    case: tuple[str, dict[str, Any]], seed: int, features: int
) -> None:
    """With codes and targets at their limits, ties and runs, no index or sum overflows."""
    learner, change = case
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 65536, (150, features))
    targets = rng.integers(0, 65536, 150)
    if rng.random() < 0.6:
        codes = rng.choice([0, 255, 256, 4000, 65279, 65280, 65535], codes.shape)
        targets = rng.choice([0, 1, 255, 65280, 65535], 150)
    if rng.random() < 0.5:
        targets = np.sort(targets)
    results = []
    for engine in ("checked", "llvm"):
        model = getattr(loader.load(engine), learner)(features=features, **change)
        values = array("H", bytes(300))
        model.run(array("H", codes.ravel().tolist()), array("H", targets.tolist()), values)
        results.append((values, [bytes(memoryview(b)) for _, _, b in model.buffers()]))
    assert results[0] == results[1]


@pytest.mark.parametrize(("learner", "change"), CASES)
def test_bytes_are_known_in_advance_and_a_saved_state_continues(
    learner: str, change: dict[str, Any]
) -> None:
    learner_class = getattr(loader.load("python"), learner)
    parameters = {"features": 3, **change}
    first, second = learner_class(**parameters), learner_class(**parameters)
    held = sum(len(bytes(memoryview(buffer))) for _, _, buffer in first.buffers())
    assert learner_class.nbytes(**parameters) == held <= parameters.get("bytes", held)
    fresh = first.save()
    rng = np.random.default_rng(1)
    for x in rng.integers(0, 65536, (40, 3)):
        first.learn(array("H", x.tolist()), int(x[0]))
    second.load(first.save())
    for x in rng.integers(0, 65536, (40, 3)):
        row = array("H", x.tolist())
        assert first.learn(row, int(x[0])) == second.learn(row, int(x[0]))
    assert first.state_crc32() == second.state_crc32()
    first.reset()
    assert first.save() == fresh

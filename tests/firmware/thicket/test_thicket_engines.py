"""Thicket's parts on all engines: the same bits in every buffer, no allocation, no overflow.

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
from raw_values import draw_raw

from microshrub_host.library import loader
from microshrub_host.simulation import engines

SHAPES = [(1, 2), (17, 2), (3, 5), (2, 256), (256, 3)]
CASES: list[tuple[str, dict[str, Any]]] = [
    ("NearestNeighbours", {"window": 100}),
    ("NearestNeighbours", {"window": 1, "k": 15}),
    ("SoftmaxRegression", {}),
    ("SoftmaxRegression", {"rate": 0.25}),
    ("Grove", {"window": 60, "trees": 3, "leaves": 8, "every": 9}),
    ("Grove", {"window": 8, "trees": 1, "leaves": 2, "every": 1}),
    ("Grove", {"window": 200, "trees": 9, "leaves": 128, "max_features": 1, "seed": 5}),
    ("Grove", {"window": 40, "trees": 2, "leaves": 150}),
    ("Thicket", {"bytes": 32768}),
    ("BalancedThicket", {"bytes": 36864}),
]


def outcome(engine: str, class_name: str, parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return predictions, status and every buffer after a stream."""
    samples = 300 if parameters["features"] < 99 else 60
    raw, labels = draw_raw(seed, samples, parameters["features"], parameters["classes"])
    with engines.start(engine, class_name, parameters) as run:
        run.observe(raw[:40])
        run.freeze()
        data = run.run(raw, labels).tobytes()
        buffers = {name: content for name, _, content in run.buffers()}
        status = run.status()
    return {"predictions": data, **vars(status), **buffers}


@pytest.mark.usefixtures("micropython_command")
@pytest.mark.parametrize(("features", "classes"), SHAPES)
@pytest.mark.parametrize(("class_name", "change"), CASES)
def test_engines_agree(
    class_name: str, change: dict[str, Any], features: int, classes: int
) -> None:
    parameters = {"features": features, "classes": classes, **change}
    expected = outcome(loader.fastest(), class_name, parameters, features)
    other = outcome("micropython", class_name, parameters, features)
    assert [name for name in expected if expected[name] != other[name]] == []


@pytest.mark.long
@settings(max_examples=examples(15))
@given(st.sampled_from(CASES), st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 7))
def test_the_checked_engine_agrees_with_llvm(
    case: tuple[str, dict[str, Any]], seed: int, features: int, classes: int
) -> None:
    """With codes at their limits, ties and runs of one label, no index or sum overflows."""
    class_name, change = case
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 65536, (150, features))
    if rng.random() < 0.5:
        codes = rng.choice([0, 255, 256, 4000, 65279, 65280, 65535], codes.shape)
    labels = rng.integers(classes, size=150)
    if rng.random() < 0.5:
        labels = np.sort(labels)
    rows = array("H", codes.ravel().tolist())
    results = []
    for engine in ("checked", "llvm"):
        model = getattr(loader.load(engine), class_name)(
            features=features, classes=classes, **change
        )
        written = bytearray(150)
        model.run(rows, bytearray(labels.tolist()), written)
        results.append((written, [bytes(memoryview(b)) for _, _, b in model.buffers()]))
    assert results[0] == results[1]


@pytest.mark.parametrize(("class_name", "change"), CASES)
def test_bytes_are_known_in_advance_and_a_saved_state_continues(
    class_name: str, change: dict[str, Any]
) -> None:
    learner = getattr(loader.load("python"), class_name)
    parameters = {"features": 3, "classes": 4, **change}
    first, second = learner(**parameters), learner(**parameters)
    held = sum(len(bytes(memoryview(buffer))) for _, _, buffer in first.buffers())
    assert learner.nbytes(**parameters) == held <= parameters.get("bytes", held)
    fresh = first.save()
    rng = np.random.default_rng(1)
    for x in rng.integers(0, 65536, (40, 3)):
        first.learn(array("H", x.tolist()), int(x[0]) >> 14)
    second.load(first.save())
    for x in rng.integers(0, 65536, (40, 3)):
        row = array("H", x.tolist())
        assert first.learn(row, int(x[0]) >> 14) == second.learn(row, int(x[0]) >> 14)
    assert first.state_crc32() == second.state_crc32()
    first.reset()
    assert first.save() == fresh


@pytest.mark.parametrize(("class_name", "change"), CASES)
def test_votes_add_up(class_name: str, change: dict[str, Any]) -> None:
    model = getattr(loader.load("python"), class_name)(features=2, classes=3, **change)
    rng = np.random.default_rng(2)
    for x in rng.integers(0, 65536, (60, 2)):
        predicted = model.predict(array("H", x.tolist()))
        votes = list(model.votes)
        assert predicted == votes.index(max(votes))
        assert sum(votes) == 0 or abs(sum(votes) / (65536 * 255) - 1) < 0.01
        assert 0 <= model.confidence <= 255
        model.learn(array("H", x.tolist()), int(x[0]) >> 15)

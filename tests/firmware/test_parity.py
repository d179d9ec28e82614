"""One source, three engines: the same bits in every buffer, after 200 samples or a million."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from property_support import examples
from raw_values import draw_raw
from tests_support import stream_of

from microshrub_host.library import loader
from microshrub_host.simulation import engines
from microshrub_host.streams.units import Scale

WARMUP = 256
ONE = 65536
ALL_VOTES = 65536 * 255

Raw = NDArray[np.int32]
Labels = NDArray[np.uint8]

BASE: dict[str, Any] = {"window": 16, "trees": 3, "depth": 3, "step": 0.5}
OTHER: dict[str, Any] = {
    "window": 20,
    "trees": 4,
    "depth": 7,
    "step": 6.5,
    "loss": "cross_entropy",
    "splitter": "random",
    "max_features": 2,
    "leaf": "class",
    "train_every": 2,
    "trigger": "error",
    "feature_bits": 8,
    "seed": 77,
}
CHANGES: list[dict[str, Any]] = [
    {},
    *({name: value} for name, value in OTHER.items()),
    {"window": 2},
    {"window": 257, "train_every": 5},
    {"window": 260, "depth": 12, "train_every": 50},
    {"depth": 30},
    {"depth": 1},
    {"trees": 1},
    {"step": 64},
    {"step": 1 / 1024},
    {"splitter": "random", "max_features": 1},
    {"loss": "cross_entropy", "leaf": "class"},
    OTHER,
]


def name_of(parameters: dict[str, Any]) -> str:
    if parameters is OTHER:
        return "all others"
    return ",".join(f"{name}={value}" for name, value in parameters.items()) or "base"


def result_of(
    engine: str, parameters: dict[str, Any], raw: Raw, labels: Labels, classes: int, warmup: int
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return status, predictions, and every buffer after a stream."""
    shape = {"features": raw.shape[1], "classes": classes}
    with engines.start(engine, "ShrubEnsemble", shape | parameters) as run:
        run.observe(raw[:warmup])
        run.freeze()
        predictions = run.run(raw, labels).tobytes()
        status = run.status()
        buffers = {name: content for name, _, content in run.buffers()}
    return status, {"predictions": predictions, **buffers}


def check_engines(
    parameters: dict[str, Any], raw: Raw, labels: Labels, classes: int, warmup: int
) -> None:
    status, buffers = result_of("llvm", parameters, raw, labels, classes, warmup)
    assert status.progress["trees_used"] > 0
    for engine in ("python", "micropython"):
        other_status, other = result_of(engine, parameters, raw, labels, classes, warmup)
        assert list(other) == list(buffers)
        assert [name for name in buffers if buffers[name] != other[name]] == [], engine
        assert other_status == status, engine


@pytest.mark.usefixtures("micropython_command")
@pytest.mark.parametrize("change", CHANGES, ids=name_of)
def test_engines_agree_with_each_parameter_changed(change: dict[str, Any]) -> None:
    raw, labels = draw_raw(len(name_of(change)), 200, 3, 3)
    check_engines({**BASE, **change}, raw, labels, 3, 40)


@pytest.mark.usefixtures("micropython_command")
@pytest.mark.parametrize(("features", "classes"), [(1, 2), (17, 2), (2, 256), (256, 3)])
def test_engines_agree_for_every_shape_of_data(features: int, classes: int) -> None:
    raw, labels = draw_raw(features, 200 if features < 99 else 40, features, classes)
    check_engines({**BASE, "max_features": 1}, raw, labels, classes, 40)


@pytest.mark.usefixtures("micropython_command")
@pytest.mark.parametrize(
    ("name", "change"),
    [*(("elec", change) for change in CHANGES), ("weather", {}), ("weather", OTHER)],
    ids=lambda value: value if isinstance(value, str) else name_of(value),
)
def test_engines_agree_on_real_streams(name: str, change: dict[str, Any]) -> None:
    stream = stream_of(name, 1200)
    raw = Scale.fit(stream.values).apply(stream.values)
    check_engines({**BASE, **change}, raw, stream.labels, len(stream.class_names), WARMUP)


# The checked engine and llvm, with random parameters

PARAMETERS = st.fixed_dictionaries(
    {
        "window": st.one_of(st.integers(2, 24), st.sampled_from([255, 256, 257])),
        "trees": st.integers(1, 5),
        "depth": st.one_of(st.integers(1, 6), st.sampled_from([10, 11, 30])),
        "step": st.one_of(st.floats(1 / 1024, 64), st.sampled_from([1 / 1024, 64])),
        "loss": st.sampled_from(["mse", "cross_entropy"]),
        "splitter": st.sampled_from(["best", "random"]),
        "max_features": st.integers(0, 2),
        "leaf": st.sampled_from(["proba", "class"]),
        "train_every": st.integers(1, 6),
        "trigger": st.sampled_from(["sample", "error"]),
        "feature_bits": st.sampled_from([8, 16]),
        "seed": st.integers(0, 2**30 - 1),
    }
)


def codes_and_labels(
    seed: int, samples: int, features: int, classes: int
) -> tuple[array[int], bytearray]:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 65536, (samples, features))
    if rng.random() < 0.5:  # ties, and the limits of the range
        codes = rng.choice([0, 255, 256, 4000, 65279, 65280, 65535], codes.shape)
    labels = rng.integers(classes, size=samples)
    if rng.random() < 0.5:  # runs of one label
        labels = np.sort(labels)
    return array("H", codes.ravel().tolist()), bytearray(labels.tolist())


def contents(model: Any) -> dict[str, bytes]:
    return {name: bytes(memoryview(buffer)) for name, _, buffer in model.buffers()}


@settings(deadline=None, max_examples=examples(40))
@given(
    PARAMETERS,
    st.integers(0, 2**32 - 1),
    st.integers(2, 4),
    st.integers(2, 7),
    st.lists(st.integers(1, 60), min_size=1, max_size=3),
)
def test_checked_engine_agrees_with_llvm(
    parameters: dict[str, Any], seed: int, features: int, classes: int, blocks: list[int]
) -> None:
    models = [
        loader.load(engine).ShrubEnsemble(features, classes, **parameters)
        for engine in ("checked", "llvm")
    ]
    for k, size in enumerate(blocks):
        codes, labels = codes_and_labels(seed + k, size, features, classes)
        predictions = [bytearray(size), bytearray(size)]
        for model, predicted in zip(models, predictions, strict=True):
            model.run(codes, labels, predicted)
        assert predictions[0] == predictions[1]
        checked, llvm = map(contents, models)
        assert [name for name in checked if checked[name] != llvm[name]] == []


# A million samples


def check_bounds(model: Any, fresh: Any) -> None:
    """Check that no part of the state has grown with the length of the stream."""
    held = {name: buffer for name, _, buffer in model.buffers()}
    start = {name: buffer for name, _, buffer in fresh.buffers()}
    seen = held["state"][0]
    assert 0 <= seen < model.train_every
    assert held["state"][1:] == start["state"][1:]
    size, head = held["window.shape"][2:4]
    assert size == model.window
    assert 0 <= head < model.window
    for kept in (slice(0, 2), slice(4, None)):
        assert held["window.shape"][kept] == start["window.shape"][kept]
    assert held["shrubs.shape"] == start["shrubs.shape"]
    assert held["members.shape"][1:] == start["members.shape"][1:]
    assert 1 <= model.trees_used <= model.trees
    ranked = list(held["members.rank"])
    assert sorted(ranked) == list(range(model.trees + 1))
    members = [held["members.weight"][slot] for slot in ranked[: model.trees_used]]
    assert min(members) > 0
    assert sum(members) == ONE
    assert sum(held["votes"]) == ALL_VOTES
    assert all(0 < word < 2**30 for word in held["rng"])
    assert max(held["window.labels"]) < model.classes
    for name, typecode, buffer in model.buffers():
        if typecode == "i":
            assert all(-(2**30) <= word < 2**30 for word in buffer), name


@pytest.mark.parametrize(
    "parameters",
    [
        {"window": 7, "trees": 3, "depth": 2, "step": 2.0},
        {
            "window": 9, "trees": 2, "depth": 4, "step": 64, "splitter": "random",
            "loss": "cross_entropy", "trigger": "error", "train_every": 3, "feature_bits": 8,
        },
    ],
    ids=["best", "random"],
)  # fmt: skip
def test_after_a_million_samples(parameters: dict[str, Any]) -> None:
    """All values are within bounds, and the checked engine continues with the same results."""
    llvm, checked = (
        loader.load(engine).ShrubEnsemble(2, 3, **parameters) for engine in ("llvm", "checked")
    )
    fresh = loader.load("llvm").ShrubEnsemble(2, 3, **parameters)
    block = 100_000
    rng = np.random.default_rng(0)
    for _ in range(10):
        codes = rng.integers(0, 65536, 2 * block)
        labels = np.where(
            rng.random(block) < 0.5, codes[::2] // 22000, rng.integers(3, size=block)
        )
        rows = array("H", codes.astype(np.uint16).tobytes())
        llvm.run(rows, bytearray(labels.astype(np.uint8).tobytes()), bytearray(block))
        check_bounds(llvm, fresh)
    checked.load(llvm.save())
    codes_after, labels_after = codes_and_labels(1, 400, 2, 3)
    predictions = [bytearray(400), bytearray(400)]
    for model, predicted in zip((llvm, checked), predictions, strict=True):
        model.run(codes_after, labels_after, predicted)
    assert predictions[0] == predictions[1]
    assert contents(llvm) == contents(checked)

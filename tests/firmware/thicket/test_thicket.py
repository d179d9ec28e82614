"""Thicket: its bytes, its members' shares, and labels that come late or never."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())
PLAIN = loader.load("python")


def rows_of(codes: Any) -> array[int]:
    return array("H", codes.ravel().tolist())


def stream(seed: int, samples: int) -> tuple[Any, Any]:
    """Draw two features that predict the class in four of five cases, in runs of one label."""
    rng = np.random.default_rng(seed)
    labels = (np.arange(samples) // 25) % 2
    codes = rng.normal(30000 + 9000 * labels[:, None], 7000, (samples, 2))
    return np.clip(codes, 0, 65535).astype(int), labels


def accuracy_alone(rows: Any, labels: Any, asked: Any, wanted: Any) -> float:
    """Return the accuracy without labels of a thicket that was taught raw rows."""
    features = rows.shape[1]
    model = LIBRARY.Thicket(features, 4, bytes=16384)
    quantizer = LIBRARY.GrowingQuantizer(features, follow=(model,))
    codes = array("H", bytes(2 * features))
    for row, label in zip(rows, labels, strict=True):
        quantizer.encode(array("i", row.tolist()), codes)
        model.learn(codes, int(label))
    hits = 0
    for row, label in zip(asked, wanted, strict=True):
        quantizer.code(array("i", row.tolist()), codes)
        hits += model.predict(codes) == label
    return hits / len(asked)


@pytest.mark.parametrize("far", [1000, 10_000, 100_000])
def test_one_outlier_costs_little_at_any_time(far: int) -> None:
    """The outlier is in all features at once, with a label, among the first samples or later."""
    rng = np.random.default_rng(far)
    labels = rng.integers(0, 4, 600)
    rows = (rng.normal(0, 120, (600, 5)) + 300 * rng.normal(0, 1, (4, 5))[labels]).astype(int)
    taught, unseen = slice(0, 300), slice(300, None)
    without = accuracy_alone(rows[taught], labels[taught], rows[unseen], labels[unseen])
    assert without > 0.8
    for place in (0, 1, 2, 3, 7, 15, 16, 40):
        spoilt = rows[taught].copy()
        spoilt[place] = rng.choice([-1, 1], 5) * 1000 * far
        accuracy = accuracy_alone(spoilt, labels[taught], rows[unseen], labels[unseen])
        assert accuracy > without - 0.05


@settings(max_examples=examples(40))
@given(st.integers(1, 60), st.integers(2, 12), st.integers(8192, 1 << 20), st.booleans())
def test_the_byte_limit_is_kept_and_used(
    features: int, classes: int, limit: int, half: bool
) -> None:
    limit = limit // 16 if half and features * classes < 60 and limit >= 32768 else limit
    used = PLAIN.Thicket.nbytes(features=features, classes=classes, bytes=limit)
    assert used <= limit
    most = PLAIN.Thicket.plan(features=features, classes=classes, bytes=limit).grove
    assert used > limit * 0.85 or most.trees == 64 or most.window == 8192


def test_more_bytes_never_make_the_grove_smaller() -> None:
    for features, classes in ((3, 2), (14, 2), (24, 10), (42, 6)):
        windows = [
            PLAIN.Thicket.plan(features=features, classes=classes, bytes=1 << k).grove.window
            for k in range(11, 21)
        ]
        assert windows == sorted(windows)


def test_too_few_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^bytes .* 256 features .* 256 classes"):
        PLAIN.Thicket.nbytes(features=256, classes=256, bytes=16384)
    for wrong in (2047, (1 << 20) + 1, "65536", 65536.0, None):
        with pytest.raises(ValueError, match=r"^bytes .* 2048"):
            PLAIN.Thicket(features=2, classes=2, bytes=wrong)


def test_members_share_one_ring() -> None:
    model = LIBRARY.Thicket(2, 2, bytes=8192)
    model.learn(array("H", [4000, 5000]), 1)
    assert model.predict(array("H", [4000, 5000])) == 1
    assert [name for name, _, _ in model.buffers()].count("ring.codes") == 1
    assert model.progress()["share_neighbours"] > 0


def test_shares_follow_accuracy() -> None:
    """Labels come in runs, and the features are uninformative: the last label leads."""
    model = LIBRARY.Thicket(2, 2, bytes=8192)
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 65536, (3000, 2))
    labels = (np.arange(3000) // 100) % 2
    written = bytearray(3000)
    model.run(rows_of(codes), bytearray(labels.tolist()), written)
    figures = model.progress()
    assert figures["share_last"] == max(
        figures[f"share_{m}"] for m in ("last", "grove", "softmax")
    )
    assert figures["accuracy_last"] > 95
    assert np.mean(np.frombuffer(written, dtype=np.uint8)[1000:] == labels[1000:]) > 0.97


# Labels that come late, or not at all


def right_when_late(delay: int, samples: int = 3000) -> tuple[float, Any]:
    """Return the accuracy if each label is learned `delay` samples later, and the model."""
    model = LIBRARY.Thicket(2, 2, bytes=8192)
    codes, labels = stream(1, samples)
    right = 0
    for i in range(samples):
        right += model.predict_next(rows_of(codes[i])) == labels[i]
        if i >= delay:
            model.learn(rows_of(codes[i - delay]), int(labels[i - delay]))
    return right / samples, model


def test_with_late_labels_the_last_one_does_not_dominate() -> None:
    at_once, model = right_when_late(0)
    assert at_once > 0.93
    assert model.progress()["share_last"] > 20
    late, model = right_when_late(50)
    assert late > 0.75
    assert model.progress()["share_last"] == 0


def test_with_few_labels_the_last_one_dominates_only_where_it_is_known() -> None:
    model = LIBRARY.Thicket(2, 2, bytes=8192)
    codes, labels = stream(2, 8000)
    right = 0
    for i in range(8000):
        right += model.predict_next(rows_of(codes[i])) == labels[i]
        if i % 105 < 5:
            model.learn(rows_of(codes[i]), int(labels[i]))
        elif i % 105 > 5:
            assert model.progress()["share_last"] == 0
    assert right / 8000 > 0.7


def test_predicting_twice_changes_nothing() -> None:
    models = [LIBRARY.Thicket(2, 2, bytes=4096) for _ in range(2)]
    codes, labels = stream(4, 300)
    for x, y in zip(codes, labels, strict=True):
        models[0].predict(rows_of(x))
        models[0].predict(rows_of(x))
        for model in models:
            model.learn(rows_of(x), int(y))
    assert models[0].state_crc32() == models[1].state_crc32()


def test_reset_makes_all_members_new() -> None:
    model = LIBRARY.Thicket(2, 2, bytes=8192)
    fresh = model.save()
    codes, labels = stream(5, 400)
    model.run(rows_of(codes), bytearray(labels.tolist()), bytearray(400))
    model.reset()
    assert model.save() == fresh

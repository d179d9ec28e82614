"""Ranges, features and classes that the first rows lack; and the cost of a sample."""

from __future__ import annotations

import math
import random
import sys
from typing import Any

import numpy as np
import pytest
from adapters_support import no_warning, warnings_of
from river import tree

from microshrub_host.api import river_adapter, sklearn_adapter
from microshrub_host.streams.units import RowScale, Scale

FROZEN = ("HoeffdingTreeClassifier", "LogisticRegression", "ShrubClassifier", "GaussianNB")
REGRESSORS = ("LinearRegression", "HoeffdingTreeRegressor", "ShrubRegressor", "ThicketRegressor")


def quiet_first(count: int = 1500) -> tuple[Any, Any]:
    """Return 300 rows at rest, then two gestures, a thousand times as large;
    and a column of noise.
    """
    rng = np.random.default_rng(1)
    gesture = rng.integers(0, 2, count)
    size = np.where(np.arange(count) < 300, 1, 1000)
    moved = size * (1 + gesture + rng.normal(0, 0.1, count))
    rows = np.column_stack([moved, rng.normal(0, 1, count)]).round(2)
    return rows, np.where(size == 1, 0, 1 + gesture)


def by_class(count: int = 600) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    labels = np.sort(rng.integers(0, 3, count))
    return rng.normal(0, 1, (count, 4)) + 1.5 * labels[:, None], labels


def samples(rows: Any) -> list[dict[str, float]]:
    return [dict(zip("abcdefgh", row, strict=False)) for row in rows.tolist()]


@pytest.mark.parametrize("name", FROZEN)
def test_fit_takes_the_ranges_of_all_rows(name: str) -> None:
    rows, labels = quiet_first()
    with no_warning():
        model = getattr(sklearn_adapter, name)().fit(rows[:1000], labels[:1000])
        assert model.score(rows[1000:], labels[1000:]) > 0.95


@pytest.mark.parametrize("name", REGRESSORS)
def test_fit_takes_the_range_of_all_targets(name: str) -> None:
    rows, _ = quiet_first()
    targets = rows[:, 0] * 2
    with no_warning():
        model = getattr(sklearn_adapter, name)().fit(rows[:1000], targets[:1000])
        assert model.score(rows[1000:], targets[1000:]) > 0.95
    low, high = model.online_._target.ends
    assert low < 0 < targets[:1000].max() * 100 <= high


@pytest.mark.parametrize("name", ["HoeffdingTreeClassifier", "SoftmaxRegression"])
def test_values_far_outside_a_frozen_range_cause_one_warning(name: str) -> None:
    rows, labels = quiet_first()
    model = getattr(river_adapter, name)(classes=3)
    with warnings_of() as records:
        for x, y in zip(samples(rows), labels.tolist(), strict=True):
            model.learn_one(x, y)
    assert ["'a'" in str(each.message) and "range" in str(each.message) for each in records] == [
        True
    ]


def test_the_first_part_of_partial_fit_warns_too() -> None:
    rows, labels = quiet_first()
    for parts in (1, 5):
        model = sklearn_adapter.GaussianNB()
        with warnings_of() as records:
            for part in np.array_split(np.arange(len(rows)), parts):
                model.partial_fit(rows[part], labels[part], classes=[0, 1, 2])
        assert ["'x0'" in str(each.message) for each in records] == [True]


def test_a_target_far_outside_causes_a_warning() -> None:
    model = river_adapter.LinearRegression(warmup=20)
    with warnings_of() as records:
        for i in range(60):
            model.learn_one({"a": i % 5}, i % 5 if i < 30 else 900 + i)
    assert ["the target" in str(each.message) for each in records] == [True]


def test_a_few_wrong_values_and_growing_ranges_cause_no_warning() -> None:
    rows, labels = quiet_first()
    with no_warning():
        grown = river_adapter.ThicketClassifier(classes=3)
        for x, y in zip(samples(rows[:600]), labels.tolist(), strict=False):
            grown.learn_one(x, y)
        model = river_adapter.ShrubClassifier(classes=3, engine="python", window=4, trees=1)
        for i, x in enumerate(samples(rows[:300]) * 3):
            model.learn_one(x | {"a": 4000.0} if i % 30 == 0 else x, 0)


@pytest.mark.parametrize("name", ["ThicketClassifier", "LinearRegression"])
def test_a_feature_after_the_warm_up_causes_one_warning(name: str) -> None:
    adapter = getattr(river_adapter, name)
    model, named = adapter(warmup=8), adapter(warmup=8, features=["a"])
    with warnings_of() as records:
        for i in range(30):
            x = {"a": float(i % 2)} | ({"late": 1.0} if i > 9 else {})
            model.learn_one(x, i % 2)
    assert ["'late'" in str(each.message) for each in records] == [True]
    with no_warning():
        for i in range(20):
            named.learn_one({"a": i % 2, "other": i}, i % 2)


@pytest.mark.parametrize("name", ["ThicketClassifier", "HoeffdingTreeClassifier"])
def test_a_first_sample_may_have_no_features(name: str) -> None:
    """River, too, learns the label of such a sample."""
    rivers = tree.HoeffdingTreeClassifier()
    rivers.learn_one({}, "a")
    model = getattr(river_adapter, name)(warmup=5)
    for _ in range(9):
        model.learn_one({}, "a")
    assert model.predict_one({}) == rivers.predict_one({}) == "a"
    for i in range(40):
        model.learn_one({"v": float(i % 2)}, "ab"[i % 2])
    assert [model.predict_one({"v": v}) for v in (0.0, 1.0)] == ["a", "b"]


def test_a_regressor_accepts_samples_without_features() -> None:
    model = river_adapter.LinearRegression(warmup=3)
    for _ in range(5):
        model.learn_one({}, 4.0)
    assert model.predict_one({}) == 4
    model.learn_one({"v": 1.0}, 4.0)
    assert model.predict_one({"v": 1.0}) == 4


def test_a_refused_sample_at_the_end_of_the_warm_up_changes_nothing() -> None:
    """The bytes are too few for the features, whose number only the last sample shows."""
    model = river_adapter.ThicketClassifier(bytes=2048, warmup=2, engine="python")
    model.learn_one({"v": 1.0}, "a")
    for _ in range(2):
        with pytest.raises(ValueError, match="bytes"):
            model.learn_one({f"f{k}": k for k in range(200)}, "b")
    assert model.predict_proba_one({"v": 1.0}) == {"a": 1}
    model.learn_one({"v": 2.0}, "b")
    assert set(model.predict_proba_one({"v": 2.0})) == {"a", "b"}


@pytest.mark.parametrize("name", ["HoeffdingTreeClassifier", "ShrubClassifier"])
def test_fit_warns_of_a_class_that_was_forgotten(name: str) -> None:
    rows, labels = by_class()
    with pytest.warns(UserWarning, match="in blocks of one class, 3 in all, and of the class 0"):
        getattr(sklearn_adapter, name)().fit(rows, labels)
    order = np.random.default_rng(1).permutation(len(labels))
    with no_warning():
        getattr(sklearn_adapter, name)().fit(rows[order], labels[order])
        sklearn_adapter.GaussianNB().fit(rows, labels)  # forgets nothing


def test_rows_have_the_raw_integers_of_arrays() -> None:
    rng = random.Random(3)
    rows = [
        [rng.choice([math.nan, 0.5, -0.0, 1e300, rng.gauss(0, 10**k)]) for k in range(-6, 12, 3)]
        for _ in range(200)
    ]
    digits = np.array([7, 4, 0, 1, -2, -3])
    scale = Scale(np.array([0, 0, 1.0, 0, 1e6, -1e9]), digits)
    assert [RowScale(scale).apply(row) for row in rows] == scale.apply(np.array(rows)).tolist()


def test_learning_row_by_row_equals_learning_at_once() -> None:
    rows, labels = quiet_first(600)
    for name in ("ThicketClassifier", "HoeffdingTreeClassifier"):
        first = getattr(sklearn_adapter, name)().partial_fit(rows[:400], labels[:400])
        second = getattr(sklearn_adapter, name)().partial_fit(rows[:400], labels[:400])
        first.online_.learn(rows[400:], labels[400:].astype(np.uint8))
        for row, label in zip(rows[400:].tolist(), labels[400:].tolist(), strict=True):
            second.online_.learn_row(row, label)
        assert first.online_._states() == second.online_._states()


def calls(model: Any, count: int) -> int:
    """Return the number of function calls that predict and learn this many samples
    of eight features.
    """
    rng = random.Random(1)
    data = [({f"f{j}": rng.gauss(0, 1) for j in range(8)}, k % 3) for k in range(count)]
    called = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        for x, y in data:
            model.predict_one(x)
            model.learn_one(x, y)
    finally:
        sys.setprofile(None)
    return called


def test_a_sample_of_a_long_warm_up_costs_no_more_than_one_of_a_short_warm_up() -> None:
    adapter = river_adapter.HoeffdingTreeClassifier
    calls(adapter(warmup=9), 20)
    assert calls(adapter(warmup=2000), 1024) < 5 * calls(adapter(warmup=2000), 256)


@pytest.mark.parametrize("name", ["HoeffdingTreeClassifier", "ShrubClassifier"])
def test_a_sample_after_the_warm_up_needs_few_calls(name: str) -> None:
    model = getattr(river_adapter, name)(warmup=50)
    calls(model, 100)
    assert calls(model, 100) < 100 * 200

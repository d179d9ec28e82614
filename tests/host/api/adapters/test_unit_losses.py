"""Values that the first rows do not show: rounding and clipping cause a warning."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from adapters_support import no_warning

from microshrub_host.api import river_adapter, sklearn_adapter

CLASSIFIERS = ("ShrubClassifier", "ThicketClassifier", "GaussianNB", "HoeffdingTreeClassifier")
REGRESSORS = ("ShrubRegressor", "ThicketRegressor", "LinearRegression")
ROUNDED = r"the feature '(x0|v)' has values such as 0\.\d+, which are rounded to its unit of 1\. "


def late(count: int = 700) -> tuple[Any, Any]:
    """Return a valve that stays shut for 300 rows, then opens to parts of 1, with its class."""
    opened = np.random.default_rng(14).random(count).round(4)
    opened[:300] = 0
    return opened[:, None], np.where(opened > 0.3, "open", "shut")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_fit_keeps_the_digits_of_all_rows(name: str) -> None:
    rows, labels = late()
    with no_warning():
        model = getattr(sklearn_adapter, name)().fit(rows, labels)
    assert list(model.online_.scale.digits) == [4]
    assert model.predict([[0.05], [0.95]]).tolist() == ["shut", "open"]


@pytest.mark.parametrize("name", REGRESSORS)
def test_fit_keeps_the_digits_of_all_targets(name: str) -> None:
    rows, _ = late()
    with no_warning():
        model = getattr(sklearn_adapter, name)().fit(rows, rows[:, 0] / 100)
    assert list(model.online_.target_scale.digits) == [6]
    assert (model.predict(rows) % 1 > 0).any()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_later_rows_that_are_rounded_cause_one_warning(name: str) -> None:
    rows, labels = late()
    model = getattr(sklearn_adapter, name)()
    model.partial_fit(rows[:300], labels[:300], classes=["open", "shut"])
    with pytest.warns(UserWarning, match=ROUNDED):
        model.partial_fit(rows[300:500], labels[300:500])
    with no_warning():
        pickle.loads(pickle.dumps(model)).partial_fit(rows[500:], labels[500:])


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_river_warns_of_rounding_too(name: str) -> None:
    rows, labels = late()
    model = getattr(river_adapter, name)(classes=2)
    with no_warning():
        for v, y in zip(rows[:300, 0], labels, strict=False):
            model.learn_one({"v": v}, y)
    with pytest.warns(UserWarning, match=ROUNDED + ".*warmup=, or set digits="):
        model.learn_one({"v": 0.37}, "open")


@pytest.mark.parametrize("name", REGRESSORS)
def test_river_warns_of_rounded_targets(name: str) -> None:
    model = getattr(river_adapter, name)(warmup=20)
    with no_warning():
        for i in range(30):
            model.learn_one({"v": i}, 3)
    with pytest.warns(
        UserWarning, match=r"the target has values such as 3\.25, which are rounded"
    ):
        model.learn_one({"v": 5}, 3.25)


@pytest.mark.parametrize("seed", range(3))
def test_there_is_no_warning_where_nothing_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    long, whole, far = rng.random(400), rng.integers(0, 9000, 400), 1e9 + rng.random(400)
    rows = np.column_stack([long, whole, far, np.where(long < 0.2, math.nan, long * 1e-7)])
    labels = long > 0.5
    digits = sklearn_adapter.ShrubClassifier(digits=0, warmup=9)
    with no_warning():
        for first in (1, 60):
            near = rows[:, [0, 1, 3]] if first == 1 else rows
            model = sklearn_adapter.ThicketClassifier()
            model.partial_fit(near[:first], labels[:first], [False, True])
            model.partial_fit(near[first:], labels[first:])
        digits.fit(rows[:, :2], labels)  # whole numbers on request
        river = river_adapter.ShrubClassifier(warmup=50, classes=2)
        for row, y in zip(rows, labels, strict=True):
            river.learn_one(dict(enumerate(row)), bool(y))
        river.learn_one({1: 512.5}, True)  # after 400 whole numbers below 9000


def test_a_value_that_is_too_large_causes_a_warning() -> None:
    model = river_adapter.ShrubClassifier(warmup=20, classes=2)
    for i in range(30):
        model.learn_one({"v": i / 1e6}, i % 2)
    with pytest.warns(
        UserWarning, match=r"such as 1e\+07, which are too large for its unit of 1e-06"
    ):
        model.learn_one({"v": 1e7}, 1)


@pytest.mark.parametrize("name", [*CLASSIFIERS, *REGRESSORS])
def test_a_first_call_with_few_rows_causes_a_warning_where_ranges_stay(name: str) -> None:
    rows, labels = late()
    y = rows[:, 0] if name in REGRESSORS else labels == "open"
    classes = [] if name in REGRESSORS else [[False, True]]
    adapter = getattr(sklearn_adapter, name)
    with no_warning():
        adapter(warmup=10).partial_fit(rows[:10], y[:10], *classes)
        adapter().partial_fit(rows[:256], y[:256], *classes)
        adapter().fit(rows[:10], np.arange(10) % 2)
    if name == "ThicketClassifier":  # its ranges grow
        with no_warning():
            adapter().partial_fit(rows[:10], y[:10], *classes)
        adapter = lambda: sklearn_adapter.ThicketClassifier(spare_classes=1)  # noqa: E731
    with pytest.warns(UserWarning, match="only 10 rows of 256. Start with more rows, or"):
        adapter().partial_fit(rows[:10], y[:10], *classes)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("21.5", r"Turn the text into one: .* converters={'a': float}"),
        ("warm", "Encode it first, as with River's preprocessing.OneHotEncoder"),
        (np.datetime64("2024-01-01"), "Turn it into a number first"),
        (10**400, "the feature 'a' is infinite"),
    ],
)
def test_river_suggests_what_to_do_about_a_feature(value: Any, message: str) -> None:
    model = river_adapter.ShrubClassifier(warmup=2)
    with pytest.raises(river_adapter.AdapterError, match=message):
        model.learn_one({"a": value}, 1)
    with pytest.raises(river_adapter.AdapterError, match="target has to be"):
        river_adapter.ShrubRegressor().learn_one({"a": 1}, 10**400)

"""predict_set of the adapters: coverage, files, boards, and the state that must not change."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from microshrub_host import load_model, open_stream
from microshrub_host.api import river_adapter, sklearn_adapter
from microshrub_host.base.errors import AdapterError

SAMPLES = 1500


def data(name: str) -> tuple[Any, Any]:
    stream = open_stream(name, limit=SAMPLES)
    names = np.array(stream.class_names)
    return stream.values, names[stream.labels]


def in_blocks(rows: Any, labels: Any) -> tuple[Any, Any]:
    """Return the rows as a user trains: in runs of 40 of a class, so the last label is a hint."""
    left = {y: np.flatnonzero(labels == y).tolist() for y in np.unique(labels)}
    order: list[int] = []
    while any(left.values()):
        for places in left.values():
            order += places[:40]
            del places[:40]
    return rows[order], labels[order]


def any_500(held: list[bool]) -> tuple[float, float]:
    sums = np.convolve(held, np.ones(500), "valid") / 5
    return float(sums.min()), float(sums.max())


@pytest.mark.parametrize(
    ("name", "percent", "order"), [("synth:led_a", 90, "blocks"), ("synth:sea_a", 80, "mixed")]
)
def test_rivers_sets_have_the_given_coverage(name: str, percent: int, order: str) -> None:
    rows, labels = data(name)
    if order == "blocks":
        rows, labels = in_blocks(rows, labels)
    known = sorted(set(labels.tolist()))
    model = river_adapter.ThicketClassifier(guarantee=percent, classes=known, bytes=8192)
    twin = river_adapter.ThicketClassifier(classes=known, bytes=8192)
    held, sizes = [], []
    for values, label in zip(rows.tolist(), labels.tolist(), strict=True):
        x = dict(enumerate(values))
        left = model.predict_set_one(x)
        assert model.predict_one(x) == twin.predict_one(x)
        assert model.predict_set_one(x) == left
        held.append(label in left)
        sizes.append(len(left))
        for each in (model, twin):
            each.learn_one(x, label)
    low, high = any_500(held)
    assert percent - 2 <= low <= high <= percent + 2
    assert 0.5 < np.mean(sizes[256:]) < len(known) / 2 + 0.5


@pytest.mark.parametrize("percent", [50, 75, 90])
@pytest.mark.parametrize("more", [{}, {"spare_classes": 2}])
def test_rivers_sets_have_the_given_coverage_from_the_first_sample_on(
    percent: int, more: dict[str, int]
) -> None:
    """The coverage also holds while the warm-up restarts for new labels and features."""
    rng = np.random.default_rng(31)
    model = river_adapter.ThicketClassifier(guarantee=percent, bytes=8192, **more)
    held = []
    for i in range(700):
        label = int(rng.integers(2 + (i > 20) + (i > 90)))
        x = dict(enumerate(rng.normal(label, 100, 2 + (i > 70)).tolist()))
        held.append(label in model.predict_set_one(x))
        model.learn_one(x, label)
    low, high = any_500(held)
    assert percent - 2 <= low <= high <= percent + 2


@pytest.mark.parametrize("name", ["synth:led_a", "synth:sea_a"])
def test_scikit_learns_sets_have_the_given_coverage(name: str, tmp_path: Path) -> None:
    rows, labels = data(name)
    model = sklearn_adapter.ThicketClassifier(guarantee=90, bytes=8192, warmup=100)
    twin = clone(model).set_params(guarantee=None)
    for each in (model, twin):
        each.partial_fit(rows[:100], labels[:100], classes=np.unique(labels))
    held: list[bool] = []
    for at in range(100, 1000, 10):  # predicted before they are learned, ten at a time
        asked = slice(at, at + 10)
        sets = model.predict_set(rows[asked])
        assert sets.dtype == np.bool_
        places = np.searchsorted(model.classes_, labels[asked])
        held += sets[np.arange(10), places].tolist()
        for each in (model, twin):
            each.partial_fit(rows[asked], labels[asked])
    assert 88 <= 100 * np.mean(held) <= 92
    assert np.array_equal(model.predict(rows), twin.predict(rows))
    later = model.predict_set(rows[1000:])  # predicting changes nothing, in any order
    assert np.array_equal(model.predict_set(rows[:999:-1])[::-1], later)
    held = later[np.arange(500), np.searchsorted(model.classes_, labels[1000:])]
    assert 85 < 100 * np.mean(held) < 95
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_set(rows[1000:]), later)
    model.save(tmp_path / "m.mshrub")
    part = load_model(tmp_path / "m.mshrub").companions["guarantee"]
    assert (part.percent, part.classes) == (90, len(model.classes_))
    assert part.save() == again.online_._states().more["guarantee"]


def test_sets_may_hold_classes_that_come_later() -> None:
    rows, labels = data("synth:led_a")
    early = labels < "5"
    model = sklearn_adapter.KNeighborsClassifier(
        guarantee=80, spare_classes=5, window=64, warmup=50
    )
    model.partial_fit(rows[early][:200], labels[early][:200])
    assert model.predict_set(rows[:20]).shape == (20, 5)
    model.partial_fit(rows[:600], labels[:600])
    sets = model.predict_set(rows[600:])
    assert sets.shape == (900, 10)
    places = [model.classes_.tolist().index(y) for y in labels[600:]]
    assert 70 < 100 * np.mean(sets[np.arange(900), places]) < 90
    other = river_adapter.ThicketClassifier(guarantee=80, bytes=4096)
    assert other.predict_set_one({"a": 1}) == set()


@pytest.mark.parametrize("percent", [49, 100, 0.9, "90%", True])
def test_an_impossible_guarantee_is_refused(percent: Any) -> None:
    with pytest.raises(AdapterError, match=r"^guarantee .* 50\.\.99"):
        river_adapter.ThicketClassifier(guarantee=percent)
    rows, labels = data("synth:sea_a")
    with pytest.raises(AdapterError, match=r"^guarantee .* 50\.\.99"):
        sklearn_adapter.ThicketClassifier(guarantee=percent).fit(rows[:20], labels[:20])


def test_without_a_guarantee_there_are_no_sets() -> None:
    rows, labels = data("synth:sea_a")
    model = sklearn_adapter.ThicketClassifier(bytes=4096).fit(rows[:50], labels[:50])
    with pytest.raises(AdapterError, match="only with guarantee="):
        model.predict_set(rows)
    with pytest.raises(AdapterError, match="only with guarantee="):
        river_adapter.ThicketClassifier().predict_set_one({"a": 1})

"""A fitted model is a function of the row: alone, twice, in a batch, wherever it is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import datasets

from microshrub_host.adapters import river_adapter, sklearn_adapter
from microshrub_host.cli.show import row_codes
from microshrub_host.models import model_files

SETS = ("iris", "wine", "breast_cancer", "digits", "blobs")


def set_of(name: str) -> tuple[Any, Any]:
    """Rows class after class, as a person teaches, and their labels."""
    if name == "blobs":
        rows, labels = datasets.make_blobs(600, 6, centers=5, cluster_std=4, random_state=3)
    else:
        rows, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    order = np.argsort(labels, kind="stable")
    return rows[order].round(3), labels[order]


@pytest.fixture(scope="module", params=SETS)
def fitted(request: pytest.FixtureRequest) -> tuple[Any, Any, Any]:
    rows, labels = set_of(request.param)
    aside = np.arange(len(rows)) % 3 == 2
    model = sklearn_adapter.ThicketClassifier(bytes=16384).fit(rows[~aside], labels[~aside])
    return model, rows[aside], labels[aside]


def test_alone_twice_and_among_others(fitted: tuple[Any, Any, Any]) -> None:
    model, rows, labels = fitted
    first = model.predict(rows[-1:])  # right after fit
    said = model.predict(rows)
    assert first[0] == said[-1]
    assert np.array_equal(said, [model.predict(rows[[i]])[0] for i in range(len(rows))])
    order = np.random.default_rng(0).permutation(len(rows))
    assert np.array_equal(model.predict(rows[order]), said[order])
    assert np.mean(said == labels) > 0.8


def test_a_saved_model_says_the_same(fitted: tuple[Any, Any, Any], tmp_path: Path) -> None:
    model, rows, _ = fitted
    model.save(tmp_path / "a.mshrub")
    opened = model_files.open_model(tmp_path / "a.mshrub")
    names = list(opened.file.class_names)
    said = [names[opened.learner.predict(row_codes(opened, ",".join(map(str, row))))]
            for row in rows.tolist()]  # fmt: skip
    assert said == [str(y) for y in model.predict(rows)]


def test_rivers_after_learning_alone(fitted: tuple[Any, Any, Any]) -> None:
    _, rows, labels = fitted
    model = river_adapter.ThicketClassifier(bytes=16384, classes=sorted(set(labels.tolist())))
    for row, label in zip(rows, labels, strict=True):
        model.learn_one(dict(enumerate(row)), label)
    order = np.random.default_rng(0).permutation(len(rows))
    said = [model.predict_one(dict(enumerate(row))) for row in rows]
    again = [model.predict_one(dict(enumerate(rows[i]))) for i in order]
    assert again == [said[i] for i in order]


def test_river_answers_from_the_first_sample_on() -> None:
    rows, labels = set_of("blobs")
    order = np.random.default_rng(1).permutation(len(rows))
    model = river_adapter.ThicketClassifier(bytes=16384)
    right = 0
    for i in order[:200]:
        row = dict(enumerate(rows[i]))
        right += model.predict_one(row) == labels[i]
        model.learn_one(row, labels[i])
    assert right > 150

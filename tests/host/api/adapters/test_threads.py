"""One fitted model in several threads at once, as in a server:
each row gets its own prediction.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from microshrub_host.api import river_adapter, sklearn_adapter

THREADS = 6


def blobs(rows: int = 400) -> tuple[Any, Any]:
    rng = np.random.default_rng(8)
    labels = np.repeat(np.arange(4), rows // 4)
    return rng.normal(size=(rows, 9)) + labels[:, None], labels


def pickled(model: Any) -> Any:
    return pickle.loads(pickle.dumps(model))


def by_many(ask: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(THREADS) as pool:
        return [each.result() for each in [pool.submit(ask) for _ in range(4 * THREADS)]]


@pytest.mark.parametrize("more", [{}, {"guarantee": 90}, {"spare_classes": 2}])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_probabilities_are_the_same_in_threads(
    more: dict[str, Any], copied: Callable[[Any], Any]
) -> None:
    rows, labels = blobs()
    model = copied(sklearn_adapter.ThicketClassifier(bytes=16384, **more).fit(rows, labels))
    wanted = model.predict_proba(rows)
    for result in by_many(lambda: model.predict_proba(rows)):
        assert np.array_equal(result, wanted)


def test_sets_and_predictions_are_the_same_in_threads() -> None:
    rows, labels = blobs()
    model = sklearn_adapter.ThicketClassifier(bytes=16384, guarantee=90).fit(rows, labels)
    wanted = model.predict_set(rows), model.predict(rows)
    for result in by_many(lambda: (model.predict_set(rows), model.predict(rows))):
        assert all(map(np.array_equal, result, wanted))


def test_regression_is_the_same_in_threads() -> None:
    rows, labels = blobs()
    model = sklearn_adapter.ThicketRegressor().fit(rows, rows[:, 0] * labels)
    wanted = model.predict(rows)
    for result in by_many(lambda: model.predict(rows)):
        assert np.array_equal(result, wanted)


def test_rivers_predictions_are_the_same_in_threads() -> None:
    rows, labels = blobs()
    samples = [dict(enumerate(row)) for row in rows.tolist()]
    model = river_adapter.ThicketClassifier(bytes=16384, classes=4)
    for sample, label in zip(samples, labels.tolist(), strict=True):
        model.learn_one(sample, label)
    wanted = [model.predict_proba_one(sample) for sample in samples]
    for result in by_many(lambda: [model.predict_proba_one(sample) for sample in samples]):
        assert result == wanted

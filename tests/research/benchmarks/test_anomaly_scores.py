"""The comparison of anomaly scores: its measure, its anomalies, its page."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microshrub_research.benchmarks import anomaly_scores
from microshrub_research.benchmarks.anomaly_scores import (
    OURS,
    Task,
    auc,
    device_scores,
    markdown,
    measure,
    neighbour_scores,
    peer_scores,
)
from microshrub_research.benchmarks.injected_anomalies import INJECTIONS, STUCK, injected


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=40))
def test_the_area_is_the_share_of_pairs_in_order(some: list[tuple[bool, int]]) -> None:
    if len({mark for mark, _ in some}) < 2:
        return
    high = [score for mark, score in some if mark]
    low = [score for mark, score in some if not mark]
    pairs = [(a > b) + (a == b) / 2 for a, b in itertools.product(high, low)]
    marks, scores = (np.array(column) for column in zip(*some, strict=True))
    assert auc(marks, scores.astype(float)) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("name", INJECTIONS)
def test_one_sample_in_a_hundred_is_altered(name: str) -> None:
    values = np.random.default_rng(1).normal(size=(4000, 3))
    values = np.column_stack([values, np.arange(4000) % 2])
    altered, marks = injected(values, name)
    assert marks.sum() == 40
    rows = np.any(altered != values, axis=1)
    assert not np.any(rows & ~marks)
    assert rows.sum() >= 38
    assert np.array_equal(altered[:, 3], values[:, 3])
    assert np.array_equal(altered, injected(values, name)[0])
    assert not np.array_equal(marks, injected(values, name, seed=8)[1])
    changed = (altered != values).sum(axis=1)[rows]
    assert set(changed) == {2 if name == "swapped columns" else 1}
    if name == "a stuck sensor":
        at = np.flatnonzero(marks).reshape(-1, STUCK)
        assert np.all(np.diff(at) == 1)


def test_both_detect_extreme_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anomaly_scores, "PEER_SEEDS", (1,))
    rng = np.random.default_rng(4)
    values = rng.normal(size=(1500, 2))
    marks = np.zeros(1500, dtype=np.bool_)
    marks[rng.choice(np.arange(600, 1500), 15, replace=False)] = True
    values[marks] += rng.choice([-1, 1], (15, 2)) * rng.uniform(5, 9, (15, 2))
    measured = measure(Task("far", values, marks), lambda done, total: None)
    assert measured["River"][0] > 0.6
    assert measured["ours"][0] > 0.95
    page = markdown({"far": [measured]}, "microshrub benchmark anomaly")
    assert "| far |" in page
    areas, alarms = (row.split("|") for row in page.splitlines() if row.startswith("| far |"))
    assert len(areas) == 7 + len(OURS) + 1
    assert len(alarms) == 2 + len(OURS) + 1
    assert all(0 <= float(cell) < 6 for cell in alarms[2:-1])
    assert peer_scores(values, 1).shape == device_scores(values, OURS["ours"])[0].shape


def test_the_neighbour_is_the_nearest_of_the_first_samples() -> None:
    values = np.random.default_rng(4).normal(size=(500, 2)) * [1, 1000]
    values[450] = values[7]
    values[460] = [0, 9000]
    scores = neighbour_scores(values)
    assert scores[450] == 0
    assert scores.argmax() == 460

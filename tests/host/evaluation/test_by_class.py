"""Recall by class, balanced accuracy and G-mean, compared with scikit-learn and by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, recall_score

from microshrub_host.evaluation.by_class import ByClass
from microshrub_tools.cli.main import main

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60)


@pytest.mark.filterwarnings("ignore:A single label")
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@given(PAIRS, st.integers(1, 60))
def test_the_scores_equal_scikit_learns(pairs: list[tuple[int, int]], cut: int) -> None:
    labels, predicted = np.array(pairs, dtype=np.uint8).T
    scores = ByClass.none_yet(("a", "b", "c", "d"))
    for part in (slice(None, cut), slice(cut, None)):
        scores.add(labels[part], predicted[part])
    assert np.array_equal(scores.counts, confusion_matrix(labels, predicted, labels=range(4)))
    recalls = recall_score(labels, predicted, labels=range(4), average=None, zero_division=np.nan)
    for recall, expected in zip(scores.recalls, recalls, strict=True):
        assert (recall is None) == bool(np.isnan(expected))
        assert recall is None or recall == pytest.approx(100 * expected)
    assert scores.balanced_accuracy == pytest.approx(
        100 * balanced_accuracy_score(labels, predicted)
    )
    known = [recall for recall in scores.recalls if recall is not None]
    product = math.prod(known) ** (1 / len(known))
    assert scores.g_mean == pytest.approx(product)


def test_before_the_first_sample_both_means_are_0_and_no_class_has_a_recall() -> None:
    scores = ByClass.none_yet(("a", "b"))
    assert (scores.balanced_accuracy, scores.g_mean) == (0, 0)
    assert scores.recalls == [None, None]
    assert dict(scores.rows())["  recall of a"] == "no samples"


def test_a_class_that_is_never_predicted_makes_the_g_mean_0() -> None:
    scores = ByClass(("common", "rare"), np.array([[99, 0], [1, 0]]))
    assert scores.balanced_accuracy == 50
    assert scores.g_mean == 0
    assert dict(scores.rows())["  recall of rare"] == "0.00 % of 1"


def test_the_two_classes_confused_most_often_are_named() -> None:
    counts = np.array([[90, 3, 7], [0, 50, 0], [4, 0, 20]])
    assert ByClass(("a", "b", "c"), counts).confused() == ("a", "c", 11, 124)
    assert ByClass(("a", "b"), np.diag([5, 6])).confused() is None


def test_many_classes_have_no_rows_of_their_own() -> None:
    names = tuple(map(str, range(13)))
    assert len(ByClass.none_yet(names).rows()) == 2
    assert ByClass.none_yet(names).matrix() == []


def test_a_simulation_prints_the_scores_by_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(2)
    labels = (rng.random(800) < 0.05).astype(int)
    values = rng.normal(labels * 2)
    path = tmp_path / "rare.csv"
    lines = [f"{value},{'ny'[label]}" for value, label in zip(values, labels, strict=True)]
    path.write_text("\n".join(["x,class", *lines]) + "\n", encoding="utf-8")
    model = ("--model", "nearest", "--window", "100")
    assert main(["simulate", str(path), *model, "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    counts = np.array(result["confusion"])
    assert counts.sum() == 800
    assert np.trace(counts) / 8 == pytest.approx(result["accuracy"])
    assert result["recall"]["y"] == pytest.approx(100 * counts[1, 1] / counts[1].sum())
    assert result["balanced_accuracy"] < result["accuracy"]
    assert main(["simulate", str(path), *model, "--details"]) == 0
    output = capsys.readouterr().out
    assert "recall of y" in output
    assert "G-mean" in output
    head = result["unseen_data"][result["unseen_data"]["headline"]]
    lines = [line.replace("│", " ").split() for line in output.splitlines()]
    for name, counts in zip("ny", head["confusion"], strict=True):
        assert [name, *(f"{n:,}" for n in counts)] in [line[:3] for line in lines]
    wrong = head["confusion"][0][1] + head["confusion"][1][0]
    assert f"Most confused: n and y ({wrong} of {head['samples']:,})." in output

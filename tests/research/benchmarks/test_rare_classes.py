"""`benchmark rare`: thinned streams, recall at equal false alarms, and a small real run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microshrub_host.streams.open_stream import open_stream
from microshrub_research.benchmarks.rare_classes import OperatingPoint, recall_at, thinned
from microshrub_tools.cli.main import main


def test_one_sample_in_a_hundred_is_rare_and_all_usual_ones_stay() -> None:
    stream = open_stream("synth:led_a", limit=8000)
    rare = thinned(stream)
    share = np.bincount(rare.labels) / len(rare.labels)
    assert share[1] == pytest.approx(0.01, abs=0.003)
    fewest = np.bincount(stream.labels).min()
    assert np.count_nonzero(rare.labels == 0) == len(stream.labels) - fewest
    assert list(rare.class_names) == ["usual", "rare"]


def test_points_are_recall_and_false_alarms() -> None:
    labels, predicted = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 1, 0, 0, 1, 0])
    assert OperatingPoint.of(labels, predicted) == OperatingPoint(recall=50, alarms=25)


@pytest.mark.parametrize(
    ("alarms", "recall"), [(0, 0), (5, 25), (10, 50), (15, 60), (20, 70), (30, 70), (100, 100)]
)
def test_recall_is_interpolated_between_the_points_of_a_learner(
    alarms: float, recall: float
) -> None:
    """The third point is worse than the second, which can be used instead."""
    points = [OperatingPoint(50, 10), OperatingPoint(70, 20), OperatingPoint(60, 30)]
    assert recall_at(alarms, points) == pytest.approx(recall)


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    page = tmp_path / "rare.md"
    words = ["--streams", "sea_a", "--limit", "1500", "--output", str(page)]
    assert main(["benchmark", "rare", *words]) == 0
    text = page.read_text(encoding="utf-8")
    assert "`microshrub benchmark rare --streams sea_a --limit 1500 --output" in text
    assert text.count("| sea_a |") == 2
    assert "of 4\ncells" in text

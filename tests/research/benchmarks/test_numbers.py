"""The table of our regressors compared with River's."""

from __future__ import annotations

import numpy as np
import pytest

from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_research.benchmarks import regression_benchmark
from microshrub_research.benchmarks.regression_benchmark import NumberSource, measure
from microshrub_tools.cli.main import main


def test_all_learners_and_baselines_are_measured() -> None:
    stream = open_numbers("synth:planes2d", limit=300)
    scores = dict(measure("planes2d", stream))
    assert list(scores) == [
        *regression_benchmark.BASELINES,
        *regression_benchmark.OURS,
        *regression_benchmark.PEERS,
    ]
    away = np.abs(np.diff(stream.targets))
    assert scores["NoChange"] == pytest.approx(away.mean())
    assert all(0 < error < 10 for error in scores.values())


def test_the_page_has_all_streams_that_are_available(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    some = {"planes2d": NumberSource("synth:planes2d"), "gone": NumberSource("gone.csv", "y")}
    monkeypatch.setattr("microshrub_research.benchmarks.regression_benchmark.SOURCES", some)
    assert main(["benchmark", "numbers", "--limit", "200"]) == 0
    captured = capsys.readouterr()
    assert "Made by `microshrub benchmark numbers --limit 200`" in captured.out
    assert "| planes2d | 200 |" in captured.out
    assert "| gone" not in captured.out
    assert "gone" in captured.err

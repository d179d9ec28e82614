"""The table of our learners of numbers beside River's."""

from __future__ import annotations

import numpy as np
import pytest

from microshrub_host.benchmarks import numbers
from microshrub_host.benchmarks.numbers import NumberSource, measure, river_predictions
from microshrub_host.streams.number_streams import open_numbers
from microshrub_tools.cli.main import main


class Remembers:
    """A learner of River's form that predicts the sum of the targets it was shown."""

    def __init__(self) -> None:
        self.sum = 0.0

    def predict_one(self, x: dict[int, float]) -> float:
        assert not any(np.isnan(list(x.values())))
        return self.sum

    def learn_one(self, x: dict[int, float], y: float) -> None:
        self.sum += y


@pytest.mark.parametrize("horizon", [0, 1, 4])
def test_a_peer_learns_a_row_when_its_target_is_known(horizon: int) -> None:
    stream = open_numbers("river:AirlinePassengers", horizon=horizon, lags=3)
    said = river_predictions(Remembers(), stream)
    sums = np.concatenate([[0], np.cumsum(stream.targets)])
    for i in range(len(said)):
        assert said[i] == pytest.approx(sums[max(i - stream.late, 0)])


def test_all_learners_and_guesses_are_measured() -> None:
    stream = open_numbers("synth:planes2d", limit=300)
    found = dict(measure("planes2d", stream))
    assert list(found) == [*numbers.GUESSES, *numbers.OURS, *numbers.PEERS]
    away = np.abs(np.diff(stream.targets))
    assert found["NoChange"] == pytest.approx(away.mean())
    assert all(0 < error < 10 for error in found.values())


def test_the_page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    some = {"planes2d": NumberSource("synth:planes2d"), "gone": NumberSource("gone.csv", "y")}
    monkeypatch.setattr("microshrub_host.cli.benchmark_numbers.SOURCES", some)
    assert main(["benchmark", "numbers", "--limit", "200"]) == 0
    said = capsys.readouterr()
    assert "Made by `microshrub benchmark numbers --limit 200`" in said.out
    assert "| planes2d | 200 |" in said.out
    assert "| gone" not in said.out
    assert "gone" in said.err

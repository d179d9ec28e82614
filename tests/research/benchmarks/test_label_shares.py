"""`benchmark labels`: there are as many random labels as queries; and a small real run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.evaluation.prequential import evaluate
from microshrub_host.streams.open_stream import open_stream
from microshrub_research.benchmarks.label_shares import at_random, options_of
from microshrub_research.benchmarks.variable_uncertainty import VariableUncertainty
from microshrub_tools.cli.main import main

SHRUB = {"features": 3, "classes": 2, "window": 8, "trees": 2, "depth": 2}


def test_there_are_as_many_random_labels_as_queries() -> None:
    stream = open_stream("synth:sea_a", limit=4000)
    queried = evaluate(stream, "shrub", SHRUB, companions=[options_of(10)]).label_budget
    drawn = evaluate(stream, "shrub", SHRUB, companions=[at_random(10)]).label_budget
    assert queried
    assert drawn
    assert 380 <= queried.answered.sum() <= 400 + 100  # some in advance, because of noise
    assert drawn.answered.sum() == pytest.approx(400, abs=60)


def test_variable_uncertainty_keeps_its_budget_and_queries_uncertain_samples() -> None:
    strategy = VariableUncertainty(0.1, seed=1)
    sure = np.random.default_rng(2).uniform(0.5, 1, 10000)
    values = np.array([strategy.ask(confidence) for confidence in sure])
    assert 0.08 <= values.mean() <= 0.115
    assert values[sure < 0.6].mean() > values[sure > 0.9].mean()


def test_the_command_writes_the_page_and_the_picture(tmp_path: Path) -> None:
    page, picture = tmp_path / "labels.md", tmp_path / "labels.svg"
    words = ["--streams", "sea_a,led_a", "--limit", "600"]
    words += ["--output", str(page), "--plot", str(picture)]
    assert main(["benchmark", "labels", *words]) == 0
    text = page.read_text(encoding="utf-8")
    assert "`microshrub benchmark labels --streams sea_a,led_a --limit 600 --output" in text
    assert text.count("| sea_a |") == 3
    assert re.search("all labels on [012] of 2 streams", text)
    assert "(labels.svg)" in text
    assert picture.stat().st_size > 10000

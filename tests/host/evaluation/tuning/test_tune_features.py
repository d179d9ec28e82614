"""The search compares sets of features like models, and prints commands with the best set."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.evaluation.search_space import weighed
from microshrub_host.simulation.feature_choice import Place
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_tools.cli.main import main

optuna = pytest.importorskip("optuna", reason="needs the extra tune")


def sets(words: str) -> list[str]:
    return weighed(words.split(), FeatureOptions.of(words.split(), Place(channels=("a", "b"))))


def test_sets_vary_only_the_options_that_are_not_given() -> None:
    choices = sets("rate=50")
    assert len(choices) == len(set(choices)) == 9
    assert choices[0] == "window=64 hop=16 statistics=auto bands=auto rate=50"
    assert {word.split()[0] for word in choices} == {"window=32", "window=64", "window=128"}
    assert {word.split()[1] for word in choices} == {"hop=16"}
    for words in choices:
        assert FeatureOptions.of(words.split()).names(["x"])
    assert len(sets("rate=50 window=64")) == 3
    assert sets("rate=50 window=64")[0].startswith("window=64 hop=32 statistics=auto bands=none")
    assert len(sets("window=50 hop=10")) == 1
    assert len(sets("rate=50 window=64 hop=9 statistics=mean bands=1-5 zero=3")) == 1
    assert len(sets("rate=8000")) == 6  # no window has more than 512 readings


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A recording of two equally loud hums: only bands separate the classes."""
    monkeypatch.chdir(tmp_path)
    n = np.arange(3000)
    label = n // 300 % 2
    x = 3000 * np.sin(2 * np.pi * np.cumsum(np.where(label, 10.5, 11.8)) / 50)
    x += np.random.default_rng(1).normal(0, 900, len(n))
    rows = [f"{int(v)},{k},{('slow', 'fast')[k]}" for v, k in zip(x, label, strict=True)]
    Path("hum.csv").write_text("\n".join(["x,warm,what", *rows]) + "\n")
    return "hum.csv"


def test_the_best_set_is_chosen_and_its_commands_work(recording: str, scheduler: str) -> None:
    words = ["--drop", "warm", "--features", "rate=50", "--board", "rpi_pico"]
    more = ["--trials", "9", "--json", "found.json", "--scheduler", scheduler]
    assert main(["tune", recording, *words, *more]) == 0
    result = json.loads(Path("found.json").read_text())
    tried = [shlex.split(trial["options"]) for trial in result["trials"]]
    assert len({" ".join(words[words.index("--features") :]) for words in tried}) == 9
    taken = result["taken"]["options"]
    assert "bands=auto" in taken
    program, *arguments = shlex.split(result["simulate"])
    assert program == "microshrub"
    assert arguments.count("--features") == 1
    assert main([*arguments, "--json", "run.json"]) == 0
    run = json.loads(Path("run.json").read_text())
    whole = result["taken"]["accuracy"]["whole"]
    assert run["accuracy_on_unseen_data"] == pytest.approx(whole, abs=1e-4)
    assert main([*shlex.split(result["build"])[1:], "--sensor", "adc", "pins=26", "rate=50"]) == 0
    by_set = {words[-3]: trial for words, trial in zip(tried, result["trials"], strict=True)}
    assert by_set["statistics=none"]["ram_bytes"] > 0


def test_a_target_that_few_sets_have_limits_the_sets(recording: str, scheduler: str) -> None:
    words = ["--columns", "x", "warm", "--features", "rate=50", "--target", "x_mean"]
    more = ["--board", "rpi_pico", "--trials", "3", "--json", "found.json"]
    assert main(["tune", recording, *words, *more, "--scheduler", scheduler]) == 0
    result = json.loads(Path("found.json").read_text())
    assert all("statistics=auto" in trial["options"] for trial in result["trials"])

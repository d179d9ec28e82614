"""The search for a regression model: the measure is the mean absolute error."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.api.planning import tune
from microshrub_host.base.errors import UserError
from microshrub_host.evaluation.search_space import first, sample
from microshrub_host.evaluation.splits import NumberSplit
from microshrub_host.library.learners import check_parameters
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_host.streams.regression_streams import NumberStream
from microshrub_tools.cli.main import main

optuna = pytest.importorskip("optuna", reason="needs the extra tune")
DATA = ["synth:friedman", "--target", "target", "--limit", "500"]


def test_the_printed_commands_work(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scheduler: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--board", "rpi_pico", "--bytes", "3000", "--trials", "6"]
    words += ["--scheduler", scheduler]
    files = ["--json", "found.json", "--plot", "front.svg", "--html", "front.html"]
    assert main(["tune", *DATA, "--horizon", "2", "--lags", "3", *words, *files]) == 0
    output = capsys.readouterr().out
    result = json.loads((tmp_path / "found.json").read_text())
    errors = {trial["options"]: trial["mean_absolute_error"] for trial in result["trials"]}
    assert len(errors) == 6
    assert f"Chosen on the first {result['samples_that_choose']} samples" in output
    first_parts = [each["mean_absolute_error"]["first"] for each in result["front"]]
    assert first_parts == sorted(first_parts, reverse=True)
    assert min(each["first"] for each in errors.values()) == first_parts[-1]
    for command in (result["simulate"], result["build"]):
        assert f"  {command}" in output.splitlines()
        program, *arguments = shlex.split(command)
        assert (program, main(arguments)) == ("microshrub", 0)
        printed = capsys.readouterr().out
        if command == result["simulate"]:
            whole = result["taken"]["mean_absolute_error"]["whole"]
            assert re.search(rf"│ {result['taken']['model']} +│ {whole:.5g} ", printed)
    assert "<svg" in (tmp_path / "front.svg").read_text()
    assert "<svg" in (tmp_path / "front.html").read_text()


def test_errors_count_only_scored_samples() -> None:
    columns = np.random.default_rng(0).normal(size=(400, 2))
    columns[::7, 1] = np.nan
    stream = NumberStream("made", columns, ("x", "y"), place=1, horizon=3, lags=2)
    split = NumberSplit(stream, 100, 150)
    baseline = split.baselines()["NoChange"]
    away = np.abs(stream.known - stream.targets)
    assert baseline.first == pytest.approx(np.nanmean(away[:150]))
    assert baseline.rest == pytest.approx(np.nanmean(away[150:]))
    assert baseline.error == pytest.approx(
        np.nanstd(away[:150]) / np.sqrt(stream.scored[:150].sum())
    )


def test_every_proposal_is_a_valid_model() -> None:
    split = NumberSplit(open_numbers("synth:mv", limit=100), 50, 50)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    known = first(split.models(), split.default, 8192)
    for choice in known:
        study.enqueue_trial(choice)
    for _ in range(len(known) + 40):
        model, settings = sample(study.ask(), split.models(), split.features, 8192)
        check_parameters(model, settings | {"features": split.features})


def test_a_time_limit_is_refused() -> None:
    with pytest.raises(UserError, match="known of classes only"):
        tune(open_numbers("synth:mv", limit=100), "rpi_pico", max_latency=1.0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--lags", "2"], "--lags needs --horizon N"),
        (["--target-range", "3"], "--target-range has to be LOW,HIGH"),
        (["--label", "x"], "--label is for classes"),
    ],
)
def test_bad_input_is_reported(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["tune", *DATA, *words, "--board", "rpi_pico"])
    assert code == 2
    assert message in " ".join(capsys.readouterr().err.split())

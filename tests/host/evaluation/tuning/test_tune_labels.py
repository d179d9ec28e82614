"""The search for a model that learns few labels, or has spare classes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from microshrub_tools.cli.main import main

optuna = pytest.importorskip("optuna", reason="needs the extra tune")
DATA = ["synth:sea_a", "--limit", "400", "--warmup", "50"]
SEARCH = ["--board", "rpi_pico", "--bytes", "3000", "--trials", "2"]


@pytest.mark.parametrize(
    ("words", "built"),
    [
        (["--label-budget", "10%", "--label-delay", "20"], ["--label-budget", "10%"]),
        pytest.param(
            ["--spare-classes", "2", "new=1"],
            ["--spare-classes", "2"],
            marks=pytest.mark.long,
        ),
    ],
)
def test_trials_learn_as_simulate_does(
    words: list[str],
    built: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    scheduler: str,
) -> None:
    """The accuracy equals that of the printed command; without these options it would differ.

    `tune` estimates the RAM of each size within 1 %; `simulate --board` counts it to the byte.
    """
    monkeypatch.chdir(tmp_path)
    search = [*SEARCH, "--scheduler", scheduler]
    assert main(["tune", *DATA, *words, *search, "--json", "found.json"]) == 0
    result = json.loads(Path("found.json").read_text())
    program, *simulate = shlex.split(result["simulate"])
    assert (program, simulate[0]) == ("microshrub", "simulate")
    assert main([*simulate, "--json", "run.json"]) == 0
    run = json.loads(Path("run.json").read_text())
    score = "accuracy" if "--spare-classes" in words else "accuracy_on_unseen_data"
    assert run[score] == pytest.approx(result["taken"]["accuracy"]["whole"], abs=1e-4)
    assert run["model_bytes"] == result["taken"]["model_bytes"]
    assert run["ram_bytes"] == pytest.approx(result["taken"]["ram_bytes"], rel=0.01)
    plain = [word for word in simulate if word not in words]
    assert main([*plain, "--json", "plain.json"]) == 0
    assert json.loads(Path("plain.json").read_text())["accuracy"] != run["accuracy"]
    build = shlex.split(result["build"])
    assert build[build.index(built[0]) :][: len(built)] == built
    assert not {"--label-delay", "new=1"} & set(build)
    capsys.readouterr()
    assert main(["tune", *DATA, *SEARCH]) == 2
    assert "search: not the same data" in capsys.readouterr().err


def test_regression_has_no_label_budget(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tune", "synth:mv", "--target", "target", *SEARCH, "--label-budget", "10%"]
    assert main(words) == 2
    assert "--label-budget is for classes" in capsys.readouterr().err

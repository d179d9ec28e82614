"""The search on selected columns of data from a pipe."""

from __future__ import annotations

import json
import random
import shlex
import sys
from pathlib import Path

import pytest

from microshrub_tools.cli.main import main

optuna = pytest.importorskip("optuna", reason="needs the extra tune")


@pytest.mark.parametrize("choice", [["--drop", "id", "z"], ["--columns", "x", "w"]])
def test_the_printed_commands_have_the_same_columns(
    choice: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheduler: str
) -> None:
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    rows = [
        f"{i},{draw.gauss(0, 2):.2f},{draw.random():.3f},{i % 13},{draw.choice('ab')}"
        for i in range(400)
    ]
    Path("t.csv").write_text("id,x,z,w,y\n" + "\n".join(rows) + "\n")
    search = ["--board", "rpi_pico", "--bytes", "3000", "--trials", "2", "--warmup", "50"]
    words = ["tune", "-", *choice, *search, "--json", "found.json"]
    with open("t.csv") as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", file)
        assert main([*words, "--scheduler", scheduler]) == 0
    assert Path("standard-input-rpi_pico.tune").exists()
    result = json.loads(Path("found.json").read_text())
    simulate = shlex.split(result["simulate"])[1:]
    simulate[simulate.index("-")] = "t.csv"
    assert main([*simulate, "--json", "run.json"]) == 0
    run = json.loads(Path("run.json").read_text())
    assert run["feature_names"] == ["x", "w"]
    whole = result["taken"]["accuracy"]["whole"]
    assert run["accuracy_on_unseen_data"] == pytest.approx(whole, abs=1e-4)
    assert choice[0] in shlex.split(result["build"])

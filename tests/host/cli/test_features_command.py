"""--features on the command line: a recording's readings become the samples that are learned."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.models import model_files
from microshrub_tools.cli.main import main

FEATURES = ["--features", "window=32", "hop=8", "rate=50", "bands=2-10,10-25", "low-pass=20"]
MODEL = ["--model", "shrub", "--window", "16", "--trees", "4", "--engine", "python"]


@pytest.fixture
def recording(tmp_path: Path) -> str:
    """Slow and fast vibration by turns, equally loud: single readings do not tell them apart."""
    n = np.arange(2000)
    label = n // 100 % 2
    x = 3000 * np.sin(2 * np.pi * np.cumsum(np.where(label, 12, 4)) / 50)
    rows = [f"{int(v)},{('slow', 'fast')[k]}" for v, k in zip(x, label, strict=True)]
    path = tmp_path / "fan.csv"
    path.write_text("\n".join(["x,what", *rows]) + "\n")
    return str(path)


def test_a_model_sees_what_single_readings_do_not_show(recording: str, tmp_path: Path) -> None:
    made, model = tmp_path / "run.json", tmp_path / "fan.mshrub"
    words = ["simulate", recording, "--warmup", "20", "--shuffle", "1", *MODEL]
    assert main([*words, *FEATURES, "--json", str(made), "--save", str(model)]) == 0
    run = json.loads(made.read_text())
    assert (run["samples"], run["features"]) == (247, 8)
    assert run["extraction"]["channels"] == ["x"]
    assert run["extraction"]["options"]["bands"] == [[2, 6], [7, 16]]
    saved = model_files.read(model)
    assert saved.extraction is not None
    assert saved.extraction.saved() == run["extraction"]
    assert saved.feature_names[-2:] == ("x_2-10Hz", "x_10-25Hz")
    plain = tmp_path / "plain.json"
    assert main([*words, "--json", str(plain)]) == 0
    assert run["accuracy"] > json.loads(plain.read_text())["accuracy"] + 15


def test_numbers_have_no_features(recording: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", recording, "--target", "x", *FEATURES]) == 2
    assert "--features is for classes, and --target wants numbers" in capsys.readouterr().err

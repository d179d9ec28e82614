"""--features on the command line: windows of a recording's readings become samples."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.models import model_files
from microshrub_host.simulation import engines
from microshrub_tools.cli.main import main

FEATURES = ["--features", "window=32", "hop=8", "rate=50", "bands=2-10,10-25", "low-pass=20"]
MODEL = ["--model", "shrub", "--window", "16", "--trees", "4", "--engine", "python"]


@pytest.fixture
def recording(tmp_path: Path) -> str:
    """Slow and fast vibration in turn, equally loud:
    single readings do not separate the classes.
    """
    n = np.arange(2000)
    label = n // 100 % 2
    x = 3000 * np.sin(2 * np.pi * np.cumsum(np.where(label, 12, 4)) / 50)
    rows = [f"{int(v)},{('slow', 'fast')[k]}" for v, k in zip(x, label, strict=True)]
    path = tmp_path / "fan.csv"
    path.write_text("\n".join(["x,what", *rows]) + "\n")
    return str(path)


def test_a_model_learns_classes_that_single_readings_do_not_show(
    recording: str, tmp_path: Path
) -> None:
    made, model = tmp_path / "run.json", tmp_path / "fan.mshrub"
    words = ["simulate", recording, "--warmup", "20", "--shuffle", "1", *MODEL]
    assert main([*words, *FEATURES, "--json", str(made), "--save", str(model)]) == 0
    run = json.loads(made.read_text())
    assert (run["samples"], run["features"]) == (247, 7)
    assert run["extraction"]["channels"] == ["x"]
    assert run["extraction"]["options"]["bands"] == [[2, 6], [7, 16]]
    saved = model_files.read(model)
    assert saved.extraction is not None
    assert saved.extraction.saved() == run["extraction"]
    assert saved.feature_names[-2:] == ("x_2-10Hz", "x_10-25Hz")
    plain = tmp_path / "plain.json"
    assert main([*words, "--json", str(plain)]) == 0
    assert run["accuracy"] > json.loads(plain.read_text())["accuracy"] + 15


def _written(tmp_path: Path) -> str:
    """Write a fan that turns faster, with a drifting mean, and its temperature, which follows."""
    n = np.arange(1200)
    speed = 4 + 6 * np.sin(n / 150) ** 2
    x = np.rint(2000 * np.sin(2 * np.pi * np.cumsum(speed) / 50)).astype(int)
    warm = np.rint(2000 + 50 * speed + n / 10).astype(int)
    path = tmp_path / "fan.csv"
    path.write_text("\n".join(["x,warm", *(f"{a},{b}" for a, b in zip(x, warm, strict=True))]))
    return str(path)


def test_a_feature_is_forecast_from_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The forecast is simulated, the same on all engines, saved,
    and built with and without the saved model.
    """
    path, run, model = _written(tmp_path), tmp_path / "run.json", tmp_path / "fan.mshrub"
    words = ["window=32", "hop=8", "rate=50", "bands=2-7,7-15", "statistics=min", "plain=warm"]
    ahead = ["--target", "warm", "--horizon", "2", "--features", *words, "--warmup", "20"]
    linear = [*ahead, "--model", "linear"]
    saved = ["--json", str(run), "--save", str(model)]
    assert main(["simulate", path, *linear, "--engine", "python", *saved]) == 0
    result = json.loads(run.read_text())
    assert (result["samples"], result["features"]) == (145, 4)
    assert result["feature_names"] == ["x_min", "x_2-7Hz", "x_7-15Hz", "warm now"]
    assert result["mae"] < result["mae_running_mean"]
    assert result["extraction"]["options"]["plain"] == [1]
    file = model_files.read(model)
    assert file.extraction is not None
    assert file.extraction.saved() == result["extraction"]
    capsys.readouterr()
    monkeypatch.setattr(engines, "available", lambda: ("python", "c", "micropython"))
    assert main(["parity", path, *linear, "--every", "1000"]) == 0
    output = capsys.readouterr().out
    assert "features: 147 samples of 4" in output
    assert "engines are identical: 147 samples" in output
    pins = ["--board", "rpi_pico", "--sensor", "adc", "pins=26,27", "rate=50"]
    for k, program in enumerate(([path, *linear], ["--model", str(model)])):
        folder = tmp_path / f"build{k}"
        assert main(["build", *program, *pins, "--output", str(folder)]) == 0
        config = json.loads((folder / "config.json").read_text())
        assert config["extraction"] == result["extraction"]["options"]
        assert (config["regression"]["columns"], config["regression"]["column"]) == (4, 3)
        names = {file.name for file in folder.rglob("*.mpy")}
        assert {"feature_extractor.mpy", "spectrum.mpy", "regression_app.mpy"} <= names


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "warm",
            "--target warm is none of the features. With plain=warm it is one. ",
        ),
        ("x_means", "--target x_means is none of the features. Did you mean x_mean?"),
    ],
)
def test_a_target_that_is_not_a_feature_is_refused(
    target: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--target", target, "--features", "window=32", "statistics=mean,min"]
    assert main(["simulate", _written(tmp_path), *words]) == 2
    assert message in capsys.readouterr().err

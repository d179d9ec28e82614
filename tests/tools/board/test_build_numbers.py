"""`build --target`: the files in the folder, and the refusals with the command's words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from microshrub_tools.board import build
from microshrub_tools.cli.main import main

FORECAST = ["--target", "b", "--horizon", "4", "--lags", "3", "--interval", "90"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "pins.csv"
    rows = [f"{i % 50},{1000 + i % 90},{i % 7}" for i in range(400)]
    path.write_text("a,b,c\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def made(folder: Path, *words: object) -> int:
    command = ["build", *map(str, words), "--board", "rpi_pico", "--output", str(folder / "out")]
    return main(command)


def test_the_folder(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sensor = ["--sensor", "adc", "pins=26,27,28", "--text"]
    assert made(tmp_path, data, *FORECAST, "--model", "linear", *sensor) == 0
    assert re.search("LinearRegressor .*Raspberry Pi Pico", capsys.readouterr().out)
    files = build.read(tmp_path / "out")
    config = json.loads(files["config.json"])
    numbers = config["regression"]
    assert numbers["ends"][0] < 1000 < 1089 < numbers["ends"][1]
    del numbers["ends"]
    assert numbers == {
        "columns": 3, "column": 1, "horizon": 4, "lags": 3, "interval": 90,
        "states": [None, None, None],
    }  # fmt: skip
    assert config["feature_names"] == ["a", "b", "c"]
    assert (config["alarm"], config["class_names"]) == (None, None)
    modules = {Path(name).stem for name in files if name.endswith(".mpy")}
    assert {"regression_app", "forecaster", "prediction_interval", "linear"} <= modules
    assert not {"metrics", "delayed_labels", "drift_alarm", "shrubs", "watchers"} & modules
    assert made(tmp_path, data, "--target", "b", "--model", "linear") == 0
    modules = {Path(name).stem for name in build.read(tmp_path / "out")}
    assert "prediction_interval" not in modules


def test_a_series_of_one_column(tmp_path: Path) -> None:
    """The sensor's value is the target, and its last values are the features."""
    path = tmp_path / "series.csv"
    path.write_text("value\n" + "".join(f"{i % 50}\n" for i in range(400)), encoding="utf-8")
    words = ["--target", "value", "--horizon", "1", "--lags", "6", "--model", "linear"]
    assert made(tmp_path, path, *words, "--sensor", "adc", "pins=26") == 0
    config = json.loads(build.read(tmp_path / "out")["config.json"])
    assert config["feature_names"] == ["value"]
    assert (config["regression"]["columns"], config["regression"]["lags"]) == (1, 6)


def test_the_time_column_of_record_is_no_feature(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "recording.csv"
    rows = [f"{i * 20},{i % 50},{i % 7},{'ab'[i % 2]}\n" for i in range(400)]
    path.write_text("time,a0,a1,label\n" + "".join(rows), encoding="utf-8")
    sensor = ["--sensor", "adc", "pins=26,27", "--model", "shrub", "--window", "16"]
    assert made(tmp_path, path, *sensor) == 0
    err = capsys.readouterr().err
    assert "column time is left out" in err
    config = json.loads(build.read(tmp_path / "out")["config.json"])
    assert config["feature_names"] == ["a0", "a1"]
    assert made(tmp_path, path, "--columns", "time", "a0", "a1", *sensor) == 2
    err = capsys.readouterr().err
    assert re.search("2 values, .*3 features: time, a0, a1", err)
    assert "--drop COLUMN" in err


def test_a_program_of_classes_has_no_regression_code(data: Path, tmp_path: Path) -> None:
    assert made(tmp_path, data, "--label", "c", "--model", "shrub") == 0
    files = build.read(tmp_path / "out")
    modules = {Path(name).stem for name in files}
    assert (
        not {"regression_app", "forecaster", "regression_metrics", "prediction_interval", "target"}
        & modules
    )
    assert "regression" not in json.loads(files["config.json"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "linear"], "--model linear-regressor predicts numbers: it needs --target"),
        (["--target", "b", "--label-pin", "15"], "--label-pin is for classes"),
        (["--target", "b", "--alarm", "adwin"], "--alarm is for classes"),
        (["--target", "b", "--hook", "reset"], "--hook is for classes"),
        (["--target", "b", "--pending", "9"], "--pending is for classes"),
        (["--target", "b", "--anomaly", "0.01"], "--anomaly is for classes"),
        (["--target", "b", "--interval", "30"], "--interval has to be 50 to 99 percent"),
        (["--target", "b", "--sensor", "adc", "pins=26"], "gives 1 value, and the model has 3"),
        (["--target", "b", "--lags", "2"], "--lags needs --horizon"),
    ],
)
def test_errors_are_reported(
    data: Path, tmp_path: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert made(tmp_path, data, *words) == 2
    assert message in capsys.readouterr().err

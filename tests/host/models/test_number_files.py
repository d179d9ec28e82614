"""Model files of regressors: saved, shown, built; forged files are refused."""

from __future__ import annotations

import json
import re
import zipfile
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microshrub_host.base.errors import UserError
from microshrub_host.library import loader
from microshrub_host.models import model_files
from microshrub_host.models.forecasters import forecast
from microshrub_tools.board import build
from microshrub_tools.cli.main import main

STATES = ("learner", "quantizer", "target", "interval", "naive")
PARTS = ["config.json", *(f"{name}.state" for name in STATES)]
TASK = ["--target", "b", "--horizon", "3", "--lags", "2", "--interval", "80"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("regression") / "wave.csv"
    t = np.arange(400)
    rows = [f"{i % 20},{20 * np.sin(i / 6):.2f}" for i in t]
    path.write_text("a,b\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def saved(data: Path, path: Path, *words: str, model: str = "linear") -> Path:
    """Return the file that `simulate --save` writes."""
    command = ["simulate", str(data), *(words or TASK), "--model", model, "--engine", "python"]
    assert main([*command, "--save", str(path)]) == 0
    return path


@pytest.mark.parametrize("model", ["linear", "shrub", "hoeffding", "thicket"])
def test_a_saved_regressor_is_read_completely(
    data: Path, tmp_path: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = saved(data, tmp_path / "one.mshrub", *TASK, "--json", "-", model=model)
    record = json.loads(capsys.readouterr().out)
    other = saved(data, tmp_path / "other.mshrub", model=model)
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as archive:
        assert archive.namelist() == PARTS
    opened = model_files.open_model(one)
    file = opened.file
    assert opened.learner.state_crc32() == record["state_crc32"]
    assert (file.feature_names, file.class_names) == (("a", "b"), ())
    assert (file.samples, file.accuracy) == (397, record["mae"])
    assert opened.forecaster.interval.half > 0
    assert opened.forecaster.naive.period > 0, "the season is known"
    low, high = opened.forecaster.target.ends
    assert low <= -2000 < 2000 <= high


def test_show_prints_a_regressor(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(data, tmp_path / "m.mshrub", model="thicket")
    capsys.readouterr()
    assert main(["show", str(path)]) == 0
    output = capsys.readouterr().out
    assert "ThicketRegressor of wave.csv: 397 samples" in output
    assert "It predicts b, 3 rows ahead." in output
    season = model_files.open_model(path).forecaster.naive.period
    assert f"  season: {season}" in output.splitlines()
    assert main(["show", str(path), "--row", "3,-10.5"]) == 0
    line = capsys.readouterr().out.strip()
    predicted, half = forecast(model_files.open_model(path).forecaster, [3, -1050])
    board = model_files.open_model(path).forecaster
    assert predicted == board.take(array("i", [3, -1050])), (
        "what a program says that begins with it"
    )
    middle, low, high = (
        f"{raw / 100:.10g}" for raw in (predicted, predicted - half, predicted + half)
    )
    assert line == f"b, 3 rows ahead: {middle}, between {low} and {high}"
    for words in (["--tree", "1"], ["--depth", "2"], ["--plot", str(tmp_path / "t.png")]):
        assert main(["show", str(path), *words]) == 2
        assert "is for trees of classes" in capsys.readouterr().err
    assert main(["export", str(path), "--format", "onnx", "-o", str(tmp_path / "m.onnx")]) == 2
    assert "onnx is for classes" in capsys.readouterr().err


def test_show_has_the_tree_of_a_hoeffding_regressor(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tree has the columns' units, and lags by name; a row's path ends at its prediction."""
    path = saved(data, tmp_path / "m.mshrub", model="hoeffding")
    capsys.readouterr()
    assert main(["show", str(path)]) == 0
    shown = capsys.readouterr().out
    model = model_files.open_model(path)
    leaves = [line for line in shown.splitlines() if " -> " in line]
    assert len(leaves) == (model.learner.nodes_used + 1) // 2 > 3
    assert all(-20 <= float(line.rpartition(" -> ")[2]) <= 20 for line in leaves)
    assert "b now <= " in shown
    assert main(["show", str(path), "--depth", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 7
    for row in ("3,-10.5", "0,17", "19,0"):
        assert main(["show", str(path), "--row", row]) == 0
        predicted, way = capsys.readouterr().out.splitlines()  # the learner's, and the tree's
        tests, _, mean = way.rpartition(" -> ")
        assert any(line.endswith(f"{tests.split(', ')[-1]} -> {mean}") for line in leaves)
        assert -20 <= float(predicted.split(": ")[1].split(",")[0]) <= 20


def test_build_uses_a_saved_regressor(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(data, tmp_path / "m.mshrub", model="shrub")
    words = ["build", "--model", str(path), "--board", "rpi_pico", "--output"]
    assert main([*words, str(tmp_path / "out")]) == 0
    assert "ShrubRegressor (with what" in capsys.readouterr().out
    files = build.read(tmp_path / "out")
    opened = model_files.open_model(path)
    library: Any = loader.load("python")
    config = library.device.config.Configuration(files["config.json"])
    app = library.device.regression_app.RegressionApp(config, f"{tmp_path / 'out'}/")
    app.begin()
    for mine, other in zip(opened.forecaster.parts, app.parts, strict=True):
        assert other.state_crc32() == mine.state_crc32()
    assert main([*words, str(tmp_path / "out"), "--horizon", "3"]) == 2
    assert "--horizon is not used" in capsys.readouterr().err


def remade(path: Path, change: dict[str, Any], parts: dict[str, bytes]) -> None:
    """Write another config.json and other states into the file; all its checksums are right."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(files["config.json"])
    for name, value in change.items():
        config[name] = config[name] | value if isinstance(value, dict) else value
    files["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (files | parts).items():
            archive.writestr(name, content)


FORGED: list[tuple[dict[str, Any], dict[str, bytes], str]] = [
    ({"regression": 5}, {}, "config.json has no valid regression"),
    ({"regression": {"lag": 3}}, {}, "config.json has no valid regression"),
    ({"regression": {"columns": 3}}, {}, "as many columns"),
    ({"regression": {"column": 2}}, {}, "column .* 0..1, not 2"),
    ({"regression": {"column": "b"}}, {}, "column has to be"),
    ({"regression": {"horizon": 10**9}}, {}, "horizon .* 0..1000"),
    ({"regression": {"lags": 3}}, {}, "features .* 4, not 3"),
    ({"regression": {"interval": 120}}, {}, "interval .* 50..99"),
    ({"regression": {"interval": 85}}, {}, "state is of Interval"),
    ({"regression": {"interval": None}}, {}, "state of an interval"),
    ({"regression": {"ends": [5, 1]}}, {}, "high end"),
    ({"parameters": {"features": 9}}, {}, "too short for the parameters"),
    ({"parameters": {"classes": 2}}, {}, "LinearRegressor has no parameter classes"),
    ({"parameters": {"rate": 2}}, {}, "rate has to be"),
    ({"learner": "ShrubEnsemble"}, {}, "what ShrubEnsemble predicts"),
    ({"feature_names": ["a"]}, {}, "a unit for each feature"),
    ({}, {"target.state": b""}, "not a saved microshrub state"),
    ({}, {"interval.state": b"mshr"}, "not a saved microshrub state"),
    ({}, {"naive.state": b""}, "not a saved microshrub state"),
    ({}, {"more.state": b""}, "it is damaged"),
]


@pytest.mark.parametrize(("change", "parts", "words"), FORGED)
def test_forged_files_are_refused(
    data: Path, tmp_path: Path, change: dict[str, Any], parts: dict[str, bytes], words: str
) -> None:
    path = saved(data, tmp_path / "m.mshrub")
    remade(path, change, parts)
    with pytest.raises(UserError) as caught:
        model_files.open_model(path)
    assert re.search(words, str(caught.value))


def test_a_regressors_file_without_its_regression_settings_is_refused(
    data: Path, tmp_path: Path
) -> None:
    path = saved(data, tmp_path / "m.mshrub")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in PARTS[:3]}
    config = json.loads(parts["config.json"])
    del config["regression"]
    parts["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(UserError, match="names 2 features"):
        model_files.open_model(path)


def test_no_flipped_byte_of_a_state_is_accepted(data: Path, tmp_path: Path) -> None:
    path = saved(data, tmp_path / "m.mshrub")
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        state = archive.read("target.state")
    begin = whole.index(state)
    for k in range(begin, begin + len(state)):
        path.write_bytes(whole[:k] + bytes([whole[k] ^ 4]) + whole[k + 1 :])
        with pytest.raises(UserError):
            model_files.open_model(path)

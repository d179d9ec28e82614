"""`--no-label`: samples are scored without a class; without the option, a note names the class."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from microshrub_host.evaluation.prequential import evaluate
from microshrub_host.simulation.anomaly import Anomaly
from microshrub_host.streams.open_stream import open_stream
from microshrub_tools.board import build
from microshrub_tools.cli.main import main

ROWS = [f"{round(90 * math.sin(i / 9))},{i * 7 % 13}" for i in range(900)]
ROWS[700] = "900,70"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "r.csv"
    path.write_text("x,z\n" + "\n".join(ROWS) + "\n")
    return path


def scored(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> dict:
    capsys.readouterr()
    assert main(["simulate", str(path), "--anomaly", "0.01", "--json", "-", *words]) == 0
    result: dict = json.loads(capsys.readouterr().out)
    return result


def test_all_columns_are_scored(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The scores equal those with a learner, bit for bit, on each engine."""
    result = scored(capsys, recording, "--no-label")
    assert (result["samples"], result["features"], result["feature_names"]) == (900, 2, ["x", "z"])
    assert 700 in result["anomaly"]["alarms"]
    for engine in ("python", "llvm"):
        assert scored(capsys, recording, "--no-label", "--engine", engine) == result
    labelled = recording.with_name("l.csv")
    labelled.write_text("x,z,y\n" + "".join(f"{r},{'ab'[i % 2]}\n" for i, r in enumerate(ROWS)))
    shape = {"features": 2, "classes": 2, "window": 8, "trees": 2, "depth": 2}
    options = Anomaly(0.01)
    companions = evaluate(open_stream(str(labelled)), "shrub", shape, companions=[options]).anomaly
    assert companions is not None
    assert companions.record() == result["anomaly"]


def test_columns_can_be_chosen(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert scored(capsys, recording, "--no-label", "--drop", "z")["feature_names"] == ["x"]
    words = ["--no-label", "--features", "window=8", "hop=4", "--warmup", "16"]
    assert "x_mean" in scored(capsys, recording, *words)["feature_names"]


def test_a_recording_of_one_sensor_is_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "one.csv"
    path.write_text("x\n" + "\n".join(row.split(",")[0] for row in ROWS) + "\n")
    assert 700 in scored(capsys, path, "--no-label")["anomaly"]["alarms"]


def test_the_output_has_alarms_and_no_accuracy(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plot = tmp_path / "p.png"
    words = ["simulate", str(recording), "--anomaly", "0.01", "--no-label", "--plot", str(plot)]
    assert main(words) == 0
    output = capsys.readouterr().out
    assert "r.csv: 900 samples, 2 features, no labels" in output
    assert "anomaly alarms" in output
    assert "accuracy" not in output
    assert "none is possible" not in output
    assert plot.stat().st_size > 1000


@pytest.mark.parametrize(("more", "first"), [("reach=4", "512"), ("normal=400", "400")])
def test_a_recording_too_short_for_an_alarm_gets_a_note(
    recording: Path, capsys: pytest.CaptureFixture[str], more: str, first: str
) -> None:
    words = ["simulate", str(recording), "--anomaly", "0.01", more, "--no-label", "--limit", first]
    assert main(words) == 0
    assert f"in the first {first} samples" in capsys.readouterr().out


def test_a_note_names_the_column_that_is_taken_for_the_class(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ["--model", "shrub", "--window", "8", "--trees", "2", "--depth", "2"]
    words = ["simulate", str(recording), "--anomaly", "0.01", *model]
    assert main(words) == 0
    err = capsys.readouterr().err
    assert "column, z, is taken" in err
    assert "--no-label" in err
    assert main([*words, "--label", "z"]) == 0
    assert "is taken for the class" not in capsys.readouterr().err
    assert main(["simulate", str(recording), *model]) == 0
    assert "is taken for the class" not in capsys.readouterr().err


def test_texts_are_scored_with_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i % 9},{'ab'[i % 2]}\n" for i in range(90)))
    assert main(["simulate", str(path), "--anomaly", "0.1", "--no-label"]) == 0
    assert "leave it out: --drop y" in capsys.readouterr().err


def test_a_program_can_be_built_before_there_are_labels(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    words = ["build", str(recording), "--no-label", "--board", "rpi_pico", "--output", str(folder)]
    words += ["--anomaly", "1 per day", "--sensor", "adc", "pins=26,27", "rate=5"]
    words += ["--model", "shrub", "--window", "16"]
    assert main(words) == 2
    assert "--no-label needs --classes A,B" in capsys.readouterr().err
    assert main([*words, "--classes", "usual,odd"]) == 0
    config = json.loads(build.read(folder)["config.json"])
    assert config["feature_names"] == ["x", "z"]
    assert config["class_names"] == ["usual", "odd"]

"""--features without values: simulated, compared on all engines, saved, built, with any rate."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.simulation import engines
from microshrub_host.streams.csv_rows import recorded_rate
from microshrub_tools.cli.main import main

MODEL = ["--model", "shrub", "--window", "16", "--trees", "4", "--warmup", "20"]
PINS = ["--board", "rpi_pico", "--sensor", "adc", "pins=26"]


@pytest.fixture
def recording(tmp_path: Path) -> str:
    """Hums of two frequencies, equally loud: only bands separate the classes,
    no statistic does.
    """
    n = np.arange(2400)
    label = n // 300 % 2
    x = 3000 * np.sin(2 * np.pi * np.cumsum(np.where(label, 9.7, 11.3)) / 50)
    rows = [f"{int(v)},{('slow', 'fast')[k]}" for v, k in zip(x, label, strict=True)]
    path = tmp_path / "hum.csv"
    path.write_text("\n".join(["x,what", *rows]) + "\n")
    return str(path)


def test_features_needs_no_values(
    recording: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    run, model = tmp_path / "run.json", tmp_path / "hum.mshrub"
    words = [recording, *MODEL, "--features"]
    outputs = ["--json", str(run), "--save", str(model)]
    assert main(["simulate", *words, *outputs, "--engine", "python"]) == 0
    result = json.loads(run.read_text())
    assert result["features"] == 16
    assert result["feature_names"][7:9] == ["x_overtone", "x_band1"]
    err = capsys.readouterr().err
    assert "window=64 hop=16 bands=auto. rate=100" in err
    monkeypatch.setattr(engines, "available", lambda: ("python", "micropython"))
    assert main(["parity", *words, "--every", "1000"]) == 0
    assert "features: 147 samples of 16" in capsys.readouterr().out
    folder = tmp_path / "program"
    assert main(["build", "--model", str(model), *PINS, "rate=50", "--output", str(folder)]) == 0
    config = json.loads((folder / "config.json").read_text())
    assert config["extraction"] == result["extraction"]["options"]


def test_build_takes_the_rate_from_the_sensor(recording: str, tmp_path: Path) -> None:
    folder = tmp_path / "program"
    words = [recording, *MODEL, "--features", *PINS, "rate=200", "--output", str(folder)]
    assert main(["build", *words]) == 0
    config = json.loads((folder / "config.json").read_text())
    assert config["extraction"]["window"] == 128
    assert config["feature_names"][8] == "x_1.56-3.12Hz"


def test_the_hop_is_long_enough_for_the_board(recording: str, tmp_path: Path) -> None:
    hops = []
    for board in ([], ["--board", "rpi_pico"]):
        run = tmp_path / "run.json"
        words = [*MODEL, "--features", "rate=8000", *board, "--json", str(run)]
        assert main(["simulate", recording, *words, "--engine", "python"]) == 0
        hops.append(json.loads(run.read_text())["extraction"]["options"]["hop"])
    assert hops[0] == 128
    assert hops[1] > 128


def timed(path: Path, rate: float, at_once: int = 1) -> str:
    """Return a recording as `record --time` writes it, with several readings arriving at once."""
    rows = [
        f"{round(1000 * (k - k % at_once) / rate)},{k % 7},{'ab'[k // 500 % 2]}"
        for k in range(2500)
    ]
    path.write_text("\n".join(["time,x,label", *rows]) + "\n")
    return str(path)


@pytest.mark.parametrize(("rate", "at_once"), [(20.0, 1), (104.0, 1), (104.0, 16), (1000.0, 40)])
def test_a_recording_with_times_gives_its_rate(
    rate: float, at_once: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = recorded_rate(timed(tmp_path / "t.csv", rate, at_once))
    assert recorded == pytest.approx(rate, rel=0.25)
    run = tmp_path / "run.json"
    words = [str(tmp_path / "t.csv"), *MODEL, "--features", "--json", str(run)]
    assert main(["simulate", *words, "--engine", "python"]) == 0
    window = json.loads(run.read_text())["extraction"]["options"]["window"]
    assert window == {20.0: 128, 104.0: 64, 1000.0: 512}[rate]
    err = capsys.readouterr().err
    assert f"about {recorded:.3g} readings a second" in err
    assert "rate=100" not in err


def test_a_label_is_refused_if_a_feature_is_the_target(
    recording: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["simulate", recording, "--features", "rate=50", "--target", "x_mean"]
    assert main([*words, "--horizon", "1"]) == 2
    assert "'slow' is not a number" in (err := capsys.readouterr().err)
    assert "--drop what" in err
    assert main([*words, "--horizon", "1", "--drop", "what"]) == 0


@pytest.mark.parametrize(
    "text",
    ["", "time", "time,x,label\n", "time,x\nnoon,3\n", "x,time\n1,2\n2,3\n", "time,x\n5,1\n5,2\n"],
)
def test_a_file_without_usable_times_has_no_rate(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert recorded_rate(str(path)) is None
    assert recorded_rate("synth:led") is None

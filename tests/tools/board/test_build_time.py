"""`build` reports the time of a sample in its program, and a rate that is too high."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from microshrub_tools.cli.main import main


@pytest.fixture
def recording(tmp_path: Path) -> str:
    """A recording of three pins: 300 samples of two classes, in runs."""
    rng = random.Random(1)
    lines = ["x,y,z,label"]
    for k in range(300):
        label = k // 30 % 2
        values = ",".join(str(rng.randrange(3000) + 1500 * label) for _ in range(3))
        lines.append(f"{values},{('rest', 'walk')[label]}")
    path = tmp_path / "walk.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


SIZE = ["--bytes", "16384"]  # chosen, so that no size has to be searched for


def built(recording: str, folder: Path, *options: str) -> None:
    words = ["build", recording, "--board", "rpi_pico", "--output", str(folder)]
    assert main([*words, *options, *SIZE]) == 0


def test_a_rate_that_is_too_high_is_reported(
    recording: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built(recording, tmp_path / "out", "--sensor", "adc", "pins=26,27,28", "rate=50")
    captured = capsys.readouterr()
    match = re.search(r"time +([\d.]+) ms a labelled sample with the program", captured.out)
    assert match
    assert 2 < float(match[1]) < 20
    assert "cannot be kept" not in captured.err
    built(recording, tmp_path / "out", "--sensor", "adc", "pins=26,27,28", "rate=400")
    captured = capsys.readouterr()
    assert "400 samples a second cannot" in captured.err
    lower = re.search(r"lower the rate of --sensor to (\d+) samples", captured.err)
    assert lower
    built(recording, tmp_path / "out", "--sensor", "adc", "pins=26,27,28", f"rate={lower[1]}")
    assert "cannot be kept" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["budget", "simulate"])
def test_the_time_is_reported_where_nothing_is_built(
    command: str, recording: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [command, "--board", "rpi_pico"]
    words += [recording] if command == "simulate" else ["--features", "3", "--classes", "2"]
    words += SIZE
    assert main([*words, "--sample-rate", "50"]) == 0
    assert "cannot be kept" not in capsys.readouterr().err
    assert main([*words, "--sample-rate", "400"]) == 0
    err = capsys.readouterr().err
    assert "400 samples a second cannot" in err
    lower = re.search(r"lower --sample-rate to (\d+) samples", err)
    assert lower
    assert main([*words, "--sample-rate", lower[1]]) == 0
    assert "cannot be kept" not in capsys.readouterr().err


def test_for_another_model_the_known_time_is_reported(
    recording: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["build", recording, "--board", "rpi_pico", "--output", str(tmp_path / "out")]
    assert main([*words, "--model", "shrub", "--window", "20"]) == 0
    assert re.search(r"time +[\d.]+ ms a sample", capsys.readouterr().out)


BATTERY = ["--sensor", "adc", "pins=26,27,28", "rate=1", "--sleep", "--battery", "2000mAh"]


def test_the_time_belongs_to_the_kernels_that_are_built(
    recording: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    took = {}
    for emit in ("native", "viper"):
        built(recording, tmp_path / "out", "--emit", emit, *BATTERY)
        output = " ".join(capsys.readouterr().out.split())
        assert "days on 2000mAh" in output
        match = re.search(r"time ([\d.]+) ms a labelled sample", output)
        assert match
        took[emit] = float(match[1])
    assert took["native"] < 0.8 * took["viper"]


def test_a_battery_is_never_ignored(
    recording: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built(recording, tmp_path / "out", "--emit", "bytecode", *BATTERY)
    captured = capsys.readouterr()
    assert "not known how long" in captured.err
    assert "asleep" not in captured.out
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("a,b,y\n" + "1,2,25\n2,3,15\n" * 99)
    built(str(numbers), tmp_path / "out", "--target", "y", *BATTERY)
    captured = capsys.readouterr()
    assert "2.94 days on 2000mAh" in " ".join(captured.err.split())
    assert "days on 2000mAh, without" in " ".join(captured.out.split())


def test_parts_without_a_known_time_are_named(
    recording: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built(recording, tmp_path / "out", "--anomaly", "0.01", "--spare-classes", "2")
    output = " ".join(capsys.readouterr().out.split())
    assert re.search("without the anomaly score .*novelty", output)

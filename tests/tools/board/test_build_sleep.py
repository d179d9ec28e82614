"""`build --sleep`: its part of config.json, its RAM, and its refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from script_support import run

from microshrub_tools.board import build


@pytest.fixture
def words(tmp_path: Path) -> list[Any]:
    data = tmp_path / "stream.csv"
    data.write_text("a,b,label\n" + "1,2,0\n2,3,1\n" * 99)
    common = ["build", data, "--board", "rpi_pico", "--output", tmp_path / "out"]
    return [*common, "--warmup", 64, "--bytes", 16384]


SENSOR = ["--sensor", "adc", "pins=26,27", "rate=1"]


def config(tmp_path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((tmp_path / "out" / "config.json").read_text())
    return content


def test_sleep_is_in_the_program_and_its_ram_is_counted(
    words: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words, *SENSOR) == 0
    assert "sleep" not in config(tmp_path)
    awake = capsys.readouterr().out
    assert run(*words, *SENSOR, "--sleep") == 0
    asleep = capsys.readouterr().out
    assert config(tmp_path)["sleep"] == {"every": 60, "window": 2, "hold": 60}
    assert config(tmp_path)["text"] is False
    files = build.read(tmp_path / "out")
    assert any("heard" in str(data) for data in files.values())
    milliwatts = [
        float(re.findall(r"([\d.]+) asleep between samples", output)[0])
        for output in (awake, asleep)
    ]
    assert milliwatts[1] - milliwatts[0] == pytest.approx(
        2 / 60 * (105 - 4.95), abs=0.1
    )  # the board listens


def moving(words: list[Any], tmp_path: Path, *sensor: str) -> list[Any]:
    """Return the words for a program whose samples are windows of a sensor's readings."""
    (tmp_path / "stream.csv").write_text("x,y,z,label\n" + "1,2,9,0\n2,3,1,1\n" * 999)
    features = ["--features", "window=64", "hop=32", "bands=none"]
    sensor_words = ["--sensor", "mpu6050", "scl=1", "sda=0", "axes=3", *sensor]
    return [*words, *sensor_words, *features, "--sleep", "window=0"]


@pytest.mark.parametrize("fifo", ["fifo=no", "fifo=yes"])
def test_readings_that_leave_no_time_to_sleep_are_reported(
    fifo: str, words: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Samples are rare, but the board wakes for each reading of a window."""
    assert run(*moving(words, tmp_path, "rate=100", fifo)) == 0
    captured = capsys.readouterr()
    assert re.search("--sleep .*wakes 100 times", captured.err)
    assert "no time to sleep" in captured.out


def test_the_readings_and_features_of_a_sample_are_counted(
    words: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*moving(words, tmp_path, "rate=50")) == 0
    captured = capsys.readouterr()
    assert "never sleeps" not in captured.err
    match = re.search(
        r"time +([\d.]+) ms a labelled sample with its features and the", captured.out
    )
    assert match
    assert float(match[1]) > 3 * 64 * 820 * 1.67 / 125_000 + 32 * 7_000 * 1.67 / 125_000
    asleep = float(re.findall(r"([\d.]+) asleep between samples", captured.out)[0])
    assert asleep == pytest.approx(4.95 + 50 / 32 * float(match[1]) / 1000 * 100, rel=0.02)


def test_without_a_known_sample_time_sleep_is_reported(
    words: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del words[words.index("--bytes") :]
    shrub = [*words, "--model", "shrub", "--window", 20, *SENSOR, "--battery", "2000mAh"]
    assert run(*shrub) == 0
    assert "asleep" not in capsys.readouterr().out
    assert run(*shrub, "--sleep", "window=0") == 0
    output = capsys.readouterr().out
    match = re.search(
        r"at 1 a second ([\d.]+) mW asleep between samples, ([\d.]+) days on 2000mAh, without",
        output,
    )
    assert match
    assert 4.95 < float(match[1]) < 6
    assert float(match[2]) == pytest.approx(7400 / float(match[1]) / 24, rel=0.01)


def test_a_board_that_a_pc_cannot_reach_later_is_reported(
    words: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = "a PC reaches the board only within 60 seconds of its start"
    assert run(*words, *SENSOR, "--sleep", "window=0") == 0
    assert note in " ".join(capsys.readouterr().err.split())
    for reachable in (["window=0", "pin=15"], ["window=1"]):
        assert run(*words, *SENSOR, "--sleep", *reachable) == 0
        assert note not in " ".join(capsys.readouterr().err.split())


def test_the_settings_of_sleep_are_configured(words: list[Any], tmp_path: Path) -> None:
    assert run(*words, *SENSOR, "--sleep", "every=300", "window=0", "hold=20", "pin=15") == 0
    expected = {"every": 300, "window": 0, "hold": 20, "pin": 15}
    assert config(tmp_path)["sleep"] == expected


@pytest.mark.parametrize("period", [20, 3600])
def test_whether_deep_sleep_would_take_less_is_computed(
    period: int, words: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*rare(words, tmp_path, period)) == 0
    captured = capsys.readouterr()
    (least,) = re.findall(r"from one sample in ([\d,]+) seconds on", captured.out)
    assert 20 < int(least) < 3600
    assert ("deep sleep would draw" in captured.err) == (period == 3600)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--sleep"], "--sleep is for a board that reads its own --sensor"),
        (
            [*SENSOR, "--sleep", "every=0"],
            "--sleep every has to be 1..86,400 whole seconds, not 0",
        ),
        ([*SENSOR, "--sleep", "window=60"], "would never sleep"),
        (
            [*SENSOR, "--sleep", "hold=long"],
            "--sleep hold has to be 1..86,400 whole seconds, not 'long'",
        ),
        ([*SENSOR, "--sleep", "often=1"], "--sleep has no often"),
        ([*SENSOR, "--sleep", "deep=1"], "--sleep deep has to be yes or no, not 1"),
        (
            [*SENSOR, "--sleep", "deep=yes"],
            "nothing is known of what Raspberry Pi Pico draws in",
        ),
        ([*SENSOR, "--sleep", "pin=99"], "There is no pin 99"),
        ([*SENSOR, "--sleep", "--text"], "leave one out"),
        ([*SENSOR, "--board", "teensy41", "--sleep"], "Teensy 4.1 cannot sleep"),
    ],
)
def test_invalid_options_are_refused(
    more: list[Any], message: str, words: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words, *more) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def rare(words: list[Any], tmp_path: Path, period: int) -> list[Any]:
    """Return the words for a program with a sample every `period` seconds."""
    (tmp_path / "stream.csv").write_text("temperature,humidity,label\n" + "1,2,0\n2,3,1\n" * 99)
    sensor = ["--sensor", "dht22", "pin=15", f"rate=1/{period}", "--board", "esp32", "--freeze"]
    return [*words, *sensor, "--sleep"]


def test_deep_sleep_is_built_where_it_takes_less_energy(
    words: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*rare(words, tmp_path, 3600), "deep=yes", "--battery", "2000mAh") == 0
    output = " ".join(capsys.readouterr().out.split())
    (least,) = re.findall(r"from one sample in ([\d,]+) seconds on", output)
    assert config(tmp_path)["sleep"]["deep"] == pytest.approx(int(least), abs=1)
    light, deep = (
        float(re.findall(pattern, output)[0].replace(",", ""))
        for pattern in (r"/ \(([\d.]+) mW - ", r"in deep sleep ([\d.]+) mW")
    )
    assert 0 < deep < light / 5
    assert re.findall(r"days on 2000mAh[^:]*: ([\d,]+): estimated", output)
    lasts = re.findall(r"flash lasts? ([\d,]+) years", output)
    assert len(lasts) == 2
    assert lasts[0] == lasts[1]
    assert "save every 3,600 seconds" in output


def test_deep_sleep_is_refused_with_numbers_where_it_takes_more_energy(
    words: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*rare(words, tmp_path, 20), "deep=yes") == 2
    err = " ".join(capsys.readouterr().err.split())
    assert re.search("deep=yes .*in 20 seconds", err)
    assert "from one sample in" in err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--checkpoint-seconds", "0"], "leaves nothing to start from"),
        (["--switch", "1=16"], "the pins of --switch are off"),
        (
            ["--label-budget", "10%", "--led-pin", "2"],
            "the light of --led-pin or --checkpoint-led is off",
        ),
    ],
)
def test_options_that_deep_sleep_would_break_are_refused(
    more: list[Any],
    message: str,
    words: list[Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(*rare(words, tmp_path, 3600), "deep=yes", *more) == 2
    assert message in " ".join(capsys.readouterr().err.split())

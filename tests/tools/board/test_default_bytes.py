"""The default size of a model: the bytes that the program leaves on the board."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from program_support import PROGRAM_FIELDS

from microshrub_host import Guarantee
from microshrub_host.boards import board_files
from microshrub_host.boards.default_bytes import RESERVED, bytes_for
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.program import Program
from microshrub_host.boards.program_budget import budget_of, fitting
from microshrub_host.boards.program_library import ProgramLibrary
from microshrub_host.library.learners import defaults
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_tools.cli.main import main

CHECKPOINT = {"path": "checkpoint", "seconds": 240}
ALARM = {"detector": "page_hinkley", "hook": "nothing"}
SOURCE = ["synth:rbf_m", "--warmup", "64", "--limit", "300", "--board", "rpi_pico"]


def chosen(folder: Path, *options: str) -> int:
    assert main(["build", *SOURCE, "--output", str(folder), *options]) == 0
    return int(json.loads((folder / "config.json").read_text())["parameters"]["bytes"])


def test_a_native_module_leaves_room_for_a_larger_model(
    tmp_path: Path,
    native_tools_for: Callable[[str], object],
    capsys: pytest.CaptureFixture[str],
) -> None:
    native_tools_for("armv6m")
    plain, native = chosen(tmp_path / "plain", "--emit", "viper"), chosen(tmp_path / "native")
    assert 40_000 < plain < native == 65_536
    assert "It fits" in capsys.readouterr().out


def test_on_a_small_board_the_model_gets_the_room_of_a_native_module(
    native_tools_for: Callable[[str], object],
) -> None:
    """Where no size leaves 20 KB for the user's own code, the saved room goes to the model."""
    board = board_files.load("rpi_pico_w")
    native_tools_for(board.arch)
    shape = {"features": 14, "classes": 2, **defaults("thicket")}
    deployment = Deployment(shape, board, "Thicket")
    assert bytes_for(dataclasses.replace(deployment, emit="viper")) <= bytes_for(deployment)


_SIX = "statistics=mean,deviation,min,max,crossings,energy"
_FEATURES = ["window=32", _SIX, "bands=1-9", "low-pass=9"]
_SENSOR = {
    "sensor": {"kind": "adc", "pins": [26, 27], "rate": 50},
    "extraction": FeatureOptions.of(_FEATURES).extraction(("a", "b"), 50).options,
    "label_pin": {"pin": 15, "pressed": 1, "released": 0},
    "text": True,
}


@pytest.mark.parametrize(
    ("name", "fields", "left"),
    [
        pytest.param("rpi_pico", _SENSOR, RESERVED - 512),  # programs may differ by 512
        pytest.param("rpi_pico_w", {}, 0),
        pytest.param("rpi_pico_w", _SENSOR, 0),
        pytest.param("esp32c3", _SENSOR, 0, marks=pytest.mark.long),
        pytest.param("esp32", {}, 0, marks=pytest.mark.long),
    ],
)
def test_the_program_fits_next_to_the_default_size(
    name: str, fields: dict[str, Any], left: int
) -> None:
    """This also holds with a sensor, features and a button, and on an ESP32 over the link."""
    board = board_files.load(name)
    shape = {"features": 14, "classes": 2, **defaults("thicket")}
    parameters = {**shape, "bytes": bytes_for(Deployment(shape, board, "Thicket"))}
    fields = {**PROGRAM_FIELDS, "checkpoint": CHECKPOINT, "alarm": ALARM, "pending": 32, **fields}
    names = tuple(f"x{k}" for k in range(14))
    wanted = Program(
        "Thicket", parameters, names, ("no", "yes"), [(0, 0)] * 14, None, b"", b"", fields
    )
    budget = budget_of(fitting(ProgramLibrary(wanted, board)))
    assert budget.fits
    assert budget.free_bytes - budget.ram_bytes >= left
    parameters = {**parameters, "bytes": 3 * parameters["bytes"]}
    larger = budget_of(ProgramLibrary(dataclasses.replace(wanted, parameters=parameters), board))
    assert larger.ram_bytes > budget.free_bytes - left


@pytest.mark.parametrize("command", ["build", "simulate"])
def test_without_room_for_any_size_the_message_says_what_fits(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--output", str(tmp_path / "program")] if command == "build" else []
    wanted = [*SOURCE[:-1], "nucleo_l476rg", *where]
    assert main([command, *wanted]) == 2
    err = capsys.readouterr().err
    assert "smallest thicket fits Nucleo-L476RG" in err
    assert "85,088 are free" in err
    assert "--model softmax" in err
    assert "--freeze" in err
    if command == "build":
        assert main([command, *wanted, "--model", "softmax"]) == 0
        assert main([command, *wanted, "--freeze"]) == 0


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["--spare-classes", "4"], id="spare classes"),
        pytest.param(["--label-budget", "10%", "--guarantee", "90%"], id="few labels"),
        pytest.param(["--spare-classes", "2", "--anomaly", "0.001"], id="two"),
    ],
)
def test_companions_and_sensors_have_room_next_to_the_default_size(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a sensor's recording and the default size, the program fits."""
    recording = tmp_path / "motion.csv"
    rows = [f"{k * 37 % 1000},{k * 11 % 777},{k % 300},{'abc'[k // 300 % 3]}" for k in range(1800)]
    recording.write_text("\n".join(["ax,ay,az,label", *rows, ""]))
    features = ["--features", "window=64", "hop=16", "rate=100"]
    sensor = ["--sensor", "mpu6050", "scl=1", "sda=0", "rate=100", "axes=3"]
    wanted = [str(recording), *features, "--board", "rpi_pico", *options]
    assert main(["build", *wanted, *sensor, "--output", str(tmp_path / "program")]) == 0
    assert "It fits" in capsys.readouterr().out
    budget = ["--board", "rpi_pico", "--features", "18", "--classes", "3", *options]
    assert main(["budget", *budget]) == 0


def test_companions_that_fit_anyway_do_not_change_the_size() -> None:
    board = board_files.load("rpi_pico2")
    shape = {"features": 14, "classes": 2, **defaults("thicket")}
    companions = (Guarantee(90).on_shape(2),)
    deployment = Deployment(shape, board, "Thicket")
    assert bytes_for(dataclasses.replace(deployment, companions=companions)) == bytes_for(
        deployment
    )


def test_without_room_for_companions_the_message_says_what_fits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The advice counts spare classes as classes of the learner."""
    wanted = [*SOURCE[:-1], "nucleo_l476rg", "--spare-classes", "2"]
    assert main(["build", *wanted, "--output", str(tmp_path / "program")]) == 2
    assert "smallest thicket fits" in capsys.readouterr().err


_BANDS = ["window=128", "hop=64", "rate=100", "bands=2-10,10-20,20-40", "low-pass=20"]


@pytest.mark.parametrize(
    ("name", "features"),
    [("nrf52840_dk", ["window=64"]), ("esp32s2", _BANDS), ("esp32c3", _BANDS)],
)
def test_features_of_a_recording_have_room_next_to_the_default_size(
    name: str,
    features: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    native_tools_for: Callable[[str], object],
) -> None:
    native_tools_for(board_files.load(name).arch)
    monkeypatch.chdir(tmp_path)
    assert main(["example", "gestures"]) == 0
    assert main(["simulate", "gestures.csv", "--features", *features, "--board", name]) == 0
    output = capsys.readouterr()
    assert "Fits the " in output.out
    assert "Note: --bytes " in output.err


def test_build_lowers_a_default_size_until_the_program_fits(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    native_tools_for: Callable[[str], object],
) -> None:
    native_tools_for(board_files.load("rpi_pico_w").arch)
    monkeypatch.chdir(tmp_path)
    Path("wifi.txt").write_text("password")
    Path("wifi.txt").chmod(0o600)
    assert main(["example", "gestures"]) == 0
    sensor = ["--sensor", "mpu6050", "scl=1", "sda=0", "axes=3"]
    network = ["--wifi", "Home", "--wifi-password-file", "wifi.txt", "--mqtt", "192.168.1.5"]
    wanted = ["build", "gestures.csv", "--board", "rpi_pico_w", "--name", "attic", *sensor]
    wanted += [*network, "--share", "movers"]
    assert main(wanted) == 0
    output = capsys.readouterr()
    assert "It fits" in output.out
    config = json.loads(Path("build/rpi_pico_w/config.json").read_text())
    chosen_size = config["parameters"]["bytes"]
    assert f"--bytes {chosen_size}, which Raspberry Pi Pico W has beside this" in output.err
    assert main([*wanted, "--bytes", str(chosen_size + 2048)]) == 2
    assert "does not fit" in capsys.readouterr().err

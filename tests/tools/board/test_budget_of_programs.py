"""The RAM that the commands print for a program is the RAM of the program that `build` makes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from budget_support import SHAPE, SMALL, STREAM, check_same, left

from microshrub_host.api.planning import budget
from microshrub_host.boards import board_files
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.program import usual_program
from microshrub_host.boards.program_budget import budget_of, fitting
from microshrub_host.boards.program_library import ProgramLibrary
from microshrub_host.boards.usual_budget import usual_budget
from microshrub_host.library.learners import MODELS, REGRESSORS, defaults, learner_name
from microshrub_tools.board.program_options import ProgramOptions
from microshrub_tools.cli.main import main

PICO, PICO_2_W = board_files.load("rpi_pico"), board_files.load("rpi_pico2_w")


@pytest.mark.parametrize(
    "options",
    [
        [*SMALL, "--anomaly", "0.01"],
        [*SMALL, "--spare-classes", "2"],
        ["--model", "shrub", "--feature-bits", "8", "--window", "300"],
    ],
)
def test_the_commands_agree_on_other_programs(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_same(options, tmp_path / "out", capsys)


def test_build_reports_its_additions_to_a_saved_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model's features are made of readings, so its program cannot do without a sensor."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{k % 7},{k % 5},{k % 3},{'walk' if k // 50 % 2 else 'rest'}" for k in range(800)]
    (tmp_path / "walk.csv").write_text("\n".join(["ax,ay,az,label", *rows, ""]))
    board = ["--board", "rpi_pico"]
    made = ["--features", "window=32", "hop=16", "rate=50", "--save", "walk.mshrub", *SMALL]
    assert main(["simulate", "walk.csv", *made, *board]) == 0
    simulated = left(capsys.readouterr().out)
    build = ["build", "--model", "walk.mshrub", *board, "--sensor"]
    assert main([*build, "adc", "pins=26,27,28", "rate=50"]) == 0
    output = capsys.readouterr().out
    assert left(output) == simulated
    assert "`simulate` counts" not in output
    motion = ["mpu6050", "scl=1", "sda=0", "rate=50", "axes=3"]
    assert main([*build, *motion, "--label-pin", "15", "pressed=walk", "released=rest"]) == 0
    output = capsys.readouterr().out
    more = re.search(r"`simulate` counts ([\d,]+) bytes less: .* --sensor, --label-pin", output)
    assert more, output
    assert left(output) + int(more[1].replace(",", "")) == simulated


def test_a_saved_model_with_spare_classes_is_built_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A companion's states, which a program without training does not have, are counted."""
    model, board = str(tmp_path / "spare.mshrub"), ["--board", "rpi_pico"]
    spare = ["--spare-classes", "2", "--save", model]
    assert main(["simulate", *STREAM, *SMALL, *spare, *board]) == 0
    simulated = left(capsys.readouterr().out)
    assert main(["build", "--model", model, *board, "--output", str(tmp_path / "out")]) == 0
    output = capsys.readouterr().out
    less = re.search(r"`simulate` counts ([\d,]+) bytes less", output)
    assert left(output) + int(less[1] if less else 0) == simulated


def test_a_board_that_shares_over_mqtt_takes_the_reported_ram(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """This also holds for the default size, where code is in flash and the heap is nearly full."""
    broker = ["--mqtt", "192.168.1.5", "--name", "kitchen", "--share", "rooms", "classes=all"]
    build = ["build", *STREAM, "--output", str(tmp_path / "out"), "--board"]
    results = []
    for words in (
        ["budget", *SHAPE, "--mqtt", "--board", "rpi_pico2_w"],
        ["budget", *SHAPE, "--mqtt", "--share", "--board", "rpi_pico2_w"],
        [*build, "rpi_pico2_w", *broker],
    ):
        assert main(words) == 0
        results.append(PICO_2_W.heap_free_bytes - left(capsys.readouterr().out))
    assert results[1] == pytest.approx(results[2], rel=0.01)
    assert results[1] - results[0] > 30_000
    assert main([*build, "esp32", *broker, "--freeze"]) == 0
    assert "--bytes" in capsys.readouterr().err


def test_a_board_that_shares_by_packets_takes_the_reported_ram(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = ["build", *STREAM, "--output", str(tmp_path / "out"), "--name", "kitchen"]
    for board, by in (("rpi_pico2_w", "udp"), ("esp32s3_n8r8", "espnow")):
        free = board_files.load(board).heap_free_bytes
        results = []
        for words in (
            ["budget", *SHAPE, "--share", f"--{by}"],
            [*build, "--share", "rooms", "classes=all", f"by={by}"],
        ):
            assert main([*words, "--board", board, "--bytes", "16384"]) == 0
            results.append(free - left(capsys.readouterr().out))
        assert results[0] == pytest.approx(results[1], rel=0.01)


def test_sharing_needs_a_broker_and_a_thicket(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["budget", *SHAPE, "--board", "rpi_pico_w", "--share"]
    for more, code, message in (
        ([], 2, "--share needs --mqtt"),
        (["--espnow"], 2, "ESP-NOW needs an ESP32"),
        (["--udp", "--espnow"], 2, "is for --share"),
        (["--mqtt", "--own-program"], 2, "leave --own-program out"),
        (["--mqtt", "--model", "softmax"], 2, "only a thicket keeps samples"),
        (
            ["--mqtt", "--emit", "viper"],
            1,
            "With the library in the firmware, `build --freeze`, it fits as it is.",
        ),
    ):
        assert main([*words, *more]) == code
        captured = capsys.readouterr()
        assert message in " ".join((captured.out + captured.err).split())
        assert "--model" not in captured.out  # no other model could share


def test_fixed_ranges_take_less(capsys: pytest.CaptureFixture[str]) -> None:
    """With `--warmup`, `simulate` counts the program that `build --warmup` makes."""
    wanted = {**defaults("thicket"), "features": 10, "classes": 5, "bytes": 16_384}
    exact = usual_program(Deployment(wanted, PICO, "Thicket", fixed_ranges=True))
    words = ["simulate", *STREAM, "--bytes", "16384", "--warmup", "64", "--board", "rpi_pico"]
    assert main(words) == 0
    taken = PICO.heap_free_bytes - left(capsys.readouterr().out)
    assert taken == pytest.approx(budget_of(ProgramLibrary(exact, PICO)).ram_bytes, rel=0.01)
    assert taken < usual_budget(Deployment(wanted, PICO, "Thicket")).ram_bytes - 1024


@pytest.mark.parametrize("model", [*MODELS, *REGRESSORS])
def test_the_code_of_a_typical_size_holds_for_any_size(model: str) -> None:
    learner = learner_name(model)
    for features, classes in ((3, 2), (60, 12)) if model == "thicket" else ((60, 12),):
        shape = {"features": features} | ({"classes": classes} if model in MODELS else {})
        wanted = {**defaults(model), **shape}
        deployment = Deployment(wanted, PICO, learner)
        exact = budget_of(fitting(ProgramLibrary(usual_program(deployment), PICO)))
        assert usual_budget(deployment).ram_bytes == pytest.approx(exact.ram_bytes, rel=0.01)


def test_the_usual_program_is_the_program_that_build_makes() -> None:
    wanted = usual_program(Deployment({"features": 2, "classes": 2}, PICO, "ShrubEnsemble")).config
    made = ProgramOptions().config(PICO, (), ("no", "yes"))
    for config in (wanted, made):
        config["checkpoint"]["seconds"] = 0
    assert wanted == made


def test_the_budget_of_an_own_program_has_a_part_for_each_module(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["budget", *SHAPE, *SMALL, "--json", "-", "--own-program"]
    assert main(words) == 0
    result = json.loads(capsys.readouterr().out)
    assert {"shrub.window", "learner"} <= result["code"].keys()
    same = budget(
        "shrub", "rpi_pico", features=10, classes=5, window=16, trees=4, own_program=True
    )
    assert same.ram_bytes == result["ram_bytes"]
    assert main([*words, "--board", "rpi_pico_w", "--tcp"]) == 2
    assert "leave --own-program out" in capsys.readouterr().err

"""`budget`, `simulate --board` and `build` tell the same RAM of the same program."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from microshrub_host.api.planning import budget
from microshrub_host.boards import board_files
from microshrub_host.boards.program import usual_program
from microshrub_host.boards.program_budget import budget_of, fitting
from microshrub_host.boards.program_library import ProgramLibrary
from microshrub_host.boards.usual_budget import usual_budget
from microshrub_host.library.learners import MODELS, REGRESSORS, defaults, kind_of
from microshrub_tools.board.program_options import ProgramOptions
from microshrub_tools.cli.main import main

PICO, PICO_2_W = board_files.load("rpi_pico"), board_files.load("rpi_pico2_w")
STREAM = ["synth:rbf_m", "--limit", "300"]  # of ten features and four classes
SHAPE = ["--features", "10", "--classes", "5"]
SMALL = ["--model", "shrub", "--window", "16", "--trees", "4"]


def left(said: str) -> int:
    """What is left to the user's own program, as a command says."""
    found = re.search(r"It fits: ([\d,]+) bytes are left", said)
    assert found, said
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize(
    "options",
    [
        [],
        SMALL,
        [*SMALL, "--anomaly", "0.01"],
        [*SMALL, "--label-budget", "10%", "--guarantee", "90%"],
        [*SMALL, "--spare-classes", "2"],
        ["--model", "shrub", "--feature-bits", "8", "--window", "300"],
    ],
)
def test_the_commands_tell_the_same(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = ["--board", "rpi_pico", *options]
    found = []
    for words in (
        ["budget", *SHAPE],
        ["simulate", *STREAM],
        ["build", *STREAM, "--output", str(tmp_path / "out")],
    ):
        assert main([*words, *board]) == 0
        found.append(PICO.heap_free_bytes - left(capsys.readouterr().out))
    assert found[0] == pytest.approx(found[2], rel=0.01)
    assert found[1] == pytest.approx(found[2], rel=0.01)


def test_a_board_that_shares_by_itself_takes_what_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where nobody has chosen a size: the code is in flash there, the heap nearly full."""
    broker = ["--mqtt", "192.168.1.5", "--name", "kitchen", "--share", "rooms", "classes=all"]
    build = ["build", *STREAM, "--output", str(tmp_path / "out"), "--board"]
    found = []
    for words in (
        ["budget", *SHAPE, "--mqtt", "--board", "rpi_pico2_w"],
        ["budget", *SHAPE, "--mqtt", "--share", "--board", "rpi_pico2_w"],
        [*build, "rpi_pico2_w", *broker],
    ):
        assert main(words) == 0
        found.append(PICO_2_W.heap_free_bytes - left(capsys.readouterr().out))
    assert found[1] == pytest.approx(found[2], rel=0.01)
    assert found[1] - found[0] > 30_000
    assert main([*build, "esp32", *broker, "--freeze"]) == 0
    assert "--bytes" in capsys.readouterr().err


def test_a_board_that_shares_by_packets_takes_what_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = ["build", *STREAM, "--output", str(tmp_path / "out"), "--name", "kitchen"]
    for board, by in (("rpi_pico2_w", "udp"), ("esp32s3_n8r8", "espnow")):
        free = board_files.load(board).heap_free_bytes
        found = []
        for words in (
            ["budget", *SHAPE, "--share", f"--{by}"],
            [*build, "--share", "rooms", "classes=all", f"by={by}"],
        ):
            assert main([*words, "--board", board]) == 0
            found.append(free - left(capsys.readouterr().out))
        assert found[0] == pytest.approx(found[1], rel=0.01)


def test_sharing_needs_a_broker_and_a_thicket(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["budget", *SHAPE, "--board", "rpi_pico_w", "--share"]
    for more, code, said in (
        ([], 2, "--share needs --mqtt"),
        (["--espnow"], 2, "ESP-NOW needs an ESP32"),
        (["--udp", "--espnow"], 2, "is for --share"),
        (["--mqtt", "--own-program"], 2, "leave --own-program out"),
        (["--mqtt", "--model", "softmax"], 2, "only a thicket keeps samples"),
        (["--mqtt"], 1, "With the library in the firmware, `build --freeze`, it fits as it is."),
    ):
        assert main([*words, *more]) == code
        found = capsys.readouterr()
        assert said in " ".join((found.out + found.err).split())
        assert "--model" not in found.out  # no other one could share


def test_ranges_that_do_not_grow_take_less(capsys: pytest.CaptureFixture[str]) -> None:
    """With `--warmup`, `simulate` counts the program that `build` makes with it."""
    wanted = {**defaults("thicket"), "features": 10, "classes": 5, "bytes": 16_384}
    exact = usual_program("Thicket", wanted, frozen=True)
    words = ["simulate", *STREAM, "--bytes", "16384", "--warmup", "64", "--board", "rpi_pico"]
    assert main(words) == 0
    found = PICO.heap_free_bytes - left(capsys.readouterr().out)
    assert found == pytest.approx(budget_of(ProgramLibrary(exact, PICO)).ram_bytes, rel=0.01)
    assert found < usual_budget(wanted, PICO, "Thicket").ram_bytes - 4096


@pytest.mark.parametrize("model", [*MODELS, *REGRESSORS])
def test_the_code_of_a_typical_size_is_that_of_any(model: str) -> None:
    kind = kind_of(model)
    for features, classes in ((3, 2), (60, 12)):
        shape = {"features": features} | ({"classes": classes} if model in MODELS else {})
        wanted = {**defaults(model), **shape}
        exact = budget_of(fitting(ProgramLibrary(usual_program(kind, wanted), PICO)))
        assert usual_budget(wanted, PICO, kind).ram_bytes == pytest.approx(
            exact.ram_bytes, rel=0.01
        )


def test_what_is_usual_is_what_build_makes() -> None:
    wanted = usual_program("ShrubEnsemble", {"features": 2, "classes": 2}).around
    made = ProgramOptions().config(PICO, (), ("no", "yes"))
    for around in (wanted, made):
        around["checkpoint"]["seconds"] = 0
    assert wanted == made


def test_a_program_of_ones_own_has_a_part_for_each_module(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["budget", *SHAPE, *SMALL, "--json", "-", "--own-program"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"shrub.window", "learner"} <= found["code"].keys()
    same = budget(
        "shrub", "rpi_pico", features=10, classes=5, window=16, trees=4, own_program=True
    )
    assert same.ram_bytes == found["ram_bytes"]
    assert main([*words, "--board", "rpi_pico_w", "--tcp"]) == 2
    assert "leave --own-program out" in capsys.readouterr().err

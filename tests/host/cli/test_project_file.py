"""microshrub.toml: the defaults of commands' options; unknown keys are refused."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

import pytest
from pages_support import commands
from tests_support import ROOT

from microshrub_host.cli.project_file import COMMANDS, KEYS, NAME
from microshrub_host.streams.worlds.projects import project_text, projects
from microshrub_tools.cli.main import main, parser

PROJECT = """\
board = "rpi_pico"
data = "walk.csv"
model = "walk.mshrub"
sensor = ["bh1750 scl=1 sda=0 rate=1/300", "scd41 scl=1 sda=0 rate=1/300"]
features = "window=64 hop=16 rate=100"
columns = ["ax", "the y axis"]
label-pin = "15 pressed=walk released="

[simulate]
shuffle = 3
details = true
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(text: str) -> None:
    Path(NAME).write_text(text, encoding="utf-8")


def parsed(line: str) -> argparse.Namespace:
    return parser().parse_args(shlex.split(line))


def settings(line: str) -> dict[str, Any]:
    return {name: value for name, value in vars(parsed(line)).items() if name != "run"}


def test_a_projects_values_act_like_typed_options(capsys: pytest.CaptureFixture[str]) -> None:
    reading = "walk.csv --features window=64 hop=16 rate=100 --columns ax 'the y axis'"
    sensor = "--sensor bh1750 scl=1 sda=0 rate=1/300 --sensor scd41 scl=1 sda=0 rate=1/300"
    typed = {
        "simulate": f"{reading} --board rpi_pico --save walk.mshrub --shuffle 3 --details",
        "tune": f"{reading} --board rpi_pico",
        "build": f"--board rpi_pico --model walk.mshrub {sensor} "
        "--label-pin 15 pressed=walk released=",
        "flash": "--board rpi_pico",
        "record": "-o walk.csv",
        "stream": reading,
        "device": "--sensor walk.csv --columns ax 'the y axis'",
        "monitor": "",
    }
    assert {*typed} == {*COMMANDS}
    wanted = {command: settings(f"{command} {words}") for command, words in typed.items()}
    put(PROJECT)
    for command in COMMANDS:
        assert settings(command) == wanted[command]
    assert "--features window=64 hop=16 rate=100" in capsys.readouterr().err, "it says so"


def test_typed_options_win() -> None:
    put(PROJECT)
    assert parsed("simulate --board esp32").board == "esp32"
    assert parsed("simulate --boar esp32").board == "esp32"
    assert parsed("build --sensor adc pins=26,27").sensor == [["adc", "pins=26,27"]]
    dropped = parsed("simulate --drop az")
    assert (dropped.columns, dropped.drop) == (None, ["az"])
    assert parsed("simulate --features").features == []
    assert parsed("flash other").board == "rpi_pico"
    assert parsed("simulate --shuffle 4").shuffle == 4


def test_another_recording_does_not_overwrite_the_model() -> None:
    put(PROJECT)
    other = parsed("simulate tuesday.csv")
    assert (other.data, other.save, other.features) == ("tuesday.csv", None, [
        "window=64", "hop=16", "rate=100",
    ])  # fmt: skip
    Path("walk.mshrub").touch()
    met = parsed("simulate --model walk.mshrub")
    assert (met.data, met.save, met.features, met.board) == ("walk.csv", None, None, None)
    fresh = parsed("build tuesday.csv")
    assert (fresh.data, fresh.model, fresh.columns) == (
        "tuesday.csv", "thicket", ["ax", "the y axis"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('bord = "x"', ("bord", "Did you mean board?")),
        ("[biuld]\nx = 1", ("biuld", "[build]")),
        ('[simulate]\nplto = "x.png"', ("[simulate]", "plto", "Did you mean plot?")),
        ("board = 3.5\n[board.x]\n", (NAME,)),
        ('simulate = "x"', ("simulate", "section")),
        ("[features]\nwindow = 64", ("features", "section")),
        ("board = [1]", ("board", "text")),
        ("[simulate]\ndetails = 1", ("details", "true or false")),
        ("[simulate]\nwarmup = 'x'", ("warmup", "whole number")),
        ("board = ", (NAME,)),
        ("horizon = 'far'", ("horizon", "whole number")),
    ],
)
def test_wrong_keys_and_values_are_named(
    text: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    put(text)
    with pytest.raises(SystemExit) as ended:
        parsed("simulate x.csv")
    assert ended.value.code == 2
    err = capsys.readouterr().err
    for word in (NAME, *words):
        assert word in err


def test_every_key_is_an_option_of_its_commands() -> None:
    others = ("label-keys", "learner", "model", "label-from")
    put("".join(f'{key} = "1"\n' for key in KEYS if key not in others) + 'label-from = "name"\n')
    for command in COMMANDS:
        parsed(command)


def test_several_files_are_data() -> None:
    put('data = ["fist.csv", "rest.csv"]\n')
    assert parsed("simulate").data == ("fist.csv", "rest.csv")


@pytest.mark.parametrize("name", projects())
def test_an_examples_project_equals_its_pages_commands(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's simulate, build, device and flash have the options of the example's project."""
    page = commands(ROOT / "examples" / name / "README.md")
    typed = {}
    for command in reversed(page):  # the first command of each name
        if command.startswith("microshrub "):
            words = command.removeprefix("microshrub ")
            typed[words.split()[0]] = words
    wanted = {command: settings(typed[command]) for command in typed if command in COMMANDS}
    put(project_text(name))
    for command in ("simulate", "build", "device", "flash"):
        assert settings(command) == wanted[command]


def test_a_project_can_be_written_from_options(capsys: pytest.CaptureFixture[str]) -> None:
    sensor = "mpu6050 scl=1 sda=0 rate=100 axes=3"
    words = ["--board", "rpi_pico", "--sensor", sensor, "--features", "window=64 hop=16"]
    assert main(["init", *words, "--data", "walk.csv"]) == 0
    assert parsed("simulate").features == ["window=64", "hop=16", "rate=100"]
    assert parsed("build").sensor == [sensor.split()]
    assert main(["init", *words]) == 2
    assert "--force" in capsys.readouterr().err


def test_a_project_takes_the_words_that_build_takes() -> None:
    sensors = ["--sensor", "mpu6050", "scl=1", "sda=0", "axes=3", "--sensor", "adc", "pins=26"]
    words = [*sensors, "--features", "window=64", "hop=16", "--label-pin", "15", "pressed=goes up",
        "released="]  # fmt: skip
    assert main(["init", "--board", "rpi_pico", *words]) == 0
    build = parsed("build")
    assert build.sensor == [["mpu6050", "scl=1", "sda=0", "axes=3"], ["adc", "pins=26"]]
    assert parsed("simulate").features == ["window=64", "hop=16", "rate=100"]
    assert build.label_pin == ["15", "pressed=goes up", "released="]
    assert main(["init", "--board", "rpi_pico", *sensors, "--features", "--force"]) == 0
    assert parsed("simulate").features == ["rate=100"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--board"),
        (("--board", "rpi_pico"), "--sensor"),
        (("--board", "rpi_pica", "--sensor", "serial"), "Did you mean rpi_pico?"),
        (("--board", "rpi_pico", "--sensor", "adc pin=26"), "pins"),
        (("--board", "rpi_pico", "--sensor", "serial", "--label-pin", "15 presed=x"), "pressed"),
        (("--example", "gesture"), "Did you mean gestures?"),
        (("--example", "fan", "--board", "esp32"), "--board"),
    ],
)
def test_options_that_cannot_be_written_are_refused(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", *words]) == 2
    assert message in capsys.readouterr().err
    assert not Path(NAME).exists()


def test_run_stops_at_the_first_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run"]) == 2
    assert "There is no microshrub.toml" in capsys.readouterr().err
    put("# nothing yet\n")
    assert main(["run"]) == 2
    assert "microshrub.toml is empty: `microshrub init --force`" in capsys.readouterr().err
    put(PROJECT)
    assert main(["run"]) == 2
    captured = capsys.readouterr()
    assert "simulate" in captured.err
    assert "walk.csv" in captured.err
    assert "microshrub build" not in captured.out

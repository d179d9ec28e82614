"""The first impression: a greeting, help that fits a screen,
errors that suggest the right word.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from microshrub_host.cli.plain_parser import CommandParser
from microshrub_tools.cli.main import COMMANDS, GROUPS, main

WIDTH, HEIGHT = 80, 24
NAMES = [command.name for command in COMMANDS]


def output_of(capsys: pytest.CaptureFixture[str], *words: str | Path, code: int = 0) -> str:
    try:
        exit_code = main([str(word) for word in words])
    except SystemExit as stop:
        exit_code = int(stop.code or 0)
    assert exit_code == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def test_the_bare_command_lists_the_main_commands_in_the_order_of_use(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = output_of(capsys)
    first = re.findall(r"^ {4}(\S+)", output, re.MULTILINE)
    assert first == ["init", "record", "look", "simulate", "tune", "build", "flash", "monitor",
                     "run"]  # fmt: skip
    assert output_of(capsys, "--help") == output
    assert len(output.splitlines()) <= HEIGHT
    assert "microshrub demo" in output
    developers = [command.name for command in list(GROUPS.values())[-1]]
    assert "dev" in developers
    assert not {*developers} & {*re.findall(r"[a-z-]+", output)}
    everything = output_of(capsys, "--help-all")
    assert set(re.findall(r"^ {4}(\S+)", everything, re.MULTILINE)) == {*NAMES}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "benchmark"])
def test_help_fits_a_screen(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    lines = output_of(capsys, name, "--help").splitlines()
    assert len(lines) <= HEIGHT
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.parametrize("name", NAMES)
def test_the_first_options_exist_and_all_are_in_help_all(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = CommandParser(module=next(c.module for c in COMMANDS if c.name == name))
    command.fill()
    short = output_of(capsys, name, "--help")
    everything = output_of(capsys, name, "--help-all")
    for option in command.first:
        assert re.search(rf"(?<![\w-]){option}\b", short), option
        assert re.search(rf"(?<![\w-]){option}\b", everything), option
    assert len(command.first) <= 15


def test_a_learners_options_are_shown_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    output = output_of(capsys, "simulate", "--help", "hoeffding")
    assert "--grace-period" in output
    assert "--window" not in output
    assert "--grace-period" not in output_of(capsys, "simulate", "--help")
    assert "--grace-period" in output_of(capsys, "simulate", "--help-all")
    wrong = output_of(capsys, "build", "--help", "hoefding", code=2)
    assert "Did you mean hoeffding?" in wrong
    assert "--boost, --no-boost " in output


MISTAKES = {
    "command": (["simulat"], "Did you mean simulate?"),
    "a learner's file": (["check-learner", "mine.py:Mine"], "there is no file mine.py"),
    "a learner's class": (["check-learner", "Mine"], "'Mine' has to be FILE.py:CLASS"),
    "command of a command": (["mqtt"], "COMMAND is missing: forget"),
    "the help": (["help"], "Did you mean --help?"),
    "option of all": (["--verson"], "no option --verson. Did you mean --version?"),
    "sensor": (
        ["build", "x.csv", "--board", "esp32", "--sensor", "mpu605"],
        "Did you mean mpu6050?",
    ),
    "sensor's setting": (
        ["build", "x.csv", "--board", "esp32", "--sensor", "mpu6050", "slc=1", "sda=2"],
        "Did you mean scl?",
    ),
    "option": (["simulate", "x.csv", "--bord", "rpi_pico"], "Did you mean --board?"),
    "learner": (["simulate", "x.csv", "--model", "thicke"], "Did you mean thicket?"),
    "learner or file": (["build", "--board", "esp32", "--model", "shrb"], "Did you mean shrub?"),
    "learner's option": (["simulate", "x.csv", "--tres", "3"], "Did you mean --trees?"),
    "value": (["build", "x.csv", "--board", "esp32", "--emit", "vipr"], "Did you mean viper?"),
    "board": (["simulate", "x.csv", "--board", "rpi_pcio"], "Did you mean rpi_pico?"),
    "benchmark": (["benchmark", "tech"], "Did you mean teach?"),
    "nothing to read": (["simulate"], "DATA is missing: a CSV"),
    "what is required": (["build", "x.csv"], "--board is missing"),
    "too much": (["show", "x.csv", "y.csv"], "no place for 'y.csv'"),
    "setting": (
        ["simulate", "x.csv", "--model", "shrub", "window=16"],
        "no place for 'window=16' here. Did you mean --window 16?",
    ),
    "no value": (
        ["build", "x.csv", "--board", "esp32", "--mqtt"],
        "--mqtt needs HOST[:PORT]: the",
    ),
    "no value of several": (["simulate", "x.csv", "--anomaly"], "--anomaly needs RATE: alert"),
    "kilobytes": (["simulate", "x.csv", "--bytes", "16k"], "Did you mean 16384?"),
    "no number": (["simulate", "x.csv", "--limit", "many"], "--limit: "),
}


@pytest.mark.parametrize(("words", "meant"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_reported_in_at_most_two_lines(
    words: list[str], meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("a,b,state\n" + "1,2,on\n3,4,off\n" * 50)
    output = output_of(capsys, *words, code=2)
    assert meant in output
    assert len(output.splitlines()) <= 2
    assert "usage:" not in output
    assert output.startswith("microshrub")


def test_an_error_suggests_the_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "x.csv"
    data.write_text("a,b,state\n" + "1,2,on\n3,4,off\n" * 50)
    for option in ("--label", "--drop", "--columns", "--target"):
        output = output_of(capsys, "simulate", data, option, "stte", code=2)
        assert "Did you mean state?" in output, option
        assert len([line for line in output.splitlines() if "microshrub" in line]) == 1

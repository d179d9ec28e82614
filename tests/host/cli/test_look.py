"""`microshrub look`: the content of a file on one screen, and a next command that works."""

from __future__ import annotations

import json
import math
import random
import re
import shlex
from pathlib import Path

import pytest
from file_cases import FILE_CASES

from microshrub_host.base.errors import DataError
from microshrub_host.reports.recording_report import curve
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream
from microshrub_host.streams.survey import ColumnSurvey
from microshrub_tools.cli.main import main

IMU = "time_ms,ax (m/s2),id,label\n" + "".join(
    f"{20 * i + (5000 if i > 99 else 0)},{i % 7 / 4},{i},{'walk' if i // 20 % 2 else 'rest'}\n"
    for i in range(200)
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


def opened(name: str) -> tuple[Stream | None, str]:
    """Return the stream that `simulate` opens from a file,
    and the error if it refuses the file.
    """
    try:
        return open_stream(name), ""
    except DataError as error:
        return None, str(error)


def command(text: str) -> list[str]:
    """Return the words of the suggested command; empty if there is none."""
    match = re.search(r"^Go on with: microshrub (.*)$", text, re.MULTILINE)
    return shlex.split(match[1]) if match else []


def test_a_recording_is_described_on_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    Path("imu.csv").write_text(IMU)
    assert main(["look", "imu.csv", "--html", "imu.html"]) == 0
    output = capsys.readouterr().out
    lines = output.splitlines()
    assert "200 rows, 4 columns" in lines[0]
    assert len(lines) < 24
    for words in ("clock", "50 rows a second", "1 gap", "walk 100 in 5 runs", "to be dropped"):
        assert words in output
    words = ["--features", "window=8", "hop=2"]  # as the runs have 20 readings
    assert command(output) == ["simulate", "imu.csv", "--drop", "id", *words]
    assert main(command(output)) == 0
    page = Path("imu.html").read_text()
    assert "<svg" in page
    assert "to be dropped" in page


def test_a_problem_comes_with_a_command_that_solves_it(capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"s{i},{i % 7},k|{i},{'ab'[i % 2]}\n" for i in range(60))
    Path("t.csv").write_text("s,x,t,y\n" + rows)
    assert main(["look", "t.csv"]) == 1
    words = command(capsys.readouterr().out)
    assert words[:3] == ["simulate", "t.csv", "--drop"]
    assert main(words) == 0


def test_several_files_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("fist_1", "rest_1"):
        Path(f"{name}.csv").write_text("x,z\n" + "".join(f"{i % 9},{i % 40}\n" for i in range(40)))
    assert main(["look", "."]) == 0
    output = capsys.readouterr().out
    assert "fist 40 in 1 run, rest 40 in 1 run" in output
    assert command(output) == ["simulate", "."]


@pytest.mark.parametrize(("rows", "words"), [(240, []), (40, ["window=16", "hop=4"])])
def test_readings_are_learned_in_windows(
    rows: int, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The command that `look` suggests for a folder of recordings without times suits their
    length, and has a good accuracy on classes that no single reading shows.
    """
    draw = random.Random(3)
    Path("raw").mkdir()
    for take in range(6):
        for name, step in (("fast", 1.3), ("slow", 0.2)):
            phase = draw.random() * 6
            lines = [f"{math.sin(phase + step * i) + draw.gauss(0, 0.1):.3f},{draw.random():.3f}"
                     for i in range(rows)]  # fmt: skip
            Path(f"raw/{name}_{take}.csv").write_text("ax,ay\n" + "\n".join(lines) + "\n")
    assert main(["look", "raw"]) == 0
    assert command(capsys.readouterr().out) == ["simulate", "raw", "--features", *words]
    assert on_unseen(["simulate", "raw", "--features", *words]) > 90
    if not words:
        assert on_unseen(["simulate", "raw"]) < 80


def on_unseen(words: list[str]) -> float:
    assert main([*words, "--json", "found.json", "--force"]) == 0
    return float(json.loads(Path("found.json").read_text())["accuracy_on_unseen_data"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t,y\n" + "".join(f"{i % 7},{i * 37 % 101 / 8}\n" for i in range(90)), ["--target", "y"]),
        ("".join(f"{i % 7}.5,{i % 5},{'ab'[i % 2]}\n" for i in range(40)), []),
        ("".join(f"{400 + i % 30}\t07/12/2022 17:{i:02}\n" for i in range(40)),
         ["--target", "c1", "--horizon", "1"]),
    ],
)  # fmt: skip
def test_the_command_suits_the_file(
    text: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The files have a class that is a measurement, no header, or a single column of numbers."""
    Path("t.csv").write_text(text)
    main(["look", "t.csv"])
    assert command(capsys.readouterr().out) == ["simulate", "t.csv", *words]
    assert main(["simulate", "t.csv", *words]) == 0


def test_a_copy_is_a_plain_file_of_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """The copy has no dates, and the class last; an existing file is not overwritten."""
    text = "label;Datum;x;2\n" + "".join(
        f"{'ab'[i % 2]};01.02.2026 10:{i:02};{i % 7},5;{i}\n" for i in range(40)
    )
    Path("t.csv").write_text(text)
    words = ["look", "t.csv", "--label", "label", "--csv", "copy.csv"]
    assert main(words) == 0
    lines = Path("copy.csv").read_text().splitlines()
    assert lines[:3] == ["x,2,label", "0.5,0,a", "1.5,1,b"]
    assert len(lines) == 41
    assert main(words) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["synth:sea_a", "-"])
def test_a_source_that_is_not_a_file_is_refused(source: str) -> None:
    assert main(["look", source]) == 2


def test_look_agrees_with_simulate_on_each_kind_of_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`look` prints the error with which a file is refused, or the number of its rows."""
    for case in FILE_CASES:
        Path(case.name).write_bytes(case.data)
        code = main(["look", case.name])
        out, err = capsys.readouterr()
        text = " ".join((out + err).split())
        stream, fault = opened(case.name)
        assert bool(code) == bool(fault), case.what
        assert " ".join(fault.split())[:60] in text, case.what
        assert not stream or f"{stream.samples:,} row" in text, case.what


def test_a_curve_has_the_shape_of_the_numbers() -> None:
    column = ColumnSurvey("x")
    for i in range(10_000):
        column.take(str(i))
    assert len(column.points) < 2048
    drawn = curve(column, "01234567")
    assert (drawn[0], drawn[-1]) == ("0", "7")
    assert sorted(drawn) == list(drawn)
    assert (column.numbers, column.low, column.high) == (10_000, 0, 9999)

"""The first two commands of a newcomer: a recording without a sensor, and the demo."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

import pytest

from microshrub_host.streams.worlds.table import worlds
from microshrub_tools.cli.main import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", worlds())
def test_a_recording_is_the_same_every_time_and_as_a_sensor_gives_it(name: str) -> None:
    assert main(["example", name]) == 0
    first = Path(f"{name}.csv").read_bytes()
    assert main(["example", name, "-o", "again.csv"]) == 0
    assert Path("again.csv").read_bytes() == first
    assert main(["example", name, "-o", "other.csv", "--seed", "2"]) == 0
    assert Path("other.csv").read_bytes() != first
    rows = list(csv.DictReader(first.decode().splitlines()))
    readings = [value for row in rows for key, value in row.items() if key != "label"]
    assert all(-(1 << 15) <= int(value) < 1 << 16 for value in readings)
    if worlds()[name].labelled:
        assert len({row["label"] for row in rows}) >= 2


def test_a_file_that_is_there_stays(capsys: pytest.CaptureFixture[str]) -> None:
    mine = Path("gestures.csv")
    mine.write_text("mine\n")
    assert main(["example", "gestures"]) == 2
    assert main(["demo"]) == 2
    assert mine.read_text() == "mine\n"
    assert "--force" in capsys.readouterr().err
    assert main(["example", "gestures", "--force"]) == 0
    assert main(["example", "gestures"]) == 0, "its own file is no other"


def test_the_examples_are_listed_and_a_wrong_name_is_mended(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["example"]) == 0
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines()] == list(worlds())
    assert main(["example", "gesture"]) == 2
    assert "Did you mean gestures?" in capsys.readouterr().err


def test_the_demo_ends_in_what_counts_and_its_commands_do_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo"]) == 0
    said = capsys.readouterr().out
    assert "does not beat" not in said
    assert "This is what counts" in said
    assert Path("demo.png").read_bytes().startswith(b"\x89PNG")
    commands = [shlex.split(line[2:]) for line in said.splitlines() if line.startswith("$ ")]
    Path("gestures.csv").unlink()
    for command in commands:
        assert command[0] == "microshrub"
        assert main(command[1:]) == 0
    crc = [line for line in said.splitlines() if "state CRC32" in line]
    assert crc
    assert crc[0] in capsys.readouterr().out

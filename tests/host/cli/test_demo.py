"""A new user's first two commands: a recording without a sensor, and the demo."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from microshrub_host.streams.worlds.table import worlds
from microshrub_tools.cli.main import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", worlds())
def test_an_example_is_the_same_each_time_and_has_a_sensors_values(name: str) -> None:
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


def test_an_existing_file_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    mine = Path("gestures.csv")
    mine.write_text("mine\n")
    assert main(["example", "gestures"]) == 2
    assert mine.read_text() == "mine\n"
    assert "--force" in capsys.readouterr().err
    assert main(["example", "gestures", "--force"]) == 0
    assert main(["example", "gestures"]) == 0, "its own file is no other"


def test_the_examples_are_listed_and_a_wrong_name_gets_a_suggestion(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["example"]) == 0
    output = capsys.readouterr().out
    assert [line.split()[0] for line in output.splitlines()] == list(worlds())
    assert main(["example", "gesture"]) == 2
    assert "Did you mean gestures?" in capsys.readouterr().err


def test_the_demo_trains_a_board_twice(capsys: pytest.CaptureFixture[str]) -> None:
    """The demo's figures are for unlabelled data;
    only the board that learns recovers from a change.
    """
    assert main(["demo", "--seeds", "2"]) == 0
    output = capsys.readouterr().out
    rows = [line.rsplit("%", 4) for line in output.splitlines() if line.startswith("  ")]
    shares = {cells[0].split()[0]: re.findall(r"(\d+) \(", " ".join(cells)) for cells in rows[1:]}
    taught, turned, again, back = (list(map(int, shares[name])) for name in (
        "taught", "sensor", "again", "turned",
    ))  # fmt: skip
    ours, frozen = range(2)
    assert taught[ours] == taught[frozen] > 80
    assert turned[ours] == turned[frozen] < taught[ours] - 10
    assert again[ours] > turned[ours] + 10
    assert again[ours] > again[frozen] + 10
    assert back[ours] > 80, "what it knew before is not forgotten"
    first = re.search(r"alone: right in (\d+) %", output)
    assert first
    assert int(first[1]) == taught[ours]
    assert "Fits the Raspberry Pi Pico" in output
    picture = ElementTree.parse("demo.svg").getroot()
    assert picture.tag.endswith("svg")
    texts = " ".join(each.text or "" for each in picture.iter())
    assert "microshrub: " in texts
    assert "frozen model: " in texts


def test_another_picture_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    mine = Path("demo.svg")
    mine.write_text("mine")
    assert main(["demo"]) == 2
    assert mine.read_text() == "mine"
    assert "demo.svg" in capsys.readouterr().err

"""`benchmark field`: its tables summarise the cells; and a small real run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from microshrub_host.streams.open_stream import open_stream
from microshrub_research.benchmarks.field import Score, markdown
from microshrub_research.compare.comparison_runner import Cell
from microshrub_research.compare.field_set import thicket
from microshrub_tools.cli.main import main


def score(*accuracies: float | None) -> Score:
    cells = [
        Cell("s", "n", "ours", "thicket", {}, "" if a is not None else "crashed", 100, accuracy=a)
        for a in accuracies
    ]
    return Score(cells)


def table(text: str, title: str) -> dict[str, list[str]]:
    """Return the rows of the table below a heading, by their first cells."""
    part = text.split(f"## {title}\n")[1].split("\n## ")[0]
    rows = [re.split(r" *\| *", line.strip("| ")) for line in part.splitlines() if "|" in line]
    return {row[0]: row[1:] for row in rows}


SCORES = {
    "one": {"small": score(80, 82), "large": score(90, 90), "moa:A": score(85.5)},
    "two": {"small": score(70, 70), "large": score(69, 69.5), "moa:A": score(60)},
}


def test_accuracies_are_means_over_the_seeds() -> None:
    rows = table(markdown(SCORES, ["small", "large"], "command", 2), "Accuracy")
    assert rows["one"] == ["81.00", "**90.00**", "85.50"]
    assert rows["mean"] == ["75.50", "79.62", "72.75"]


def test_doubling_shows_the_greatest_loss_and_its_stream() -> None:
    rows = table(markdown(SCORES, ["small", "large"], "c", 2), "What twice the bytes are worth")
    assert rows["small to large"] == ["+4.12", "-0.75", "two"]


def test_the_lead_counts_streams() -> None:
    rows = table(markdown(SCORES, ["small", "large"], "c", 2), "Ahead of the best of the others")
    assert rows["one"] == ["moa:A", "85.50", "-4.50", "+4.50"]
    assert rows["streams ahead"][-2:] == ["1 of 2", "2 of 2"]


def test_a_failed_run_has_no_mean_and_is_reported() -> None:
    scores = {"one": {"small": score(80, None), "moa:A": score(None)}}
    text = markdown(scores, ["small"], "c", 2)
    assert table(text, "Accuracy")["one"] == ["-", "-"]
    assert "On one, moa:A: crashed after 100 samples." in text


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    page, picture = tmp_path / "field.md", tmp_path / "ranks.svg"
    words = ["--streams", "sea_a,unseen_sine", "--limit", "600", "--bytes", "4096,8192"]
    peers = ["--peers", "nochange,river:NaiveBayes"]
    files = ["--output", str(page), "--plot", str(picture)]
    assert main(["benchmark", "field", *words, *peers, "--seeds", "2", *files]) == 0
    assert "river:NaiveBayes" in picture.read_text(encoding="utf-8")
    assert "](ranks.svg)" in page.read_text(encoding="utf-8")
    rows = table(page.read_text(encoding="utf-8"), "Accuracy")
    assert rows["stream"] == [thicket(4096).name, thicket(8192).name, *peers[1].split(",")]
    assert all(50 < float(word.strip("*")) <= 100 for word in rows["sea_a"])


def test_a_size_that_is_not_a_number_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["benchmark", "field", "--bytes", "4k"]) == 2
    assert "--bytes has to be" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["agrawal", "sea", "sine"])
def test_unseen_streams_change_half_way(name: str) -> None:
    """The first sample after the change is the first of the second concept, with the same seed."""
    stream = open_stream(f"synth:unseen_{name}", limit=25_001)
    assert stream.values[25_000].tolist() == stream.values[0].tolist()
    assert (stream.values[24_999] != stream.values[0]).any()


def test_stored_cells_are_not_measured_again(tmp_path: Path) -> None:
    """With another model and another seed, only the cells of these are added."""
    words = ["benchmark", "field", "--streams", "sea_a", "--limit", "400", "--bytes", "4096"]
    words += ["--peers", "nochange", "--keep", str(tmp_path), "--output", str(tmp_path / "a.md")]
    assert main(words) == 0
    kept = tmp_path / "results.jsonl"
    before = kept.read_bytes()
    assert main([*words, "--models", "softmax", "--seeds", "2", "--force"]) == 0
    added = kept.read_bytes().removeprefix(before).splitlines()
    assert [(r["cell"]["name"], r["seed"]) for r in map(json.loads, added)] == [
        (thicket(4096).name, 1),
        ("softmax", 0),
    ]
    page = (tmp_path / "a.md").read_text(encoding="utf-8")
    assert table(page, "Accuracy")["stream"] == [thicket(4096).name, "softmax", "nochange"]


def test_stored_measurements_of_other_samples_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["benchmark", "field", "--streams", "sea_a", "--bytes", "4096", "--keep"]
    assert main([*words, str(tmp_path), "--limit", "300"]) == 0
    assert main([*words, str(tmp_path), "--limit", "301"]) == 2
    assert "another --keep" in capsys.readouterr().err

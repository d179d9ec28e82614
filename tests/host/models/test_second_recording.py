"""A saved model on another recording: frozen, and learning further."""

from __future__ import annotations

import csv
import json
import random
from array import array
from pathlib import Path
from typing import Any

import pytest

from microshrub_host.models import model_files
from microshrub_tools.cli.main import main

MODEL = ("--model", "nearest", "--window", "128")
CENTRES = {"walk": (10, 40), "rest": (20, 20), "run": (40, 10)}


def recording(path: Path, seed: int, shift: int = 0, **changes: Any) -> Path:
    """Write three classes in blocks; `columns` sets the order, `names` renames classes."""
    rng, names = random.Random(seed), changes.get("names", {})
    columns = changes.get("columns", ("x", "y", "label"))
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, columns, extrasaction="ignore")
        writer.writeheader()
        for block in range(changes.get("blocks", 12)):
            label = list(CENTRES)[block % changes.get("classes", 3)]
            x, y = CENTRES[label]
            for _ in range(25):
                row = {"x": x + shift + rng.randint(-6, 6), "y": y + rng.randint(-6, 6)}
                writer.writerow(row | {"label": names.get(label, label), "noise": rng.random()})
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    saved = tmp_path / "monday.mshrub"
    data = recording(tmp_path / "monday.csv", 1)
    assert main(["simulate", str(data), *MODEL, "--save", str(saved)]) == 0
    return saved


def met(data: Path, model: Path, *more: object) -> dict[str, Any]:
    out = data.with_suffix(".json")
    words = ["simulate", data, "--model", model, "--json", out, *more]
    assert main([*map(str, words)]) == 0
    result: dict[str, Any] = json.loads(out.read_text())
    return result


def test_a_frozen_model_predicts_like_the_saved_one(tmp_path: Path, model: Path) -> None:
    data = recording(tmp_path / "tuesday.csv", 2, shift=4)
    result = met(data, model)
    opened = model_files.open_model(model)
    counts = [[0] * 3 for _ in range(3)]
    names, codes = opened.file.class_names, array("H", [0, 0])
    for row in csv.DictReader(data.open()):
        opened.quantizer.code(array("i", [int(row["x"]), int(row["y"])]), codes)
        counts[names.index(row["label"])][opened.learner.predict(codes)] += 1
    assert result["as_it_is"]["confusion"] == counts
    assert result["samples"] == 300
    assert result["guessing"] == pytest.approx(100 / 3)


def test_a_model_that_learns_the_change_is_saved_with_it(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, after = recording(tmp_path / "tuesday.csv", 2, shift=18), tmp_path / "after.mshrub"
    before = model.read_bytes()
    result = met(data, model, "--save", after)
    unseen = result["on_unseen_data"]
    assert unseen["as_it_is"] < 75
    assert unseen["learned_on"] > unseen["as_it_is"] + 15
    assert model.read_bytes() == before
    output = " ".join(capsys.readouterr().out.split())
    assert f"As it is: right in {result['as_it_is']['accuracy']:.0f} % of tuesday.csv" in output
    assert f"Learning on: right in {unseen['learned_on']:.0f} % of what it never saw" in output
    assert model_files.read(after).samples == 600
    assert met(data, after)["as_it_is"]["accuracy"] > result["as_it_is"]["accuracy"] + 15


def test_columns_and_classes_are_matched_by_name(tmp_path: Path, model: Path) -> None:
    result = met(recording(tmp_path / "plain.csv", 3), model)
    columns = ("noise", "label", "y", "x")
    other = recording(tmp_path / "other.csv", 3, columns=columns)
    assert met(other, model, "--label", "label") | {"stream": ""} == result | {"stream": ""}
    one = recording(tmp_path / "one.csv", 3, classes=1)
    assert met(one, model)["samples"] == 300


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"columns": ("x", "noise", "label")}, ("column y", "column noise")),
        ({"names": {"run": "Run"}}, ("class Run", "classes rest, run, walk")),
    ],
)
def test_columns_and_classes_without_a_match_are_named(
    tmp_path: Path,
    model: Path,
    changes: dict[str, Any],
    words: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = recording(tmp_path / "tuesday.csv", 2, **changes)
    assert main(["simulate", str(data), "--model", str(model)]) == 2
    err = capsys.readouterr().err
    assert all(word in err for word in words)


@pytest.mark.parametrize("option", ["--window 8", "--board rpi_pico", "--features", "--target x"])
def test_options_that_the_model_fixes_are_refused(
    option: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = recording(tmp_path / "tuesday.csv", 2)
    assert main(["simulate", str(data), "--model", str(model), *option.split()]) == 2
    err = capsys.readouterr().err
    assert option.split()[0] in err
    assert str(model) in err


def test_a_model_of_windows_extracts_the_features(tmp_path: Path) -> None:
    data, saved = recording(tmp_path / "monday.csv", 1, blocks=24), tmp_path / "m.mshrub"
    windows = ("--features", "window=16", "hop=8", "rate=20")
    assert main(["simulate", str(data), *windows, *MODEL, "--save", str(saved)]) == 0
    tuesday = recording(tmp_path / "tuesday.csv", 2, columns=("y", "x", "label"))
    assert met(tuesday, saved)["samples"] == (300 - 16) // 8 + 1


def test_a_regression_model_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, saved = recording(tmp_path / "monday.csv", 1), tmp_path / "m.mshrub"
    words = ["simulate", data, "--target", "x", "--drop", "label", "--model", "linear"]
    assert main([*map(str, words), "--save", str(saved)]) == 0
    assert main(["simulate", str(data), "--model", str(saved)]) == 2
    assert "predicts numbers" in capsys.readouterr().err

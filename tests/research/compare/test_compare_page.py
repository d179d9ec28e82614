"""`compare --html` and `simulate --html`: the content of the pages."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import numpy as np
import pytest
from compare_support import make_stream, start_odd
from matplotlib.text import Text
from page_support import Parsed

from microshrub_host.evaluation import prequential
from microshrub_host.evaluation.classes import running_accuracy
from microshrub_host.reports.page import shown
from microshrub_research.compare import comparison_page as compare_page
from microshrub_research.compare import our_learners, pictures
from microshrub_research.compare.catalogue import PEERS
from microshrub_research.compare.comparison_report import StreamResults
from microshrub_research.compare.comparison_runner import Cell, compare
from microshrub_research.compare.contender import Contender
from microshrub_tools.cli.main import main

_OPTIONS = dict.fromkeys(compare_page.OPTIONS)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file with 600 samples of three features and three classes, whose name contains HTML."""
    made = make_stream(600)
    rows = [",".join(map(repr, row)) for row in made.values.tolist()]
    lines = [f"{row},{made.class_names[y]}" for row, y in zip(rows, made.labels, strict=True)]
    path = tmp_path / "<b>made.csv"
    path.write_text("\n".join(["x,y,z,class", *lines]))
    return path


def run(*words: str | Path) -> int:
    """Return the exit code of `microshrub WORDS`."""
    try:
        return main([*map(str, words)])
    except SystemExit as stop:
        return int(stop.code or 0)


@pytest.mark.long
def test_the_page_has_the_figures_of_the_json(data: Path, tmp_path: Path) -> None:
    page, record = tmp_path / "report.html", tmp_path / "found.json"
    words = [
        "--limit",
        "500",
        "--ours",
        "shrub window=16 trees=4",
        "--peers",
        "river:HAT,majority",
    ]
    outputs = ["--html", page, "--json", record, "--jobs", "2"]
    assert run("compare", data, "synth:sea_a", *words, *outputs) == 0
    result = json.loads(record.read_text())
    parsed = Parsed(page.read_text(encoding="utf-8"))
    for cell in result["cells"]:
        (row,) = [
            row
            for row in parsed.rows
            if row[:2] == [cell["name"], f"{cell['accuracy']:.2f}"] and len(row) == 8
        ]
        if cell["model_bytes"]:
            assert row[4] == f"{cell['model_bytes']:,}"
            assert row[7] == cell["model_bytes_by"]
        last = cell["curve"][-1]
        assert last == [500, pytest.approx(cell["accuracy"])]
    command = ["microshrub", "compare", data, "synth:sea_a", *words, *outputs]
    assert parsed.command == shlex.join(map(str, command))
    assert "html" not in result["options"]
    facts = dict(row for row in parsed.rows if len(row) == 2)
    assert facts["river"] == result["versions"]["river"]
    assert facts["--limit"] == "500"
    assert [name for name in ("b", "script") if name in parsed.tags] == ["script"]
    assert parsed.tags.count("svg") == 4, "two pictures a stream"
    assert ["learner", data.name, "synth:sea_a"] in parsed.rows


def test_a_wrong_path_of_the_page_is_refused_before_the_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run("compare", tmp_path / "none.csv", "--html", tmp_path / "no" / "r.html") == 2
    assert "--html" in capsys.readouterr().err
    assert run("simulate", tmp_path / "none.csv", "--html", tmp_path) == 2
    assert "--html" in capsys.readouterr().err


def test_the_curve_is_the_running_accuracy() -> None:
    stream = make_stream(1999)
    contender = our_learners.ours("shrub window=16 trees=4")
    cell = next(compare([contender], stream))
    parameters = our_learners.all_parameters(contender, stream, 256)
    right = prequential.evaluate(stream, "shrub", parameters).right
    expected = running_accuracy(right)
    assert 150 < len(cell.curve) <= 201
    assert cell.curve[-1][0] == 1999
    for samples, accuracy in cell.curve:
        assert accuracy == pytest.approx(expected[samples - 1], abs=1e-4)


def test_failures_are_in_the_page() -> None:
    stream = make_stream(1000)
    odd = [Contender(f"odd:{name}", "odd", name) for name in ("raises", "is killed")]
    cells = list(compare([*odd, PEERS["nochange"]], stream, start=start_odd))
    page = compare_page.make_page([StreamResults(stream, cells, None)], "a command", _OPTIONS)
    parsed = Parsed(page.html())
    for cell in cells[:2]:
        assert cell.failure
        assert [cell.name, shown(cell.failure), "15 samples"] in parsed.rows
        assert [cell.name, "crashed", *["-"] * 6] in parsed.rows
    assert parsed.tags.count("svg") == 1, "no accuracy by bytes"


def test_the_best_figures_are_bold() -> None:
    stream = make_stream(100)
    cells = [
        Cell(
            "made",
            name,
            "ours",
            "shrub",
            {},
            "",
            100,
            size,
            "nbytes",
            1.0,
            9.0,
            accuracy=accuracy,
            kappa=1.0,
            kappa_temporal=1.0,
        )
        for name, accuracy, size in (("a", 90.0, 100), ("b", 95.0, 300), ("c", 80.0, 200))
    ]
    text = compare_page.make_page(
        [StreamResults(stream, cells, None)], "a command", _OPTIONS
    ).html()
    assert "<strong>95.00</strong>" in text
    assert "<strong>100</strong>" in text
    assert "<strong>90.00</strong>" not in text
    assert text.count("<strong>1.00</strong>") == 6, "equal ones are all the best"


def test_names_in_the_picture_do_not_overlap() -> None:
    rng = np.random.default_rng(0)
    cells = [
        Cell(
            "made",
            f"moa:SomeLearner{i}",
            "moa",
            "x",
            {},
            "",
            9,
            int(size),
            accuracy=60 + 40 * rng.random(),
        )
        for i, size in enumerate(10 ** rng.uniform(3, 7, size=18))
    ]
    figure = pictures.draw_sizes(cells)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    boxes = [Text.get_window_extent(text) for text in axes.texts]  # without their lines
    assert len(boxes) == 18
    for at, box in enumerate(boxes):
        assert axes.bbox.containsx(box.x0)
        assert axes.bbox.containsx(box.x1)
        assert not any(box.overlaps(other) for other in boxes[:at])


def test_simulate_writes_a_page(data: Path, tmp_path: Path) -> None:
    path, record = tmp_path / "run.html", tmp_path / "run.json"
    words = [
        data,
        "--model",
        "shrub",
        "--window",
        "16",
        "--trees",
        "4",
        "--html",
        path,
        "--json",
        record,
    ]
    assert run("simulate", *words) == 0
    result = json.loads(record.read_text())
    parsed = Parsed(path.read_text(encoding="utf-8"))
    rows = dict(row for row in parsed.rows if len(row) == 2)
    assert rows["accuracy"] == f"{result['accuracy']:.2f} %"
    assert rows["window"] == "16"
    assert rows["llvmlite"] == result["versions"]["llvmlite"]
    assert parsed.tags.count("svg") == 1
    assert os.fspath(data) in shlex.split(parsed.command or "")
